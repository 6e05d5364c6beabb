import {
  type Client,
  constants,
  daysAgo,
  deletedMax,
  deleteInBatches,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { deliveryEnds } from './agreements/domain.ts'
import { finalStatuses } from './domain.ts'
import type { IdPrefix } from './ids.ts'

const everyMs = 6 * 3_600_000

type Sagas = 'drex_transfers' | 'drex_operations' | 'drex_agreements'

/**
 * Deletes transfers, operations and deliveries whose steps have all ended before the retention, with their steps, calls
 * that belong to none, and movements. What made a contract stays with it, and so do liens.
 */
export const forgetDrex = async (sql: Client, days: number, round?: Round): Promise<number> => {
  const before = await daysAgo(sql, days)
  // An id is a prefix and the moment of its making.
  const bound = uuidBound(before).replaceAll('-', '')
  const isOver = sql`
    status in (${constants(sql, finalStatuses)})
    and coalesce(settled_at, created_at) < ${before}`
  /** With all their steps. @param prefix of their ids */
  const sagas =
    (table: Sagas, prefix: IdPrefix, ended = sql`true`) =>
    async () => {
      const [row] = await sql<{ count: number }[]>`
      with over as materialized (
        select f.id from ${sql(table)} f
        where f.id < ${`${prefix}_${bound}`} and ${ended} and not exists (
          select from drex_transactions where subject = f.id and not (${isOver}))
        order by f.id limit ${deletedMax} for update skip locked
      ), steps as (
        delete from drex_transactions t using over where t.subject = over.id returning t.id
      ), attempts as (
        delete from drex_attempts a using steps where a.transaction_id = steps.id
      ), corrections as (
        delete from drex_corrections c using steps where c.transaction_id = steps.id
      ), told as (
        delete from drex_agreement_events e using over where e.agreement_id = over.id
      ), gone as (
        delete from ${sql(table)} f using over where f.id = over.id returning f.id
      )
      select count(*)::int as count from gone`
      return row?.count ?? 0
    }
  const transfers = await deleteInBatches(sagas('drex_transfers', 'trf'), round)
  const operations = await deleteInBatches(sagas('drex_operations', 'opr'), round)
  const isOverDelivery = sql`
    f.kind = 'delivery' and f.status in (${constants(sql, deliveryEnds)})
    and f.changed_at < ${before}`
  const deliveries = await deleteInBatches(sagas('drex_agreements', 'dlv', isOverDelivery), round)
  const calls = await deleteInBatches(async () => {
    const [row] = await sql<{ count: number }[]>`
      with over as materialized (
        select id from drex_transactions
        where kind in ('call', 'gas', 'gap_fill') and created_at < ${before} and ${isOver}
          and left(subject, 4) not in ('opr_', 'dlv_', 'lin_')
        limit ${deletedMax} for update skip locked
      ), attempts as (
        delete from drex_attempts a using over where a.transaction_id = over.id
      ), corrections as (
        delete from drex_corrections c using over where c.transaction_id = over.id
      ), gone as (
        delete from drex_transactions t using over where t.id = over.id returning t.id
      )
      select count(*)::int as count from gone`
    return row?.count ?? 0
  }, round)
  return transfers + operations + deliveries + calls + (await forgetMovements(sql, before, round))
}

/** The last movement of each wallet stays, because it holds the balance. */
const forgetMovements = (sql: Client, before: Date, round?: Round): Promise<number> =>
  deleteInBatches(async () => {
    const gone = await sql`
      delete from drex_movements where id in (
        select m.id from drex_movements m
        where m.booked_at < ${before.toISOString()}::timestamptz and not exists (
          select from drex_holdings h where h.network = m.network and h.token = m.token
            and h.wallet = m.wallet and h.moved_block = m.block_number and m.removed_at is null)
        order by m.booked_at limit ${deletedMax} for update skip locked
      )`
    return gone.count
  }, round)

export const createDrexRetention = (sql: Client, days: number, logger: Logger): Job =>
  createJob({
    name: 'old transfers',
    everyMs,
    fleet: { sql },
    logger,
    run: (round) => forgetDrex(sql, days, round),
  })
