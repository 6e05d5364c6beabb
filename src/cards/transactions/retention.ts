import {
  type Client,
  daysAgo,
  deletedMax,
  deleteInBatches,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

/**
 * Deletes transactions that ended before `before`, with all that belongs to them; others that delete skip these rows.
 */
const forgetTransactions = async (
  sql: Client,
  before: Date,
  beforeId: string,
  limit: number,
): Promise<number> => {
  const forgotten = await sql`
    with over as (
      select id from card_transactions
      where id < ${beforeId} and updated_at < ${before} and status <> 'pending'
        and operation is null and not needs_attention
      order by id limit ${limit} for update skip locked
    ),
    events as (delete from card_events e using over where e.transaction_id = over.id),
    reversals as (delete from card_reversals r using over where r.transaction_id = over.id),
    movements as (delete from card_movements m using over where m.transaction_id = over.id),
    days as (
      delete from card_reconciliations
      where ended_at < ${before} and (status = 'balanced' or resolved_at < ${before})),
    unmatched as (delete from card_unmatched_advices where resolved_at < ${before})
    delete from card_transactions t using over where t.id = over.id`
  return forgotten.count
}

const everyMs = 600_000

/**
 * Deletes transactions that were made and last changed more than `days` ago, with their events and reversals, and advices that somebody has seen to so long ago. Keeps
 * those that are pending, under way or in need of attention.
 */
export const createRetention = (options: {
  readonly sql: Client
  readonly days: number
  readonly logger: Logger
}): Job & { readonly sweep: (round?: Round) => Promise<number> } => {
  const { sql, days, logger } = options
  const sweep = async (round?: Round): Promise<number> => {
    const before = await daysAgo(sql, days)
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
