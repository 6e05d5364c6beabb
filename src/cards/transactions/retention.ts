import {
  type Client,
  deletedMax,
  deleteInBatches,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { forgetTransactions } from './store.ts'

const everyMs = 600_000
const dayMs = 86_400_000

/**
 * Deletes transactions that were made and last changed more than `days` ago, with their events and reversals. Keeps
 * those that are pending, under way or in need of attention.
 */
export const createRetention = (options: {
  readonly sql: Client
  readonly days: number
  readonly logger: Logger
  readonly now: () => Date
}): Job & { readonly sweep: (round?: Round) => Promise<number> } => {
  const { sql, days, logger, now } = options
  const sweep = async (round?: Round): Promise<number> => {
    const before = new Date(now().getTime() - days * dayMs)
    const beforeId = `txn_${uuidBound(before).replaceAll('-', '')}`
    const total = await deleteInBatches(
      () => forgetTransactions(sql, before, beforeId, deletedMax),
      round,
    )
    if (total > 0) logger.info({ transactions: total }, 'old card transactions are forgotten')
    return total
  }
  const job = createJob({
    name: 'old card transactions',
    everyMs,
    fleet: { sql },
    run: sweep,
    logger,
  })
  return { ...job, sweep }
}
