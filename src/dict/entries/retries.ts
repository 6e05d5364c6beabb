import type { Client } from '#src/platform/database/index.ts'
import { createJob, eachAlone, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { EntryService } from './service.ts'
import { openEntries, touchEntry } from './store.ts'

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
    run: (round) => retryEntries({ sql, logger }, retry, new Date(Date.now() - quietMs), round),
  })

/** @param before entries that were tried since then are left alone */
export const retryEntries = async (
  { sql, logger }: { readonly sql: Client; readonly logger: Logger },
  retry: EntryService['retry'],
  before: Date,
  round?: Round,
): Promise<void> => {
  await eachAlone(await openEntries(sql, before, retriedMax), ({ id }) => retry(id), {
    round,
    logger,
    idsOf: ({ id }) => ({ entry: id }),
    setAside: ({ id }) => touchEntry(sql, id),
  })
}
