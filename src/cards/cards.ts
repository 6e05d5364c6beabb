import type { EmitWithin } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { type Away, routesWithout } from '#src/platform/http/index.ts'
import type { Job } from '#src/platform/jobs/index.ts'
import { type Check, checkReach, type Feature, isProxied } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { tlsOptionsOf } from '#src/platform/security/index.ts'
import { cardRoutes } from './api/routes.ts'
import { bookOf } from './book.ts'
import { cardErrors } from './errors.ts'
import { readMerchants } from './merchants.ts'
import type { CardNetworks } from './networks/index.ts'
import { limitedLog } from './networks/limited-log.ts'
import {
  createReconciliation,
  createTotals,
  insertMovements,
  type ReconciliationDeps,
} from './reconciliation/index.ts'
import {
  createReversals,
  insertReversals,
  type ReversalSettings,
  type ReversalsDeps,
} from './reversals/index.ts'
import { createShared, createTurns, type InTurn } from './told.ts'
import { createRetention } from './transactions/retention.ts'
import { createStanAllocator, type StanAllocator } from './transactions/stan.ts'
import { lockTransaction } from './transactions/store.ts'
import { declareUnmatched } from './transactions/unmatched.ts'
import { createCardWriter } from './transactions/writer.ts'
import { createAbandonedSweep, holdOpen } from './use-cases/abandoned.ts'
import { createAdvices } from './use-cases/advices.ts'
import { bookedByEnd } from './use-cases/booking.ts'
import { createExpiry } from './use-cases/expiry.ts'
import { createLateAnswers } from './use-cases/late-answers.ts'
import { createLateSweep } from './use-cases/late-sweep.ts'
import { endStored, lockOriginal } from './use-cases/resolve.ts'
import { createCardService } from './use-cases/service.ts'
import { createVault, type VaultSettings } from './vault/index.ts'

export type CardsDeps = {
  /** Undefined: the endpoints answer 503. */
  readonly sql: Client | undefined
  readonly networks: CardNetworks
  /** Undefined: nobody can subscribe. */
  readonly emission: EmitWithin | undefined
  readonly settings: {
    readonly vault: VaultSettings
    readonly reversals: ReversalSettings
    /** Undefined: transactions are kept for ever. */
    readonly retentionDays?: number | undefined
    /** Undefined: there is no profile of any merchant. */
    readonly merchantsFile?: string | undefined
  }
  /** Undefined: nobody asks how much there is to do. */
  readonly away?: Away | undefined
  readonly logger: Logger
  readonly metrics: Metrics
  /** Times that tests shorten. */
  readonly reconciliationTiming?: ReconciliationDeps['timing']
  readonly reversalTiming?: NonNullable<ReversalsDeps['timing']>
}

const checksOf = async ({ url, ...files }: VaultSettings): Promise<readonly Check[]> =>
  url === undefined || isProxied(url)
    ? []
    : [await checkReach('Token vault', url, 'CARDGW_VAULT_URL', tlsOptionsOf(files))]

const retentionOf = (
  { settings: { retentionDays: days }, logger }: CardsDeps,
  sql: Client,
): readonly Job[] => (days === undefined ? [] : [createRetention({ sql, days, logger })])

/** Connects the parts that listen to networks. */
const listen = (
  { networks, emission, logger }: CardsDeps,
  sql: Client,
  onReversals: () => void,
  inTurn: InTurn,
  now: () => Date,
): void => {
  // When a network is back, what waits for it goes out.
  networks.onUp(onReversals)
  const told = { sql, networks, onReversals, inTurn, emission, logger: limitedLog(logger), now }
  networks.onLateAnswer(createLateAnswers(told))
  const takeAdvice = createAdvices(told)
  const takeTotals = createTotals({ sql, networks: networks.all, inTurn, logger, now })
  networks.onAdvice((advice) =>
    advice.message.mti.startsWith('05') ? takeTotals(advice) : takeAdvice(advice),
  )
}

/** The work that is done from time to time. */
const jobsOf = (
  deps: CardsDeps,
  sql: Client,
  stans: StanAllocator,
  cards: Pick<ReconciliationDeps, 'vault' | 'merchants'>,
  onReversals: () => void,
  inTurn: InTurn,
  now: () => Date,
): readonly Job[] => {
  const { networks, emission, logger, metrics } = deps
  const common = { sql, insertReversals, emission, logger, now }
  const reconciliation = createReconciliation({
    sql,
    networks: networks.all,
    nextStan: stans.next,
    logger,
    metrics,
    now,
    ...cards,
    vaultTimeoutMs: deps.settings.vault.timeoutMs,
    timing: deps.reconciliationTiming,
  })
  const shared = createShared<boolean>()
  networks.onCutOver((network, date) =>
    shared(`${network} ${date}`, () => inTurn(() => reconciliation.cutOver(network, date))),
  )
  return [
    createAbandonedSweep({ ...common, networks: networks.all }),
    createLateSweep({ ...common, networks, onReversals }),
    createExpiry({ ...common, networks: networks.all, onReversals }),
    reconciliation.job,
    ...retentionOf(deps, sql),
  ]
}

const outcomesOf = (metrics: Metrics, sql: Client, { all }: CardNetworks) => {
  const names = all.map(({ name }) => name)
  declareUnmatched(metrics, sql, names)
  return metrics.counter('cardgw_operations_total', 'What became of messages to card networks.', [
    'operation',
    'network',
    'outcome',
  ])
}

/** A reversal or an advice ends together with its transaction, and with what the network has booked. */
const onEndedOf =
  ({ networks, emission }: CardsDeps, now: () => Date): ReversalsDeps['onEnded'] =>
  async (tx, ended, outcome, booking) => {
    const network = networks.byName(ended.network)
    const isBooked = network?.reconciliation !== undefined
    const before = isBooked ? await lockTransaction(tx, ended.transactionId) : undefined
    await endStored(tx, ended, outcome, now(), emission)
    const { reversedCents = 0n } = before ?? {}
    const movements = bookedByEnd(network, ended, outcome, booking, reversedCents, now())
    await insertMovements(tx, movements)
  }

/**
 * The card authorization gateway, above its networks, which must start before it and stop after it.
 *
 * @throws MerchantsFileError; KeyMaterialError when the files of the vault's TLS cannot be used
 */
export const createCards = (deps: CardsDeps): Feature => {
  const { sql, networks, settings, emission, logger, metrics } = deps
  const common = { name: 'cards', listener: 'cards', errors: cardErrors } as const
  const vault = createVault(settings.vault, logger)
  if (sql === undefined || vault === undefined || networks.all.length === 0) {
    const missing = [
      ...(sql === undefined ? ['CARDGW_DATABASE_URL'] : []),
      ...(networks.all.length === 0 ? ['CARDGW_NETA_HOST'] : []),
      ...(vault === undefined ? ['CARDGW_VAULT_URL'] : []),
    ]
    return { ...common, routes: routesWithout(missing, cardRoutes) }
  }
  const now = (): Date => new Date()
  const outcomes = outcomesOf(metrics, sql, networks)
  const stans = createStanAllocator({ sql })
  const merchants = readMerchants(settings.merchantsFile)
  const reversals = createReversals({
    sql,
    networks,
    vault,
    vaultTimeoutMs: settings.vault.timeoutMs,
    nextStan: stans.next,
    merchants,
    lockOriginal: (tx, reversal) => lockOriginal(tx, reversal, networks.byName(reversal.network)),
    onEnded: onEndedOf(deps, now),
    settings: settings.reversals,
    logger,
    metrics,
    ...(deps.reversalTiming === undefined ? {} : { timing: deps.reversalTiming }),
  })
  const service = createCardService({
    sql,
    networks,
    vault,
    stans,
    merchants,
    writer: createCardWriter(sql, insertReversals, reversals.kick, emission),
    emission,
    away: deps.away ?? ((wait) => wait),
    logger,
    now,
    count: (operation, network, outcome) => outcomes.inc({ operation, network, outcome }),
  })
  const inTurn = createTurns()
  const jobs = jobsOf(deps, sql, stans, { vault, merchants }, reversals.kick, inTurn, now)
  listen(deps, sql, reversals.kick, inTurn, now)
  return {
    ...common,
    routes: cardRoutes(service),
    certificates: vault.certificates,
    loops: () => reversals.loops,
    checks: () => checksOf(settings.vault),
    health: vault.health,
    book: () => bookOf(sql),
    hold: () => holdOpen(sql),
    start: () => {
      vault.start()
      reversals.start()
      for (const job of jobs) void job.start()
    },
    drain: async () => {
      await Promise.all(jobs.map((job) => job.stop()))
      await reversals.drain()
    },
    stop: vault.stop,
  }
}
