/** Exchanged keys in the database: one set for all processes and for the next start, sealed. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createSealer, macOf, type Sealer, wrapDesKey } from '#src/platform/security/index.ts'
import { createNetwork, type Network } from '../../../src/cards/networks/index.ts'
import {
  createLinkKeyStores,
  createSoftwareModule,
  type LinkKeyStore,
  LinkKeys,
  ModuleKey,
} from '../../../src/cards/security/index.ts'
import { lookEveryMs } from '../../../src/cards/security/link-keys.ts'
import { createCardNetwork } from '../../../src/simulators/card-network/index.ts'
import { networkOptions, payment, quietLogger } from '../../support/card-network.ts'
import { createTestDatabase } from '../../support/database.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'

const macKey = '0123456789ABCDEFFEDCBA9876543210'
const zoneKey = '5D6B2A0E4C8F91A237C4D0E09B5826FE'
const master = randomBytes(32)
const database = await createTestDatabase(8)
const { sql } = database
const running: { readonly stop: () => unknown }[] = []

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop()
  await sql`truncate card_link_keys`
})
afterAll(() => database.close())

const securityOf = (asks = false, key = macKey) => ({
  zone: new ModuleKey(zoneKey),
  mac: { algorithm: 'x9.19', bytes: 8, key: asks ? undefined : new ModuleKey(key) } as const,
  exchange: {
    networkCode: '101',
    asks,
    keys: [
      { use: 'mac', field: 48, at: 0, digits: 32, checkValueAt: 32, checkValueDigits: 6 } as const,
    ],
  },
})

const createBank = (port = freePort(), key = macKey) => {
  const { dialect, framing } = networkOptions(port)
  const simulator = createCardNetwork({
    dialect,
    framing,
    port,
    security: { algorithm: 'x9.19', macKey: key, zoneKey } as const,
    latencyMs: { min: 0, max: 6 },
  })
  simulator.start()
  running.push(simulator)
  return simulator
}

/** A process on the network's links, with the database between it and the others. */
const createProcess = async (
  port: number,
  { isKept = true, asks = false, key = macKey, timeoutMs = 1_000 } = {},
): Promise<Network> => {
  const stores = createLinkKeyStores(sql, createSealer(master), quietLogger)
  const network = createNetwork(
    networkOptions(port, {
      module: createSoftwareModule(),
      security: securityOf(asks, key),
      poolSize: 2,
      timeoutMs,
      ...(isKept ? { keyStore: stores.of('neta') } : {}),
    }),
  )
  await stores.start(async () => network.keys?.look())
  network.start()
  running.push(stores, network)
  await until(() => network.health().connectionsUp === 2)
  return network
}

const paid = async (network: Network, number: number, withinMs = 5_000): Promise<string> => {
  const outcome = await network.exchange(payment(number), withinMs)
  return outcome.kind === 'answered' ? (outcome.response.responseCode ?? '') : outcome.kind
}

test('a key that one process takes is that of all, under load, and no payment suffers', async () => {
  const simulator = createBank()
  const networks = [await createProcess(simulator.port()), await createProcess(simulator.port())]
  const outcomes: string[] = []
  let number = 0
  let isOver = false
  const load = Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      while (!isOver) outcomes.push(await paid(networks[at % 2]!, ++number))
    }),
  )
  for (let keys = 1; keys <= 3; keys++) {
    simulator.changeKey()
    await until(() => simulator.statistics().keysExchanged === keys)
    // No network changes keys faster than a process asks for them.
    await Bun.sleep(lookEveryMs)
    const seen = outcomes.length
    await until(() => outcomes.length > seen + 60)
  }
  isOver = true
  await load
  expect(new Set(outcomes)).toEqual(new Set(['00']))
  expect(simulator.statistics()).toMatchObject({ wrongCodes: 0, keysExchanged: 3 })
  // That in use, and the one before it.
  const kept = await sql`select used_since is null as offered from card_link_keys`
  expect(kept.map(({ offered }) => offered)).toEqual([false, false])
}, 60_000)

test('the next start has it; without the database it has the key of the settings, and no code is right', async () => {
  const simulator = createBank()
  const first = await createProcess(simulator.port())
  simulator.changeKey()
  await until(() => simulator.statistics().keysExchanged === 1)
  expect(await paid(first, 1)).toBe('00')
  await first.stop()
  expect(await paid(await createProcess(simulator.port()), 2)).toBe('00')
  expect(await paid(await createProcess(simulator.port(), { isKept: false }), 3)).not.toBe('00')
}, 60_000)

test('where the network gives keys to who asks, each start asks, and the others have that key', async () => {
  const simulator = createBank()
  const first = await createProcess(simulator.port(), { asks: true })
  expect(simulator.statistics().keysExchanged).toBe(1)
  const second = await createProcess(simulator.port(), { asks: true })
  expect(simulator.statistics().keysExchanged).toBe(2)
  expect([await paid(first, 1), await paid(second, 2), await paid(first, 3)]).toEqual([
    ...['00', '00', '00'],
  ])
}, 60_000)

const bytes = Uint8Array.fromHex('89B07A34A1B3F47F89B07A34A1B3F489')
const parcel = `${wrapDesKey(Uint8Array.fromHex(zoneKey), bytes).toHex()}C3F11D`
const otherBytes = Uint8Array.fromHex('A1B3F48989B07A34B3F47F89B07A34A1')
const otherParcel = await (async () => {
  const module = createSoftwareModule()
  const wrapped = wrapDesKey(Uint8Array.fromHex(zoneKey), otherBytes).toHex()
  const { checkValue } = await module.importKey(new ModuleKey(zoneKey), 'mac', wrapped)
  return wrapped + checkValue.slice(0, 6)
})()
const data = new TextEncoder().encode('02003220')
const codeUnder = (key: string) => macOf('x9.19', Uint8Array.fromHex(key), data)
const [old, fresh] = [codeUnder(macKey), codeUnder(bytes.toHex())]

const keysOn = (
  store: LinkKeyStore | undefined,
  key = macKey,
  { asks = false, honourMs = 60_000 } = {},
): LinkKeys =>
  new LinkKeys({
    network: 'neta',
    module: createSoftwareModule(),
    honourMs,
    waitMs: 0,
    logger: quietLogger,
    security: securityOf(asks, key),
    store,
  })
const storeBy = (by: Sealer) => createLinkKeyStores(sql, by, quietLogger)
const connected = async (keys: LinkKeys): Promise<LinkKeys> => {
  await keys.obtain(() => Promise.reject(new Error('nothing is asked for')))
  return keys
}
const exchanged = async (): Promise<void> => {
  const { code, use } = await keysOn(storeBy(createSealer(master)).of('neta')).take(() => parcel)
  expect(code).toBe('00')
  use()
  for (;;) {
    const rows = await sql`select from card_link_keys where used_since is not null`
    if (rows.length > 0) return
    await Bun.sleep(2)
  }
}

test('no notice is needed: the first code under the new key says that there is one', async () => {
  const keys = await connected(keysOn(storeBy(createSealer(master)).of('neta')))
  await exchanged()
  expect(await keys.seal(data)).toEqual(old)
  const other = await connected(keysOn(undefined))
  expect(await other.verify(data, fresh)).toBe(false)
  expect(await keys.verify(data, fresh)).toBe(true)
  expect(await keys.seal(data)).toEqual(fresh)
  // What is on its way under the one before is honoured.
  expect(await keys.verify(data, old)).toBe(true)
})

test('codes that are wrong ask the database a few times a second, however many come', async () => {
  let reads = 0
  const store = storeBy(createSealer(master)).of('neta')
  const counting: LinkKeyStore = {
    ...store,
    read: (origin) => {
      reads++
      return store.read(origin)
    },
  }
  const keys = keysOn(counting)
  const wrong = new Uint8Array(8)
  const startMs = performance.now()
  const verify = async (): Promise<void> => {
    for (let at = 0; at < 3; at++) expect(await keys.verify(data, wrong)).toBe(false)
  }
  await Promise.all(Array.from({ length: 50 }, verify))
  expect(reads).toBe(3)
  expect(performance.now() - startMs).toBeGreaterThan(390)
})

test('a key that cannot be kept is not taken: 96, and the old one stays', async () => {
  const away: LinkKeyStore = {
    offer: () => Promise.reject(new Error('the database is away')),
    use: () => Promise.reject(new Error('the database is away')),
    read: () => Promise.reject(new Error('the database is away')),
  }
  const keys = await connected(keysOn(away))
  const { code, use } = await keys.take(() => parcel)
  use()
  expect(code).toBe('96')
  expect(await keys.seal(data)).toEqual(old)
})

test('another key in the settings begins anew; so does another master key', async () => {
  await exchanged()
  const store = storeBy(createSealer(master)).of('neta')
  expect(await (await connected(keysOn(store))).seal(data)).toEqual(fresh)
  const changed = 'FEDCBA98765432100123456789ABCDEF'
  const anew = await connected(keysOn(store, changed))
  expect(await anew.seal(data)).toEqual(codeUnder(changed))
  const stranger = storeBy(createSealer(randomBytes(32))).of('neta')
  expect(await (await connected(keysOn(stranger))).seal(data)).toEqual(old)
  const elsewhere = storeBy(createSealer(master)).of('netb')
  expect(await (await connected(keysOn(elsewhere))).seal(data)).toEqual(old)
})

test('the table holds no key, and a new master key reseals it', async () => {
  await exchanged()
  const [row] = await sql<
    { sealed: Uint8Array }[]
  >`select network, use, sealed, origin from card_link_keys`
  const text = JSON.stringify(row) + Buffer.from(row?.sealed ?? []).toString('latin1')
  for (const key of [macKey, zoneKey, bytes.toHex()]) {
    expect(text.toUpperCase()).not.toContain(key.toUpperCase())
    expect(text).not.toContain(Buffer.from(key, 'hex').toString('latin1'))
  }
  const next = randomBytes(32)
  const { sealed } = storeBy(createSealer(next, [master]))
  expect(await sealed.reseal()).toEqual({ resealed: 1, current: 0, unreadable: 0 })
  expect(await sealed.reseal()).toEqual({ resealed: 0, current: 1, unreadable: 0 })
  const store = storeBy(createSealer(next)).of('neta')
  expect(await (await connected(keysOn(store))).seal(data)).toEqual(fresh)
})

test('what was offered and never used is replaced by the next', async () => {
  const keys = keysOn(storeBy(createSealer(master)).of('neta'))
  for (let at = 0; at < 5; at++) expect(await keys.take(() => parcel)).toMatchObject({ code: '00' })
  expect(await sql`select from card_link_keys`).toHaveLength(1)
  // Another process sees the network use it.
  const other = await connected(keysOn(storeBy(createSealer(master)).of('neta')))
  expect(await other.seal(data)).toEqual(old)
  expect(await other.verify(data, fresh)).toBe(true)
  expect(await other.seal(data)).toEqual(fresh)
})

/** As the database is where no notice comes through. */
const deaf = (onListening: (hear: () => void) => void): typeof sql =>
  Object.assign((...args: Parameters<typeof sql>) => sql(...args), sql, {
    listen: async (_: string, __: unknown, hear: () => void) => {
      onListening(hear)
      return { unlisten: async () => undefined }
    },
  }) as typeof sql

test('a key whose notice was lost is found unasked, though no code tells of it', async () => {
  const stores = createLinkKeyStores(
    deaf(() => undefined),
    createSealer(master),
    quietLogger,
  )
  running.push(stores)
  const keys = await connected(keysOn(stores.of('neta')))
  await stores.start(() => keys.look())
  await exchanged()
  await until(async () => Buffer.from(await keys.seal(data)).equals(fresh))
})

test('who listens again looks at all networks', async () => {
  const told: (string | undefined)[] = []
  let hear = (): void => undefined
  const stores = createLinkKeyStores(
    deaf((listening) => {
      hear = listening
    }),
    createSealer(master),
    quietLogger,
  )
  running.push(stores)
  await stores.start(async (network) => told.push(network))
  await until(() => told.length === 1)
  hear()
  expect(told).toEqual([undefined, undefined])
})

test('where keys are asked for, those of others are taken once this process has asked', async () => {
  const asking = () => keysOn(storeBy(createSealer(master)).of('neta'), macKey, { asks: true })
  const [first, second] = [asking(), asking()]
  expect(await first.obtain(async () => () => parcel)).toBe(true)
  await untilInUse()
  await second.look()
  await expect(second.seal(data)).rejects.toThrow()
  expect(await second.obtain(async () => () => otherParcel)).toBe(true)
  expect(await first.seal(data)).toEqual(fresh)
  await until(async () => {
    await first.look()
    return Buffer.from(await first.seal(data)).equals(codeUnder(otherBytes.toHex()))
  })
})

test('that a key is in use is told again where it could not be told at first', async () => {
  const store = storeBy(createSealer(master)).of('neta')
  let isAway = true
  const use: LinkKeyStore['use'] = (ids) =>
    isAway ? Promise.reject(new Error('away')) : store.use(ids)
  const keys = await connected(keysOn({ ...store, use }))
  const taken = await keys.take(() => parcel)
  taken.use()
  await keys.look()
  isAway = false
  await keys.look()
  expect(await (await connected(keysOn(store))).seal(data)).toEqual(fresh)
})

/** Until all that was offered is in use, for every process. */
const untilInUse = () =>
  until(async () => (await sql`select from card_link_keys where used_since is null`).length === 0)

test('a key that is told twice leaves the one before it honoured, here and in the next process', async () => {
  const store = storeBy(createSealer(master)).of('neta')
  const keys = await connected(keysOn(store))
  const take = async (text: string): Promise<void> => {
    const { code, use } = await keys.take(() => text)
    expect(code).toBe('00')
    use()
    await untilInUse()
  }
  await take(otherParcel)
  await take(parcel)
  await take(parcel)
  for (const one of [keys, await connected(keysOn(store))]) {
    expect(await one.seal(data)).toEqual(fresh)
    expect(await one.verify(data, codeUnder(otherBytes.toHex()))).toBe(true)
  }
})

test('a key that another process put in use, and replaced since, does not come back', async () => {
  const store = storeBy(createSealer(master)).of('neta')
  const keys = await connected(keysOn(store, macKey, { honourMs: 0 }))
  const other = keysOn(storeBy(createSealer(master)).of('neta'))
  const offered = await other.take(() => parcel)
  await keys.look()
  offered.use()
  await untilInUse()
  const later = await other.take(() => otherParcel)
  later.use()
  await untilInUse()
  await keys.look()
  expect(await keys.verify(data, fresh)).toBe(false)
  expect(await keys.seal(data)).toEqual(codeUnder(otherBytes.toHex()))
})

test('where keys are asked for, a key in the settings is no reason not to ask', async () => {
  const keys = new LinkKeys({
    network: 'neta',
    module: createSoftwareModule(),
    honourMs: 0,
    waitMs: 0,
    logger: quietLogger,
    security: { ...securityOf(true), mac: securityOf().mac },
  })
  expect(await keys.obtain(async () => undefined)).toBe(false)
  expect(await keys.obtain(async () => () => parcel)).toBe(true)
  expect(await keys.seal(data)).toEqual(fresh)
})

test('after a kill in an exchange no outage has payments go out under a key that the network did not take', async () => {
  await keysOn(storeBy(createSealer(master)).of('neta')).take(() => parcel)
  const port = freePort()
  // It is silent about what is under any key but its own.
  const silent = createBank(port, otherBytes.toHex())
  const network = await createProcess(port, { timeoutMs: 200 })
  for (let number = 1; number <= 6; number++)
    expect(await paid(network, number, 200)).toBe('timed_out')
  await silent.stop()
  await until(() => network.health().connectionsUp === 0)
  const simulator = createBank(port)
  await until(() => network.health().connectionsUp === 2)
  expect([await paid(network, 7), await paid(network, 8)]).toEqual(['00', '00'])
  expect(simulator.statistics().wrongCodes).toBe(0)
}, 60_000)
