import { type Client, deleteInBatches } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { forgetFullBuckets, forgetSomeLookups } from './store.ts'

const sweepEveryMs = 3_600_000
/** Long after anybody may pay by it. */
const keptMs = dayMs

/** Deletes old lookups, and the buckets of payers who have not looked anything up for long. */
export const forgetLookups = async (sql: Client, round?: Round): Promise<number> => {
  const before = new Date(Date.now() - keptMs)
  const lookups = await deleteInBatches(() => forgetSomeLookups(sql, before), round)
  return lookups + (await deleteInBatches(() => forgetFullBuckets(sql), round))
}

export const createLookupSweep = (sql: Client, logger: Logger): Job =>
  createJob({
    name: 'old lookups',
    everyMs: sweepEveryMs,
    fleet: { sql },
    logger,
    run: (round) => forgetLookups(sql, round),
  })
