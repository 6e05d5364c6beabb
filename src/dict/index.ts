import type { Emit } from '#src/events/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { type ErrorDefinition, routesWithout, sharedBuckets } from '#src/platform/http/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { withoutSlashes } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { createEntryCache } from './cache.ts'
import { type AdvanceDeps, createAdvance } from './claims/advance.ts'
import { createClaimCalls } from './claims/calls.ts'
import { doDueClaims } from './claims/due.ts'
import { pollClaims } from './claims/poll.ts'
import { claimRoutes } from './claims/routes.ts'
import { type ClaimService, createClaimService } from './claims/service.ts'
import { createDirectoryClient } from './client.ts'
import { createReconciliationCalls } from './comparisons/calls.ts'
import { comparisonRoutes } from './comparisons/routes.ts'
import { createComparisonService } from './comparisons/service.ts'
import type { DictSettings } from './config.ts'
import { retryDisputes } from './disputes/service.ts'
import { createDisputing, unaskedDisputes } from './disputing.ts'
import { payeeErrors } from './documents.ts'
import { entryRoutes } from './entries/routes.ts'
import { createEntryService, type EntryService, retryEntries } from './entries/service.ts'
import { dictErrors } from './errors.ts'
import { createLookupTokens } from './policies.ts'
import type { Returns } from './refunds/returns.ts'
import { forgetComparisons, forgetLookups } from './retention.ts'
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

const face = { name: 'dict', errors: dictErrors, payeeErrors }

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
  const common = { sql, ispb, emit: deps.emit, logger, now }
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
  const clientOfOwn = () => createDirectoryClient(wire.lane(), ispb)
  const entries = createEntryService({ ...common, client: clientOfOwn() })
  const claims = { ...common, quietMs, calls: createClaimCalls(wire.lane(), ispb) }
  const advance = createAdvance(claims)
  const service = createDictService({
    ...common,
    client: clientOfOwn(),
    tokens: createLookupTokens(sharedBuckets(sql), ispb, settings.category, elapsedMs),
    cache: createEntryCache(settings.cacheSeconds, elapsedMs),
  })
  const disputing = createDisputing({ ...common, wire, returns })
  const comparisons = createComparisonService({
    ...common,
    entries,
    fetchFile: wire.fetchFile,
    calls: createReconciliationCalls(wire.lane(), ispb),
  })
  const jobs = jobsOf(settings, { claims, advance, entries, comparisons, disputing })
  return {
    ...face,
    missing: [],
    payee: service.payee,
    routes: [
      ...dictRoutes(service),
      ...entryRoutes(entries, ispb),
      ...claimRoutes(createClaimService(claims, advance), ispb),
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

const sweepEveryMs = 3_600_000
const lookEveryMs = 5_000
const retryEveryMsMax = 10_000

/** What one process of the fleet does from time to time for all. */
const jobsOf = (
  settings: DictSettings,
  parts: {
    readonly claims: AdvanceDeps
    readonly advance: ReturnType<typeof createAdvance>
    readonly entries: EntryService
    readonly comparisons: ReturnType<typeof createComparisonService>
    readonly disputing: ReturnType<typeof createDisputing>
  },
): readonly Job[] => {
  const { claims, advance, entries, comparisons, disputing } = parts
  const { sql, logger, quietMs } = claims
  const pollMs = settings.pollSeconds * 1_000
  const retryMs = Math.min(quietMs, retryEveryMsMax)
  const job = (name: string, everyMs: number, run: (round: Round) => Promise<unknown>): Job =>
    createJob({ name, everyMs, fleet: { sql }, logger, run })
  return [
    job('directory comparisons', lookEveryMs, comparisons.advance),
    job('old lookups', sweepEveryMs, (round) => forgetLookups(sql, round)),
    job('old directory comparisons', sweepEveryMs, (round) =>
      forgetComparisons(sql, settings.comparisonRetentionDays, round),
    ),
    job('unanswered directory entries', retryMs, (round) =>
      retryEntries(claims, entries.retry, quietMs, round),
    ),
    job('directory claims', pollMs, (round) => pollClaims(claims, advance, round)),
    job('due directory claims', lookEveryMs, (round) => doDueClaims(claims, advance, round)),
    ...[disputing.infractions, disputing.refunds].flatMap((one) => [
      job(`directory ${one.kind}s`, pollMs, one.poll),
      job(`unanswered directory ${one.kind}s`, retryMs, (round) =>
        retryDisputes(claims, one, quietMs, round),
      ),
    ]),
  ]
}

/** Its endpoints answer 503 and name what is missing. */
const unconfigured = (missing: readonly string[]): DictFeature => ({
  ...face,
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
