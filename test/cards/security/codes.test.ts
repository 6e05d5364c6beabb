import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CardMessage, dialects, parseDialect } from '#codecs/iso8583'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { macOf, wrapDesKey } from '#src/platform/security/index.ts'
import {
  cardProblems,
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
  vaultSettings,
} from '../../../src/cards/index.ts'
import { createNetwork, type NetworkOptions } from '../../../src/cards/networks/index.ts'
import { createNetworkMetrics } from '../../../src/cards/networks/metrics.ts'
import { createSealer } from '../../../src/cards/networks/sealing.ts'
import {
  createSoftwareModule,
  LinkKeys,
  ModuleKey,
  type SecurityModule,
  SecurityModuleError,
} from '../../../src/cards/security/index.ts'
import {
  createNetworkRig,
  networkOptions,
  payment,
  quietLogger,
  stanOf,
  until,
} from '../../support/card-network.ts'
import { createRawPeer } from '../../support/raw-peer.ts'
import { createScriptedNetwork } from '../../support/scripted-network.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

/* Messages with codes (DE 64 and 128), and keys that change under load, against the simulated network. */

const macKey = '0123456789ABCDEFFEDCBA9876543210'
const zoneKey = '5D6B2A0E4C8F91A237C4D0E09B5826FE'

const exchange = {
  networkCode: '101',
  asks: false,
  keys: [{ use: 'mac', field: 48, at: 0, digits: 32, checkValueAt: 32, checkValueDigits: 6 }],
} as const

const secured = (change: Partial<NetworkOptions> = {}): Partial<NetworkOptions> => ({
  module: createSoftwareModule(),
  security: {
    zone: new ModuleKey(zoneKey),
    mac: { algorithm: 'x9.19', bytes: 8, key: new ModuleKey(macKey) },
    exchange,
  },
  ...change,
})
const simulated = { security: { algorithm: 'x9.19', macKey, zoneKey } } as const

const codeOf = (outcome: { readonly kind: string }): string =>
  outcome.kind === 'answered'
    ? ((outcome as { readonly response?: CardMessage }).response?.responseCode ?? '')
    : outcome.kind

describe('codes', () => {
  test('are on each message and its answer, in every dialect', async () => {
    for (const dialect of Object.values(dialects).filter(({ version }) => version === '1987')) {
      await using rig = await createNetworkRig(secured({ dialect }), simulated)
      // With DE 90 the code is DE 128.
      const original = { originalData: '0'.repeat(42) }
      const outcomes = [
        await rig.network.exchange(payment(1), 20_000),
        await rig.network.exchange(payment(2, original, '0400'), 20_000),
      ]
      expect([dialect.name, ...outcomes.map(codeOf)]).toEqual([dialect.name, '00', '25'])
      expect(rig.simulator.statistics()).toMatchObject({ wrongCodes: 0 })
    }
  })

  test('that are wrong leave only their exchange unknown', async () => {
    const module = createSoftwareModule()
    let calls = 0
    const other: SecurityModule = {
      ...module,
      // It finds another code for each third answer.
      mac: async (key, algorithm, data) => {
        const isAnswer = data[1] === 0x31 && data[2] === 0x31
        const code = await module.mac(key, algorithm, data)
        if (isAnswer && calls++ % 3 === 0) code[0]! ^= 1
        return code
      },
    }
    await using rig = await createNetworkRig(secured({ module: other }), simulated)
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, at) => rig.network.exchange(payment(at + 1), 20_000)),
    )
    const counts = outcomes.map(codeOf).toSorted()
    expect(counts.filter((one) => one === '00')).toHaveLength(20)
    expect(counts.filter((one) => one === 'unreadable')).toHaveLength(10)
    expect(rig.network.health()).toMatchObject({ connectionsUp: 1, inFlight: 0 })
  })

  test('that the module does not verify are not called wrong; their exchange is unknown', async () => {
    const module = createSoftwareModule()
    const busy: SecurityModule = {
      ...module,
      mac: (key, algorithm, data) =>
        data[1] === 0x31 && data[2] === 0x31
          ? Promise.reject(new SecurityModuleError('busy'))
          : module.mac(key, algorithm, data),
    }
    const all = createMetrics({ version: '1', withProcess: false })
    const metrics = createNetworkMetrics(all)
    await using rig = await createNetworkRig(secured({ module: busy, metrics }), simulated)
    expect(codeOf(await rig.network.exchange(payment(1), 20_000))).toBe('unreadable')
    const { text } = await all.render()
    expect(text).toContain('cardgw_network_unverified_macs_total{network="neta"} 1')
    expect(text).toContain('cardgw_network_wrong_macs_total{network="neta"} 0')
  })

  test('that are missing are wrong', async () => {
    await using rig = await createNetworkRig(secured())
    expect(codeOf(await rig.network.exchange(payment(1), 20_000))).toBe('unreadable')
  })

  test('that are wrong in what the network tells of its own accord end no exchange of that STAN', async () => {
    const scripted = createScriptedNetwork()
    const network = createNetwork(networkOptions(scripted.port(), secured()))
    network.start()
    try {
      await until(() => network.health().connectionsUp === 1)
      scripted.on(({ stan }) => scripted.tell({ mti: '0420', stan: stan ?? '' }))
      const original = { originalData: '0'.repeat(42) }
      const outcome = await network.exchange(payment(1, original, '0420'), 300)
      expect(outcome.kind).toBe('timed_out')
    } finally {
      await network.stop()
      scripted.stop()
    }
  })

  test('are on the answer to an advice that is sound where it counts, and no copy of its card stays', async () => {
    const module = createSoftwareModule()
    const given: Uint8Array[] = []
    const noting: SecurityModule = {
      ...module,
      mac: (key, algorithm, data) => {
        given.push(data)
        return module.mac(key, algorithm, data)
      },
    }
    const answers: CardMessage[] = []
    using peer = createRawPeer((_, message) => void answers.push(message), { checked: new Set() })
    const advised = { onAdvice: async () => '00' }
    const network = createNetwork(
      networkOptions(peer.port, secured({ module: noting, ...advised })),
    )
    network.start()
    await until(() => network.health().connectionsUp === 1)
    const originalData = `01000000051120120000${' '.repeat(22)}`
    const sealer = createSealer(dialects['ascii']!, 1_024, new Set())
    const advice = sealer.packed(payment(5, { originalData }, '0420'))
    const { mac } = secured().security ?? {}
    const security = { zone: undefined, mac, exchange: undefined }
    const options = {
      network: 'neta',
      module,
      honourMs: 0,
      waitMs: 0,
      logger: quietLogger,
      security,
    }
    await sealer.seal(advice, new LinkKeys(options))
    peer.connections[0]?.send(Uint8Array.of(0, advice.bytes.length, ...advice.bytes))
    await until(() => answers.length === 1)
    expect(answers).toMatchObject([{ mti: '0430', responseCode: '00', originalData }])
    expect(given).toHaveLength(2)
    await Bun.sleep(0)
    for (const data of given) expect(data.every((byte) => byte === 0)).toBe(true)
    await network.stop()
  })

  test('that come when the time of their message is over send nothing', async () => {
    const module = createSoftwareModule()
    const slow: SecurityModule = {
      ...module,
      mac: async (...given) => {
        if (given[2][1] === 0x31) await Bun.sleep(60)
        return module.mac(...given)
      },
    }
    await using rig = await createNetworkRig(secured({ module: slow }), simulated)
    const late = await rig.network.exchange(payment(1), 50)
    expect(late).toEqual({ kind: 'not_sent', reason: 'security_module' })
    expect(codeOf(await rig.network.exchange(payment(2), 20_000))).toBe('00')
    expect(rig.simulator.statistics().received).toEqual({ '0100': 1 })
    expect(rig.network.health()).toMatchObject({ inFlight: 0 })
  })

  test('whose connection goes meanwhile send nothing, which does not say that the network is away', async () => {
    const software = createSoftwareModule()
    const slow: SecurityModule = {
      ...software,
      mac: async (...given) => {
        await until(() => rig.network.health().connectionsUp === 0)
        return software.mac(...given)
      },
    }
    await using rig = await createNetworkRig(secured({ module: slow }), simulated)
    const late = rig.network.exchange(payment(1), 20_000)
    rig.simulator.stop()
    expect(await late).toEqual({ kind: 'not_sent', reason: 'connection_lost_unsent' })
    expect(await rig.network.exchange(payment(2), 20_000)).toEqual({
      kind: 'not_sent',
      reason: 'no_connection',
    })
  })

  test('of a module that is away or hangs stop what needs them, and nothing is sent', async () => {
    const hung: SecurityModule = {
      ...createSoftwareModule(),
      mac: () => Promise.reject(new SecurityModuleError('timed_out')),
    }
    await using rig = await createNetworkRig(secured({ module: hung }), simulated)
    const waiting = rig.network.exchange(payment(1), 20_000)
    expect(rig.network.isPending(stanOf(1))).toBe(true)
    expect(await rig.network.exchange(payment(1), 20_000)).toMatchObject({
      reason: 'duplicate_key',
    })
    expect(await waiting).toEqual({ kind: 'not_sent', reason: 'security_module' })
    expect(rig.network.isPending(stanOf(1))).toBe(false)
    expect(rig.simulator.statistics().received).toEqual({})
    expect(rig.network.health()).toMatchObject({ connectionsUp: 1, inFlight: 0 })
  })

  test('that came when the time of the request was over send nothing', async () => {
    const software = createSoftwareModule()
    const slow: SecurityModule = {
      ...software,
      mac: async (...given) => {
        await Bun.sleep(20)
        return software.mac(...given)
      },
    }
    await using rig = await createNetworkRig(secured({ module: slow }), simulated)
    const late = await rig.network.exchange(payment(1), 10)
    expect(late).toEqual({ kind: 'not_sent', reason: 'security_module' })
    expect(codeOf(await rig.network.exchange(payment(2), 20_000))).toBe('00')
    expect(rig.simulator.statistics().received).toEqual({ '0100': 1 })
  })

  test('are over the bytes as they are sent, as others compute them', async () => {
    const message = Object.assign(new CardMessage(), {
      mti: '0200',
      processingCode: '000000',
      amount: '000000012345',
      transmissionDateTime: '1122063015',
      stan: '000123',
      rrn: '632606000123',
      terminalId: 'TERM0001',
      merchantId: 'MERCHANT0000001',
      currency: '986',
    })
    const { mac } = secured().security ?? {}
    const keys = new LinkKeys({
      network: 'neta',
      module: createSoftwareModule(),
      honourMs: 0,
      waitMs: 0,
      logger: quietLogger,
      security: { zone: undefined, mac, exchange: undefined },
    })
    const currency = { type: 'n', encoding: 'bcd' }
    const fields = { 49: currency }
    const dialect = parseDialect({ name: 'numbers', extends: 'bcd', fields }, dialects)
    const sealer = createSealer(dialect, 512)
    const unsealed = sealer.packed(message)
    await sealer.seal(unsealed, keys)
    // Its own bit is in the bitmap that the code is over.
    expect(Buffer.from(unsealed.bytes).toString('hex').toUpperCase()).toBe(
      '02003220000008C0800100000000000001234511220630150001233633323630363030303132335445524D30303031' +
        '4D45524348414E54303030303030310986' +
        'DC127A71F5882F05',
    )
  })
})

describe('keys', () => {
  test('that the network sends are used from then on, under load, and no payment suffers', async () => {
    await using rig = await createNetworkRig(secured({ poolSize: 3 }), {
      ...simulated,
      latencyMs: { min: 0, max: 6 },
    })
    const outcomes: string[] = []
    let number = 0
    const pay = async (): Promise<void> => {
      while (rig.simulator.statistics().keysExchanged < 4) {
        outcomes.push(codeOf(await rig.network.exchange(payment(++number), 20_000)))
      }
    }
    const load = Promise.all(Array.from({ length: 20 }, pay))
    for (let keys = 1; keys <= 4; keys++) {
      rig.simulator.changeKey()
      await until(() => rig.simulator.statistics().keysExchanged === keys, 'the new key')
      const seen = outcomes.length
      await until(() => keys === 4 || outcomes.length > seen + 20, 'payments under it')
    }
    await load
    expect(new Set(outcomes)).toEqual(new Set(['00']))
    expect(rig.simulator.statistics()).toMatchObject({ wrongCodes: 0, keysExchanged: 4 })
  })

  test('that the network wants confirmed are used once it has answered that', async () => {
    const { zone, mac } = secured().security ?? {}
    const confirmed = { ...exchange, networkCode: '161', confirmationCode: '162' }
    await using rig = await createNetworkRig(
      secured({ poolSize: 2, security: { zone, mac, exchange: confirmed } }),
      { security: { ...simulated.security, confirms: true }, latencyMs: { min: 0, max: 6 } },
    )
    const outcomes: string[] = []
    let number = 0
    const pay = async (): Promise<void> => {
      while (rig.simulator.statistics().keysExchanged < 3) {
        outcomes.push(codeOf(await rig.network.exchange(payment(++number), 20_000)))
      }
    }
    const load = Promise.all(Array.from({ length: 10 }, pay))
    for (let keys = 1; keys <= 3; keys++) {
      rig.simulator.changeKey()
      await until(() => rig.simulator.statistics().keysExchanged === keys, 'the new key')
      // Both sides know the key and the one before it: what is on its way under an older one has to arrive first.
      const seen = outcomes.length
      await until(() => keys === 3 || outcomes.length > seen + 20, 'payments under it')
    }
    await load
    outcomes.push(codeOf(await rig.network.exchange(payment(++number), 20_000)))
    expect(new Set(outcomes)).toEqual(new Set(['00']))
    expect(rig.simulator.statistics()).toMatchObject({ wrongCodes: 0, keysExchanged: 3 })
  })

  test('whose confirmation was never answered are used from the first code under them', async () => {
    const { zone, mac } = secured().security ?? {}
    const module = createSoftwareModule()
    const options = { network: 'neta', module, honourMs: 0, waitMs: 0, logger: quietLogger }
    const keys = new LinkKeys({ ...options, security: { zone, mac, exchange } })
    const bytes = Uint8Array.fromHex('89B07A34A1B3F47F89B07A34A1B3F489')
    const parcel = `${wrapDesKey(Uint8Array.fromHex(zoneKey), bytes).toHex()}C3F11D`
    const data = new TextEncoder().encode('02003220')
    const [old, fresh] = [macKey, bytes.toHex()].map((key) =>
      macOf('x9.19', Uint8Array.fromHex(key), data),
    ) as [Uint8Array, Uint8Array]
    expect(await keys.verify(data, fresh)).toBe(false)
    expect(await keys.take(() => parcel)).toMatchObject({ code: '00' })
    expect(await keys.seal(data)).toEqual(old)
    expect(await keys.verify(data, old)).toBe(true)
    expect(await keys.seal(data)).toEqual(old)
    expect(await keys.verify(data, fresh)).toBe(true)
    expect(await keys.seal(data)).toEqual(fresh)
    expect(await keys.verify(data, old)).toBe(false)
  })

  test('are asked for before any traffic, where the network gives them', async () => {
    const module = createSoftwareModule()
    const security = {
      zone: new ModuleKey(zoneKey),
      mac: { algorithm: 'x9.19', bytes: 8, key: undefined },
      exchange: { ...exchange, asks: true },
    } as const
    await using rig = await createNetworkRig(
      { module, security, poolSize: 3, signOn: true },
      { security: { algorithm: 'x9.19', zoneKey }, needsSignOn: true },
    )
    expect(codeOf(await rig.network.exchange(payment(1), 20_000))).toBe('00')
    // Three connections, one question.
    const asked = () => rig.simulator.statistics().keysExchanged
    expect(asked()).toBe(1)
    // Once all are gone the network may have begun anew, and has forgotten its keys.
    rig.simulator.dropConnections()
    await until(() => rig.network.health().connectionsUp === 0, 'the loss of all')
    await until(() => rig.network.health().connectionsUp === 3, 'the pool being up again')
    expect(asked()).toBe(2)
    expect(codeOf(await rig.network.exchange(payment(2), 20_000))).toBe('00')
    const lost = rig.network.exchange(payment(3, { token: 'tok_visa_drop' }), 20_000)
    expect(codeOf(await lost)).toBe('connection_lost')
    await until(() => rig.network.health().connectionsUp === 3, 'the one being up again')
    expect(asked()).toBe(2)
  })

  test('that are wrong one after the other have a network that gives keys asked for them', async () => {
    const module = createSoftwareModule()
    const security = {
      zone: new ModuleKey(zoneKey),
      mac: { algorithm: 'x9.19', bytes: 8, key: undefined },
      exchange: { ...exchange, asks: true },
    } as const
    await using rig = await createNetworkRig(
      { module, security, poolSize: 2 },
      { security: { algorithm: 'x9.19', zoneKey } },
    )
    rig.simulator.forgetKeys()
    for (let number = 1; number <= 5; number++) {
      expect(codeOf(await rig.network.exchange(payment(number), 20_000))).toBe('unreadable')
    }
    await until(() => rig.simulator.statistics().keysExchanged === 2, 'the keys being asked for')
    expect(codeOf(await rig.network.exchange(payment(6), 20_000))).toBe('00')
    expect(rig.network.health().connectionsUp).toBe(2)
    // No more often, whoever makes them wrong.
    rig.simulator.forgetKeys()
    for (let number = 10; number < 20; number++) await rig.network.exchange(payment(number), 20_000)
    expect(rig.simulator.statistics().keysExchanged).toBe(2)
  })

  test('that came under another zone key, or with a wrong check value, are refused, and the old one stays', async () => {
    const other = { ...simulated.security, zoneKey: '89B07A34A1B3F47F89B07A34A1B3F489' }
    await using rig = await createNetworkRig(secured(), { security: other })
    rig.simulator.changeKey()
    await until(() => (rig.simulator.statistics().received['0810'] ?? 0) === 1, 'the answer')
    expect(rig.simulator.statistics().keysExchanged).toBe(0)
    expect(codeOf(await rig.network.exchange(payment(1), 20_000))).toBe('00')
  })
})

test('keys show in no log, dump or JSON', () => {
  const key = new ModuleKey(macKey)
  expect(`${Bun.inspect(key)}${JSON.stringify({ key })}${String(key)}`).not.toContain('0123456789')
})

test('what keys need and is not set is in the table of problems', () => {
  const said = (env: Readonly<Record<string, string>>, security: unknown = undefined) => {
    const file = join(temporaryDirectory(), 'messages.json')
    writeFileSync(file, JSON.stringify({ security }))
    const groups = { cards: cardSettings, networkA: networkASettings, networkB: networkBSettings }
    const { values } = loadSettings(
      { ...groups, vault: vaultSettings },
      { CARDGW_NETA_HOST: '127.0.0.1', CARDGW_NETA_MESSAGES_FILE: file, ...env },
    )
    return cardProblems(values).map(({ name, problem }) => `${name} ${problem}`)
  }
  const hardware = { CARDGW_SECURITY_MODULE: 'payshield' }
  expect(said(hardware)).toEqual([
    'CARDGW_SECURITY_MODULE_ADDRESS is not set, and CARDGW_SECURITY_MODULE is payshield',
  ])
  expect(said({ ...hardware, CARDGW_SECURITY_MODULE_ADDRESS: '127.0.0.1:1500' })).toEqual([])
  const path = join(temporaryDirectory(), 'mac.key')
  writeFileSync(path, macKey)
  const [problem] = said({}, { mac: { algorithm: 'x9.19', key_path: path } })
  expect(problem).toContain('its keys need CARDGW_SECURITY_MODULE')
})

const problemOf = (security: unknown, env: Readonly<Record<string, string>> = {}): string => {
  const file = join(temporaryDirectory(), 'messages.json')
  writeFileSync(file, JSON.stringify({ security }))
  const { values } = loadSettings(
    { settings: cardSettings, networkA: networkASettings, networkB: networkBSettings },
    { CARDGW_NETA_HOST: '127.0.0.1', CARDGW_NETA_MESSAGES_FILE: file, ...env },
  )
  const metrics = createMetrics({ version: '1', withProcess: false })
  try {
    createCardNetworks({ ...values, logger: quietLogger, metrics })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('the settings of a network say how its messages are secured, and what is missing is named', () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'mac.key')
  writeFileSync(path, `${macKey}\n`)
  writeFileSync(join(directory, 'empty.key'), '\n')
  const software = { CARDGW_SECURITY_MODULE: 'software' }
  const mac = { algorithm: 'x9.19', key_path: path }
  expect(problemOf({ mac }, software)).toBe('')
  expect(problemOf({ mac })).toContain('CARDGW_SECURITY_MODULE')
  expect(problemOf({ mac: { algorithm: 'x9.19' } }, software)).toContain('mac needs key_path')
  expect(problemOf({ mac: { ...mac, algorithm: 'rot13' } }, software)).toContain('algorithm')
  const empty = { ...mac, key_path: join(directory, 'empty.key') }
  expect(problemOf({ mac: empty }, software)).toContain('holds no key')
  const exchanged = { key_exchange: { keys: [{ key: 'mac', field: 48 }] } }
  expect(problemOf(exchanged, software)).toContain('zone_key_path')
  expect(problemOf({ ...exchanged, zone_key_path: path }, software)).toBe('')
  const checked = (digits: number) => {
    const place = { key: 'mac', field: 48, check_value_digits: digits }
    return problemOf({ key_exchange: { keys: [place] }, zone_key_path: path }, software)
  }
  // A check value that no module computes would refuse each key.
  expect([checked(6), checked(7)]).toEqual(['', expect.stringContaining('check_value_digits')])
  const asked = { ...exchanged.key_exchange, asks: true, confirmation_code: '162' }
  const both = { key_exchange: asked, zone_key_path: path }
  expect(problemOf(both, software)).toContain('without asks')
})
