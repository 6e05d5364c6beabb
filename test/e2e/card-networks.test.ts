import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { dialects, framings } from '#codecs/iso8583'
import { createCardNetwork } from '../../src/simulators/card-network/index.ts'
import { until } from '../support/card-network.ts'
import { anyVariant, runProgram, startProgram } from '../support/program.ts'

setDefaultTimeout(60_000)

const dialect = dialects['ebcdic']!
const framing = framings['binary-2-reserved']

describe(`trilho serve with card networks (${anyVariant.name})`, () => {
  test('signs on, measures, comes back after the network was away, and signs off', async () => {
    const simulator = createCardNetwork({ dialect, framing })
    simulator.start()
    const env = {
      HTTP_ADDR: '127.0.0.1:0',
      CARDGW_PORT: '0',
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(simulator.port()),
      CARDGW_NETA_DIALECT: dialect.name,
      CARDGW_NETA_FRAME: framing.name,
      CARDGW_NETA_SIGN_ON: 'true',
      CARDGW_NETA_POOL_SIZE: '3',
    }
    const program = startProgram(anyVariant, ['serve'], { env })
    const line = await program.line((text) => text.includes('"msg":"listening"'))
    const { http_url: url } = JSON.parse(line) as { http_url: string }
    const signedOn = (times: number) =>
      until(() => simulator.statistics().received['0800'] === times, `${times} messages`)
    await signedOn(3)
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    simulator.stop()
    simulator.start()
    await signedOn(6)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('cardgw_network_connections_up{network="neta"}')
    expect(metrics).toMatch(/cardgw_network_reconnects_total\{network="neta"\} ([3-9]|\d\d+)\n/)
    const doctor = await runProgram(anyVariant, ['doctor', '--json'], { env })
    expect(doctor.out).toContain('card network neta')
    program.signal('SIGTERM')
    expect((await program.end()).code).toBe(0)
    await signedOn(9)
    simulator.stop()
  })
})
