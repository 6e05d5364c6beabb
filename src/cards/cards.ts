import type { EmitWithin } from '#src/events/index.ts'
import { type Client, withIdleLimit } from '#src/platform/database/index.ts'
import { type Away, withMissingSettings } from '#src/platform/http/index.ts'
import type { Job } from '#src/platform/jobs/index.ts'
import { type Check, checkReach, type Feature, isProxied } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { cardRoutes } from './api/routes.ts'
import { bookOf } from './book.ts'
import { cardErrors } from './errors.ts'
import { readMerchants } from './merchants.ts'
import type { CardNetworks } from './networks/index.ts'
import {
  createReversals,
  insertReversals,
  type ReversalSettings,
  type ReversalsDeps,
} from './reversals/index.ts'
import { createRetention } from './transactions/retention.ts'
import { createStanAllocator } from './transactions/stan.ts'
import { declareUnmatched } from './transactions/unmatched.ts'
import { createCardWriter } from './transactions/writer.ts'
import { createAbandonedSweep } from './use-cases/abandoned.ts'
import { createAdvices } from './use-cases/advices.ts'
import { createExpiry } from './use-cases/expiry.ts'
import { createLateAnswers } from './use-cases/late-answers.ts'
import { endStored } from './use-cases/resolve.ts'
import { type CardService, createCardService } from './use-cases/service.ts'
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
  /** Times of reversals that tests shorten. */
  readonly reversalTiming?: NonNullable<ReversalsDeps['timing']>
}

const checksOf = async ({ url }: VaultSettings): Promise<readonly Check[]> =>
  url === undefined || isProxied(url)
    ? []
    : [await checkReach('Token vault', url, 'CARDGW_VAULT_URL')]

const retentionOf = (
  { settings: { retentionDays: days }, logger }: CardsDeps,
  sql: Client,
  now: () => Date,
): readonly Job[] => (days === undefined ? [] : [createRetention({ sql, days, logger, now })])

const outcomesOf = (metrics: Metrics, sql: Client, { all }: CardNetworks) => {
  const names = all.map(({ name }) => name)
  declareUnmatched(metrics, sql, names)
  return metrics.counter('cardgw_operations_total', 'What became of messages to card networks.', [
    'operation',
    'network',
    'outcome',
  ])
}

/**
 * The card authorization gateway, above its networks, which must start before it and stop after it.
 *
 * @throws MerchantsFileError; KeyMaterialError when the files of the vault's TLS cannot be used
 */
export const createCards = (deps: CardsDeps): Feature => {
  const { networks, settings, emission, logger, metrics } = deps
  const sql = deps.sql && withIdleLimit(deps.sql)
  const common = { name: 'cards', listener: 'cards', errors: cardErrors } as const
  const vault = createVault(settings.vault, logger)
  if (sql === undefined || vault === undefined || networks.all.length === 0) {
    const missing = [
      ...(sql === undefined ? ['CARDGW_DATABASE_URL'] : []),
      ...(networks.all.length === 0 ? ['CARDGW_NETA_HOST'] : []),
      ...(vault === undefined ? ['CARDGW_VAULT_URL'] : []),
    ]
    // These handlers are never reached, so they need no service.
    return { ...common, routes: withMissingSettings(cardRoutes({} as CardService), missing) }
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
    onEnded: (tx, ended, outcome) => endStored(tx, ended, outcome, now(), emission),
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
  const sweep = createAbandonedSweep({
    sql,
    insertReversals,
    timeoutMs: Math.max(...networks.all.map(({ timeoutMs }) => timeoutMs)),
    emission,
    logger,
    now,
  })
  const expiry = createExpiry({
    ...{ sql, networks: networks.all, insertReversals, onReversals: reversals.kick },
    ...{ emission, logger, now },
  })
  const jobs = [sweep, expiry, ...retentionOf(deps, sql, now)]
  const told = { sql, networks, onReversals: reversals.kick, emission, logger, now }
  networks.onLateAnswer(createLateAnswers(told))
  networks.onAdvice(createAdvices(told))
  return {
    ...common,
    ...{ routes: cardRoutes(service), certificates: vault.certificates },
    loops: () => reversals.loops,
    checks: () => checksOf(settings.vault),
    health: vault.health,
    book: () => bookOf(sql),
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
