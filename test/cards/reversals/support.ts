import { createMetrics, type Metrics } from '#src/platform/observe/index.ts'
import type { Network, NetworkOptions } from '../../../src/cards/networks/index.ts'
import {
  createReversals,
  insertReversals,
  type NewReversal,
  type Reversals,
  type ReversalsDeps,
} from '../../../src/cards/reversals/index.ts'
import { createStanAllocator } from '../../../src/cards/transactions/stan.ts'
import { createHttpVault } from '../../../src/cards/vault/http-vault.ts'
import type { Vault } from '../../../src/cards/vault/index.ts'
import {
  type CardNetworkOptions,
  createTestVault,
  testVaultKey,
} from '../../../src/simulators/card-network/index.ts'
import {
  createNetworkRig,
  type NetworkRig,
  payment,
  quietLogger,
  stanOf,
} from '../../support/card-network.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const amountCents = 10_000n
const waitMs = 40_000
const vaultTimeoutMs = 20_000

/** What has to be done to take back `payment(number)`. */
export const reversalOf = (number: number, change: Partial<NewReversal> = {}): NewReversal => ({
  transactionId: `txn_${number}`,
  network: 'neta',
  reverses: 'authorization',
  cardToken: 'tok_visa_approved',
  amountCents: amountCents,
  currency: 'BRL',
  originalMti: '0100',
  originalStan: stanOf(number),
  originalTransmission: '1120120000',
  rrn: `632512${stanOf(number)}`,
  authCode: undefined,
  merchantId: 'MERCHANT000001',
  terminalId: 'TERM01',
  installments: 1,
  details: undefined,
  remainingCents: undefined,
  captureNumber: undefined,
  expiryHours: undefined,
  traceparent: undefined,
  attempts: 0,
  stan: undefined,
  transmission: undefined,
  ...change,
})

export type Row = {
  readonly transactionId: string
  readonly status: string
  readonly attempts: number
  readonly responseCode: string | null
  readonly stan: string | null
  readonly firstAttemptAt: Date | null
  readonly endedAt: Date | null
}

type EngineChange = Partial<Omit<ReversalsDeps, 'settings'>> & {
  readonly settings?: Partial<ReversalsDeps['settings']>
}

export type ReversalRig = AsyncDisposable & {
  readonly database: TestDatabase
  readonly simulator: NetworkRig['simulator']
  readonly network: Network
  readonly vault: Vault
  /** What the engines told, in their order. */
  readonly ended: readonly { readonly transactionId: string; readonly outcome: string }[]
  /** One that works on the rig's table; started, and drained with the rig. */
  readonly engine: (change?: EngineChange) => Reversals & { readonly metrics: Metrics }
  /** Authorizes with the card of the token, waits for what becomes of it, commits its reversal. */
  readonly reverse: (number: number, token: string, change?: Partial<NewReversal>) => Promise<void>
  readonly insert: (...rows: readonly NewReversal[]) => Promise<void>
  readonly rows: () => Promise<readonly Row[]>
  /** Waits until the rows are as asked, and gives them. */
  readonly until: (test: (rows: readonly Row[]) => boolean) => Promise<readonly Row[]>
}

export const isEnded = (rows: readonly Row[]): boolean =>
  rows.every(({ status }) => status !== 'pending')

const rowsOf = ({ sql }: TestDatabase): Promise<readonly Row[]> =>
  sql<Row[]>`
    select transaction_id as "transactionId", status, attempts, response_code as "responseCode", stan,
      first_attempt_at as "firstAttemptAt", ended_at as "endedAt"
    from card_reversals order by id`

const waitFor = async (
  database: TestDatabase,
  test: (rows: readonly Row[]) => boolean,
): Promise<readonly Row[]> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const found = await rowsOf(database)
    if (test(found)) return found
    if (performance.now() > deadline) throw new Error(`not in time: ${JSON.stringify(found)}`)
    await Bun.sleep(5)
  }
}

const settingsOf = (change: EngineChange['settings']): ReversalsDeps['settings'] => ({
  expiryHours: 24,
  attemptsMax: 1_000,
  backoffMaxSeconds: 1,
  windowSeconds: 120,
  inFlightMax: 16,
  ...change,
})

/** A simulated network, a pool that is connected to it, a vault of test cards and a database. */
export const createReversalRig = async (
  options: Partial<NetworkOptions> = {},
  simulated: Partial<CardNetworkOptions> = {},
): Promise<ReversalRig> => {
  const database = await createTestDatabase()
  const { sql } = database
  const rig = await createNetworkRig({ timeoutMs: 20_000, drainMs: 10, ...options }, simulated)
  const { network } = rig
  const testVault = createTestVault({ key: testVaultKey })
  const vault = createHttpVault({
    url: testVault.url,
    token: testVaultKey,
    timeoutMs: vaultTimeoutMs,
  })
  const stans = createStanAllocator({ sql })
  const engines: Reversals[] = []
  const ended: { transactionId: string; outcome: string }[] = []
  const insert = async (...given: readonly NewReversal[]): Promise<void> => {
    await sql.begin((tx) => insertReversals(tx, given))
  }
  return {
    database,
    network,
    vault,
    ended,
    insert,
    simulator: rig.simulator,
    rows: () => rowsOf(database),
    until: (test) => waitFor(database, test),
    engine: ({ settings, ...change } = {}) => {
      const metrics = createMetrics({ version: '1.0.0', withProcess: false })
      const engine = createReversals({
        sql,
        vault,
        metrics,
        vaultTimeoutMs: vaultTimeoutMs,
        networks: { all: [network], byName: () => network },
        nextStan: (of) => stans.next(of),
        merchants: new Map(),
        lockOriginal: async () => false,
        onEnded: async (_, { transactionId }, outcome) => {
          ended.push({ transactionId, outcome })
        },
        settings: settingsOf(settings),
        logger: quietLogger,
        timing: { pollMs: 10, backoffBaseMs: 5, holdMs: 10, windowMs: 0 },
        ...change,
      })
      engines.push(engine)
      engine.start()
      return { ...engine, metrics }
    },
    reverse: async (number, token, change) => {
      const request = payment(number, { token })
      const sent = network.exchange(request, 100)
      request.wipe()
      const outcome = await sent
      if (outcome.kind === 'answered') outcome.response.wipe()
      await insert(reversalOf(number, { cardToken: token, ...change }))
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(engines.map((engine) => engine.drain()))
      await rig[Symbol.asyncDispose]()
      await testVault.stop()
      await database.close()
    },
  }
}
