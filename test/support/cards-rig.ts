import { afterAll } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import type { Away } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { emitWithin } from '#src/webhooks/index.ts'
import { createCards } from '../../src/cards/cards.ts'
import {
  type CardNetworks,
  cardSettings,
  createCardNetworks,
  networkASettings,
  networkBSettings,
  reversalSettings,
  vaultSettings,
} from '../../src/cards/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  createTestVault,
  findDialect,
  findFraming,
  testVaultKey,
} from '../../src/simulators/card-network/index.ts'
import { type TestApp, testApp, testKey } from './app.ts'
import { until } from './card-network.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from './database.ts'
import { freePort } from './free-port.ts'

export type CardRecord = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly status: string
}

export type CardsRig = AsyncDisposable & {
  readonly app: TestApp
  readonly key: string
  /** May read, and no more. */
  readonly readKey: string
  /** May do what operators do. */
  readonly adminKey: string
  /** Only authorizes. */
  readonly authorizerKey: string
  readonly database: TestDatabase
  readonly networks: CardNetworks
  readonly stopVault: () => Promise<void>
  /** The simulators of network A and of network B. */
  readonly simulators: readonly [CardNetwork, CardNetwork]
  /** What is to be taken back of a transaction, oldest first. */
  readonly reversalsOf: (id: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
  /** The record once the reversal has been confirmed and nothing is under way. */
  readonly settled: (id: string) => Promise<CardRecord>
  readonly post: (
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
  readonly get: (path: string) => Promise<Response>
  readonly authorize: (
    token: string,
    change?: Readonly<Record<string, unknown>>,
  ) => Promise<CardRecord>
}

const settleMs = 40_000

export const authorizationBody = (
  token: string,
  change: Readonly<Record<string, unknown>> = {},
) => ({
  card_token: token,
  amount: 10_000,
  currency: 'BRL',
  merchant_id: 'MERCHANT000001',
  terminal_id: 'TERM01',
  ...change,
})

const simulated = (lateMs: number): CardNetwork => {
  const dialect = findDialect('ascii')
  const framing = findFraming('binary-2')
  if (dialect === undefined || framing === undefined) throw new Error('no such dialect or framing')
  const simulator = createCardNetwork({ dialect, framing, port: freePort(), lateMs })
  simulator.start()
  return simulator
}

/** The card feature over real sockets: two simulated networks, the test vault and a database of its own. */
export const createCardsRig = async (
  options: {
    readonly poolSize?: number
    /** The time-out of the networks: short if the test waits for it. */
    readonly timeoutMs?: number
    /** Between two looks for reversals that are due. */
    readonly reversalPollMs?: number
    /** How long "unknown here" is not the end of a reversal. */
    readonly windowMs?: number
    /** In place of the simulator of network A. */
    readonly networkA?: { readonly port: () => number; readonly stop: () => void }
    /** That of another rig, which is closed with it. */
    readonly database?: TestDatabase
    /** Is told what requests wait for that others do. */
    readonly away?: Away
    /** Beside or in place of the rig's own. */
    readonly environment?: Readonly<Record<string, string>>
  } = {},
): Promise<CardsRig> => {
  const database = options.database ?? (await createTestDatabase())
  const { timeoutMs = 20_000 } = options
  const lateMs = timeoutMs + 300
  const simulators = [simulated(lateMs), simulated(lateMs)] as const
  const portA = (options.networkA ?? simulators[0]).port()
  const testVault = createTestVault({ key: testVaultKey })
  const loaded = loadSettings(
    {
      settings: cardSettings,
      networkA: networkASettings,
      networkB: networkBSettings,
      vault: vaultSettings,
      reversals: reversalSettings,
    },
    {
      CARDGW_NETA_HOST: '127.0.0.1',
      CARDGW_NETA_PORT: String(portA),
      CARDGW_NETA_POOL_SIZE: String(options.poolSize ?? 1),
      CARDGW_NETB_HOST: '127.0.0.1',
      CARDGW_NETB_PORT: String(simulators[1].port()),
      CARDGW_NETB_POOL_SIZE: String(options.poolSize ?? 1),
      CARDGW_VAULT_URL: testVault.url,
      CARDGW_VAULT_TOKEN: testVaultKey,
      ...options.environment,
    },
  )
  if (loaded.problems.length > 0) throw new Error(JSON.stringify(loaded.problems))
  const { settings, networkA, networkB, vault, reversals } = loaded.values
  // The setting is in whole seconds, as operators count; a test need not wait for one.
  const timeoutSeconds = timeoutMs / 1_000
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const networks = createCardNetworks({
    settings,
    networkA: { ...networkA, timeoutSeconds },
    networkB: { ...networkB, timeoutSeconds },
    logger: quietLogger,
    metrics,
  })
  const feature = createCards({
    sql: database.sql,
    networks,
    emission: emitWithin,
    settings: { vault, reversals, merchantsFile: settings.merchantsFile },
    away: options.away,
    logger: quietLogger,
    metrics,
    reconciliationTiming: { everyMs: 20, backoffBaseMs: 20 },
    reversalTiming: {
      pollMs: options.reversalPollMs ?? 20,
      backoffBaseMs: 20,
      holdMs: 20,
      windowMs: options.windowMs ?? 0,
    },
  })
  const { key, record } = testKey('cards:*')
  const reader = testKey('cards:read')
  const admin = testKey('ops:admin', 'ops:read')
  const authorizer = testKey('cards:authorize')
  const app = testApp(feature.routes ?? [], {
    keys: [record, reader.record, admin.record, authorizer.record],
  })
  await networks.feature.start?.()
  await feature.start?.()
  await until(
    () => networks.all.every((one) => one.health().connectionsUp === one.health().connectionsMax),
    'the networks being up',
  )
  const post: CardsRig['post'] = (path, body, headers = {}) =>
    app.call('POST', path, { key, ...(body === undefined ? {} : { body }), headers })
  const get = (path: string) => app.call('GET', path, { key })
  const settled = async (id: string): Promise<CardRecord> => {
    const deadline = performance.now() + settleMs
    for (;;) {
      const record = (await (await get(`/v1/transactions/${id}`)).json()) as CardRecord
      if (record['operation'] === undefined && record.status !== 'pending') return record
      if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(record)}`)
      await Bun.sleep(5)
    }
  }
  return {
    get,
    settled,
    stopVault: testVault.stop,
    readKey: reader.key,
    adminKey: admin.key,
    authorizerKey: authorizer.key,
    app,
    key,
    database,
    networks,
    simulators,
    post,
    reversalsOf: async (id) => database.sql`
      select reverses, amount_cents, original_mti, original_stan, network, rrn
      from card_reversals where transaction_id = ${id} order by id`,
    authorize: async (token, change) => {
      const response = await post('/v1/transactions/authorize', authorizationBody(token, change))
      if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
      return (await response.json()) as CardRecord
    },
    [Symbol.asyncDispose]: async () => {
      await feature.drain?.()
      await feature.stop?.()
      await networks.feature.stop?.()
      for (const simulator of simulators) simulator.stop()
      options.networkA?.stop()
      await testVault.stop()
      if (options.database === undefined) await database.close()
    },
  }
}

/** One that ends with the tests of the file. */
export const cardsRigOfFile: typeof createCardsRig = async (options) => {
  const rig = await createCardsRig(options)
  afterAll(() => rig[Symbol.asyncDispose]())
  return rig
}
