import { type Client, deletedMax, deleteInBatches } from '#src/platform/database/index.ts'
import { createJob, type Round } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

const sweepEveryMs = 600_000

/** Forgets answered keys after their retention: a later repetition is a new request. */
export const createIdempotencySweep = (options: {
  readonly sql: Client
  readonly retentionHours: number
  readonly logger: Logger
}): Feature & { readonly sweep: () => Promise<number> } => {
  const { sql, retentionHours, logger } = options

  const forgetSome = async (): Promise<number> => {
    const gone = await sql`
      delete from idempotency_keys where key = any(array(
        select key from idempotency_keys
        where created_at < now() - make_interval(hours => ${retentionHours})
          and status is not null
        order by created_at limit ${deletedMax}))`
    return gone.count
  }
  const sweep = (round?: Round): Promise<number> => deleteInBatches(forgetSome, round)
  const job = createJob({
    name: 'old idempotency keys',
    everyMs: sweepEveryMs,
    fleet: { sql },
    logger,
    run: sweep,
  })
  return { name: 'idempotency', sweep, start: job.start, drain: job.stop }
}
