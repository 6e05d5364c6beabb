import type { Client } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { EntryService } from './service.ts'
import { openEntries } from './store.ts'

const everyMsMax = 10_000
const retriedMax = 100

/**
 * Tells the directory again what it has not answered.
 *
 * @param quietMs for so long an entry is left to whoever tells the directory now
 */
export const createEntryRetries = (
  sql: Client,
  { retry }: Pick<EntryService, 'retry'>,
  quietMs: number,
  logger: Logger,
): Job =>
  createJob({
    name: 'unanswered directory entries',
    fleet: { sql },
    logger,
    everyMs: Math.min(quietMs, everyMsMax),
    run: (round) => retryEntries(sql, retry, new Date(Date.now() - quietMs), round),
  })

/** @param before entries that were tried since then are left alone */
export const retryEntries = async (
  sql: Client,
  retry: EntryService['retry'],
  before: Date,
  round?: Round,
): Promise<void> => {
  for (const { id } of await openEntries(sql, before, retriedMax)) {
    if (round?.signal.aborted) return
    await retry(id)
    round?.advance()
  }
}
