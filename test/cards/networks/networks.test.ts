import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { dialects, framings } from '#codecs/iso8583'
import { loadSettings } from '#src/platform/config/index.ts'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import {
  type CardNetworks,
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
} from '../../../src/cards/index.ts'
import { createNetwork } from '../../../src/cards/networks/index.ts'
import { createCardNetwork } from '../../../src/simulators/card-network/index.ts'
import { networkOptions, payment, quietLogger, until } from '../../support/card-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const networksOf = (env: Readonly<Record<string, string>>) => {
  const { values, problems } = loadSettings(
    { settings: cardSettings, networkA: networkASettings, networkB: networkBSettings },
    env,
  )
  expect(problems).toEqual([])
  const metrics = createMetrics({ version: '1', withProcess: false })
  return { networks: createCardNetworks({ ...values, logger: quietLogger, metrics }), metrics }
}

const routed = (networks: CardNetworks, pan: string): string | undefined =>
  networks.networkFor(new TextEncoder().encode(pan))?.name

const both = { CARDGW_NETA_HOST: '127.0.0.1', CARDGW_NETB_HOST: '127.0.0.1' }

describe('the networks of the settings', () => {
  test('are none without a host', () => {
    const { networks } = networksOf({})
    expect(networks.all).toEqual([])
    expect(routed(networks, '4000000000000002')).toBeUndefined()
    expect(networks.feature.health?.()).toMatchObject({ status: 'ok', ready: true })
  })

  test('let no request wait until it would be too old to be sent', () => {
    const problemsOf = (waitMs: string) =>
      loadSettings({ networkA: networkASettings }, { CARDGW_NETA_CONNECT_WAIT_MS: waitMs }).problems
    expect(problemsOf('9000')).toEqual([])
    expect(JSON.stringify(problemsOf('9001'))).toContain('CARDGW_NETA_CONNECT_WAIT_MS')
  })

  test('take the cards of document 2', () => {
    const { networks } = networksOf(both)
    expect(networks.all.map(({ name, brand, timeoutMs }) => [name, brand, timeoutMs])).toEqual([
      ['neta', 'visa', 30_000],
      ['netb', 'mastercard', 30_000],
    ])
    expect(routed(networks, '4')).toBe('neta')
    expect(routed(networks, '5100000000000000')).toBe('netb')
    expect(routed(networks, '5599999999999999')).toBe('netb')
    expect(routed(networks, '5000000000000000')).toBeUndefined()
    expect(routed(networks, '5600000000000000')).toBeUndefined()
    expect(routed(networks, '5')).toBeUndefined()
    expect(routed(networks, 'x')).toBeUndefined()
    expect(networks.byName('netb')?.brand).toBe('mastercard')
  })

  test('give a card to the longest prefix, and refuse two that claim the same', () => {
    const { networks } = networksOf({ ...both, CARDGW_NETB_PREFIXES: '51-55,4011-4012' })
    expect(routed(networks, '4011000000000000')).toBe('netb')
    expect(routed(networks, '4013000000000000')).toBe('neta')
    expect(() => networksOf({ ...both, CARDGW_NETB_PREFIXES: '3-4' })).toThrow('claim the same')
    expect(() => networksOf({ ...both, CARDGW_NETB_PREFIXES: '55-51' })).toThrow('no range')
  })

  test('and of the file are opened, measured, watched and stopped', async () => {
    const dialect = dialects['bcd']!
    const framing = framings['ascii-4']
    const simulator = createCardNetwork({ dialect, framing, needsSignOn: true })
    simulator.start()
    const path = join(temporaryDirectory(), 'networks.json')
    await Bun.write(
      path,
      JSON.stringify([
        {
          name: 'elo',
          brand: 'elo',
          host: '127.0.0.1',
          port: simulator.port(),
          prefixes: ['6362'],
          pool_size: 2,
          dialect: 'bcd',
          frame: 'ascii-4',
          sign_on: true,
        },
      ]),
    )
    const { networks, metrics } = networksOf({ CARDGW_NETWORKS_FILE: path })
    const [network] = networks.all
    expect(routed(networks, '6362000000000000')).toBe('elo')
    expect((await networks.feature.checks?.())?.map(({ status }) => status)).toEqual(['ok'])
    expect(networks.feature.health?.()).toMatchObject({ status: 'down', ready: true })
    await networks.feature.start?.()
    await until(() => network?.health().connectionsUp === 2)
    expect(networks.feature.health?.()).toMatchObject({
      status: 'ok',
      detail: { elo: { connections_up: 2, connections_max: 2 } },
    })
    let late = 0
    networks.onLateAnswer(() => late++)
    await network?.exchange(payment(1, { token: 'tok_visa_timeout' }), 20)
    expect(
      (await network?.exchange(payment(2, { token: 'tok_visa_duplicate' }), 20_000))?.kind,
    ).toBe('answered')
    await until(() => late === 1)
    const { text } = await metrics.render()
    expect(text).toContain('cardgw_network_connections_up{network="elo"} 2')
    expect(text).toContain('cardgw_network_timeouts_total{network="elo"} 1')
    expect(text).toContain('cardgw_network_late_answers_total{network="elo"} 1')
    await networks.feature.stop?.()
    await until(() => simulator.statistics().connections === 0)
    simulator.stop()
    expect((await networks.feature.checks?.())?.map(({ status }) => status)).toEqual(['failed'])
  })

  test('on another machine without TLS are warned of', async () => {
    const lines: string[] = []
    const logger = createLogger({ level: 'warn', sink: { write: (line) => lines.push(line) } })
    for (const host of ['127.0.0.1', 'localhost', 'network.invalid']) {
      const network = createNetwork(networkOptions(1, { host, logger }))
      network.start()
      await network.stop()
    }
    expect(lines.filter((line) => line.includes('without TLS'))).toHaveLength(1)
  })

  test('of a file that is wrong are refused with a reason', async () => {
    const path = join(temporaryDirectory(), 'networks.json')
    const refused = async (content: unknown): Promise<string> => {
      await Bun.write(path, JSON.stringify(content))
      try {
        networksOf({ CARDGW_NETWORKS_FILE: path })
      } catch (error) {
        return (error as Error).message
      }
      return 'nothing'
    }
    const good = { name: 'elo', brand: 'elo', host: 'h', prefixes: ['6'] }
    expect(await refused([good])).toBe('nothing')
    expect(await refused([{ ...good, pool: 2 }])).toContain('pool')
    expect(await refused([{ ...good, dialect: 'klingon' }])).toContain('no dialect klingon')
    expect(await refused([good, { ...good, prefixes: ['7'] }])).toContain('same name')
    for (const [answers, text] of [
      [{ approved: ['00', '51'] }, '51 is both approved and declined'],
      [{ approved: ['00-02'] }, '01 is both approved and declined'],
      [{ approved: ['08', '99-9Z'], declined: ['9A-AA'] }, '9A is both approved and declined'],
      [{ declined: ['01-99'] }, '10 is both partial and declined'],
      [{ partial: ['09-11'], declined: ['10'] }, '10 is both partial and declined'],
      [{ declined: ['01-99'], partial: [] }, 'nothing'],
      [{ approved: ['00', '10-11'], declined: ['01-09', '12-99'] }, 'nothing'],
    ] as const) {
      expect(await refused([{ ...good, answers }])).toContain(text)
    }
    const lacking = (fields: unknown) => ({
      ...good,
      dialect: { name: 'x', extends: 'ascii', fields },
    })
    // All that the gateway writes must fit, before the first payment.
    for (const [fields, text] of [
      [{ 39: null }, 'no field 39'],
      [{ 37: null }, 'an authorization: field 37'],
      [{ 42: { max: 8 } }, 'an authorization: field 42'],
      [{ 38: { type: 'n' } }, 'field 38'],
      [{ 67: null }, 'an authorization: field 67'],
      [{ 70: null }, 'a sign-on: field 70'],
      [{ 90: { max: 20 } }, 'a reversal: field 90'],
    ] as const) {
      expect(await refused([lacking(fields)])).toContain(text)
    }
    expect(await refused([lacking({ 90: null })])).toBe('nothing')
    expect(await refused([{ ...lacking({ 67: null }), installments: 'refused' }])).toBe('nothing')
    expect(
      await refused([{ ...good, dialect: { name: 'x', extends: 'ascii', version: '1993' } }]),
    ).toContain('1987')
  })
})
