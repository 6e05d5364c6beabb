import { expect, test } from 'bun:test'
import { dialects, type FramingName, framings } from '#codecs/iso8583'
import { createNetwork } from '../../../src/cards/networks/index.ts'
import { startDevCardNetworks } from '../../../src/cli/dev/card-network.ts'
import { networkOptions, payment, until } from '../../support/card-network.ts'

const answerOf = async (port: string | undefined, dialect: string, framing: FramingName) => {
  const network = createNetwork(
    networkOptions(Number(port), { dialect: dialects[dialect]!, framing: framings[framing] }),
  )
  network.start()
  await until(() => network.health().connectionsUp === 1, 'the connection')
  const outcome = await network.exchange(payment(1), 20_000)
  await network.stop()
  return outcome.kind === 'answered' ? outcome.response.responseCode : outcome.kind
}

test('the simulated networks speak as the gateway is told to, and the usual where that is no dialect', async () => {
  const { env, stop } = startDevCardNetworks({
    CARDGW_NETA_DIALECT: 'bcd',
    CARDGW_NETA_FRAME: 'ascii-4',
    CARDGW_NETB_DIALECT: 'klingon',
  })
  try {
    expect(await answerOf(env['CARDGW_NETA_PORT'], 'bcd', 'ascii-4')).toBe('00')
    expect(await answerOf(env['CARDGW_NETB_PORT'], 'ascii', 'binary-2')).toBe('00')
  } finally {
    await stop()
  }
})
