import { expect, test } from 'bun:test'
import type { Socket } from 'bun'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import {
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
} from '../../../src/cards/index.ts'
import { payment, quietLogger, until } from '../../support/card-network.ts'

/** Takes all bytes and answers none. */
const listen = () => {
  const seen: Buffer[] = []
  const sockets: Socket[] = []
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => void sockets.push(socket),
      data: (_, chunk) => void seen.push(Buffer.from(chunk)),
    },
  })
  return { port: listener.port, bytes: () => Buffer.concat(seen), stop: () => listener.stop(true) }
}

const networksOf = (env: Readonly<Record<string, string>>) => {
  const { values, problems } = loadSettings(
    { settings: cardSettings, networkA: networkASettings, networkB: networkBSettings },
    { CARDGW_NETA_HOST: '127.0.0.1', CARDGW_NETA_POOL_SIZE: '1', ...env },
  )
  const metrics = createMetrics({ version: '1', withProcess: false })
  return { problems, networks: createCardNetworks({ ...values, logger: quietLogger, metrics }) }
}

test('the TPDU of the settings, with its NII, goes before each message, in any frame', async () => {
  for (const frame of ['binary-2-tpdu', 'ascii-4']) {
    const peer = listen()
    const { networks } = networksOf({
      CARDGW_NETA_PORT: String(peer.port),
      CARDGW_NETA_FRAME: frame,
      CARDGW_NETA_TPDU: '6001230000',
      CARDGW_NETA_CONNECT_WAIT_MS: '9000',
    })
    await networks.feature.start?.()
    const [network] = networks.all
    // None is up yet: the request waits as long as the setting says.
    await network?.whenUp()
    void network?.exchange(payment(1), 20)
    await until(() => peer.bytes().includes('0100'), 'the message')
    const header = frame === 'ascii-4' ? 4 : 2
    const bytes = peer.bytes()
    expect(bytes.subarray(header, header + 9).toString('hex')).toBe('600123000030313030')
    const length = header === 4 ? Number(bytes.toString('latin1', 0, 4)) : bytes.readUInt16BE(0)
    expect(length).toBe(bytes.length - header)
    await networks.feature.stop?.()
    peer.stop()
  }
})

test('a TPDU that is not ten hexadecimal digits is refused', () => {
  for (const tpdu of ['60012300', '600123000000', '60012300zz']) {
    expect(networksOf({ CARDGW_NETA_TPDU: tpdu }).problems.map(({ name }) => name)).toEqual([
      'CARDGW_NETA_TPDU',
    ])
  }
})
