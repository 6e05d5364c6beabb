import type { Emit } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { type ErrorDefinition, routesWithout, sharedBuckets } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { withoutSlashes } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { createEntryCache } from './cache.ts'
import { createClaims } from './claims/index.ts'
import { claimRoutes } from './claims/routes.ts'
import type { ClaimService } from './claims/service.ts'
import { createDirectoryClient } from './client.ts'
import { createReconciliationCalls } from './comparisons/calls.ts'
import { createComparisonSweep } from './comparisons/retention.ts'
import { comparisonRoutes } from './comparisons/routes.ts'
import { createComparisonJob, createComparisonService } from './comparisons/service.ts'
import type { DictSettings } from './config.ts'
import { createDisputing, unaskedDisputes } from './disputing.ts'
import { payeeErrors } from './documents.ts'
import { createEntryRetries } from './entries/retries.ts'
import { entryRoutes } from './entries/routes.ts'
import { createEntryService, type EntryService } from './entries/service.ts'
import { dictErrors } from './errors.ts'
import { createLookupTokens } from './policies.ts'
import type { Returns } from './refunds/returns.ts'
import { createLookupSweep } from './retention.ts'
import { dictRoutes } from './routes.ts'
import { createDictService, type DictService } from './service.ts'
import { createDirectoryWire, type RefusalOfSignature, type SignRequest } from './wire.ts'

export { dictSettings } from './config.ts'

export type DictDeps = {
  readonly settings: DictSettings
  /** Undefined: the endpoints answer 503 and name what is missing; so for `sql`. */
  readonly ispb: string | undefined
  readonly sql: Client | undefined
  /** Client certificate and authorities; undefined for plain connections. */
  readonly tls: KeyMaterial | undefined
  readonly refusalOfSignature: RefusalOfSignature
  /** Signs what changes something. */
  readonly sign: SignRequest
  /** Gives money back, and knows what was given back; undefined without a database or ISPB. */
  readonly returns: Returns | undefined
  readonly emit: Emit
  readonly runsJobs: boolean
  readonly logger: Logger
  readonly metrics: Metrics
  /** The real clock when absent. */
  readonly now?: () => Date
  /** What has gone by, whatever the clock is set to. */
  readonly elapsedMs?: () => number
}

export type DictFeature = Feature & {
  /** For payments; undefined if the directory cannot be asked. */
  readonly payee: DictService['payee'] | undefined
  /** What may come of asking it. */
  readonly payeeErrors: readonly ErrorDefinition[]
  /** What it lacks. */
  readonly missing: readonly string[]
}

const common = { name: 'dict', errors: dictErrors, payeeErrors }

/** The directory of Pix keys (DICT): who is paid by a key. */
export const createDict = (deps: DictDeps): DictFeature => {
  const { settings, ispb, sql, tls, logger, metrics, now = () => new Date() } = deps
  const { elapsedMs = () => performance.now() } = deps
  const { url } = settings
  const { returns } = deps
  if (ispb === undefined || sql === undefined || url === undefined || returns === undefined) {
    return unconfigured([
      ...(url === undefined ? ['DICT_URL'] : []),
      ...(ispb === undefined ? ['ISPB'] : []),
      ...(sql === undefined || returns === undefined ? ['DATABASE_DSN'] : []),
    ])
  }
  const timeoutMs = settings.timeoutSeconds * 1_000
  // Who asks first has his answer by then, or will have none.
  const quietMs = 3 * timeoutMs
  const wire = createDirectoryWire({
    url: withoutSlashes(url),
    ispb,
    tls,
    metrics,
    sign: deps.sign,
    refusalOfSignature: deps.refusalOfSignature,
    timeoutMs,
  })
  const client = createDirectoryClient(wire.lane(), ispb)
  const entries = createEntryService({ sql, client, logger, now })
  const claims = createClaims(wire.lane(), { sql, ispb, emit: deps.emit, quietMs, logger, now })
  const service = createDictService({
    sql,
    ispb,
    client,
    logger,
    now,
    tokens: createLookupTokens(sharedBuckets(sql), ispb, settings.category, elapsedMs),
    cache: createEntryCache(settings.cacheSeconds, elapsedMs),
  })
  const disputing = createDisputing({ sql, ispb, wire, returns, emit: deps.emit, logger, now })
  const comparing = {
    sql,
    ispb,
    entries,
    logger,
    now,
    fetchFile: wire.fetchFile,
    calls: createReconciliationCalls(wire.lane(), ispb),
  }
  const comparisons = createComparisonService(comparing)
  const pollMs = settings.pollSeconds * 1_000
  const jobs = [
    createComparisonJob(comparisons, comparing),
    createLookupSweep(sql, logger),
    createEntryRetries(sql, entries, quietMs, logger),
    createComparisonSweep(sql, settings.comparisonRetentionDays, logger),
    ...claims.jobs(pollMs),
    ...disputing.jobs(pollMs, quietMs),
  ]
  return {
    ...common,
    missing: [],
    payee: service.payee,
    routes: [
      ...dictRoutes(service),
      ...entryRoutes(entries, ispb),
      ...claimRoutes(claims.service, ispb),
      ...disputing.routes,
      ...comparisonRoutes(comparisons),
    ],
    start: async () => {
      tls?.watch()
      if (deps.runsJobs) await Promise.all(jobs.map((job) => job.start()))
    },
    drain: async () => {
      await Promise.all(jobs.map((job) => job.stop()))
    },
    stop: () => tls?.stop(),
  }
}

/** Its endpoints answer 503 and name what is missing. */
const unconfigured = (missing: readonly string[]): DictFeature => ({
  ...common,
  missing,
  payee: undefined,
  routes: [
    ...routesWithout(missing, dictRoutes),
    ...unaskedDisputes(missing),
    ...routesWithout(missing, comparisonRoutes),
    ...routesWithout(missing, (service: EntryService) => entryRoutes(service, '')),
    ...routesWithout(missing, (service: ClaimService) => claimRoutes(service, '')),
  ],
})
