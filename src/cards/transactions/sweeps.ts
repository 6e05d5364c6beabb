/** The rows that sweeps look for; each sweep skips rows that another has locked. */
import { constants, type Queryable } from '#src/platform/database/index.ts'
import { recordOf } from '../columns.ts'
import { heldOperations, restored } from './resolutions.ts'
import { type CardTransaction, selectedColumns, type TransactionRow } from './store.ts'

/** By network: what is on the wire for longer has no sender any more; of a network without one, the longest counts. */
export type AgesMs = ReadonlyMap<string, number>

/**
 * Locks transactions on the wire for longer than they may be, by the database's clock: their sender is gone. Other
 * sweeps skip them.
 */
export const lockAbandoned = async (
  tx: Queryable,
  agesMs: AgesMs,
  limit: number,
): Promise<readonly CardTransaction[]> => {
  const rows = await tx<TransactionRow[]>`
    select ${tx(selectedColumns)} from card_transactions t
    where ${abandoned(tx, agesMs)}
    order by touched_at limit ${limit} for update skip locked`
  return rows.map(recordOf)
}

/** True when {@link lockAbandoned} would find one that nobody else works on. */
export const hasAbandoned = async (sql: Queryable, agesMs: AgesMs): Promise<boolean> => {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from card_transactions where ${abandoned(sql, agesMs)} order by touched_at limit 1
    ) as found`
  return row?.found === true
}

/** On the wire or being told, and not held for a person. */
const underWay = (sql: Queryable) =>
  sql`(status = 'pending' or operation is not null) and reason is distinct from ${restored}`

const abandoned = (sql: Queryable, agesMs: AgesMs) => {
  const all = [...agesMs.values()]
  const byNetwork = JSON.stringify(Object.fromEntries(agesMs))
  // The shortest one first, which the index knows.
  return sql`
  ${underWay(sql)}
  and (case when operation like 'reversing%' or operation like 'advising%' then 1 else 0 end) = 0
  and touched_at < now() - make_interval(secs => ${Math.min(...all) / 1_000})
  and touched_at < now() - make_interval(
    secs => coalesce((${byNetwork}::text::json ->> network)::float8, ${Math.max(...all)}::float8) / 1000)`
}

/** Locks what a copy has on the wire, and may have gone on in the book that it was taken of. */
export const lockUnheld = async (
  tx: Queryable,
  limit: number,
): Promise<readonly CardTransaction[]> => {
  const rows = await tx<TransactionRow[]>`
    select ${tx(selectedColumns)} from card_transactions t
    where ${underWay(tx)}
      and coalesce(operation, 'authorization') in (${constants(tx, ['authorization', ...heldOperations])})
    order by touched_at limit ${limit} for update`
  return rows.map(recordOf)
}

/**
 * Locks what is authorized for longer than `ageHours`, by the database's clock, and neither captured for good nor under
 * way. What somebody decided to keep after it expired stays. Other sweeps skip them.
 */
export const lockExpired = async (
  tx: Queryable,
  network: string,
  ageHours: number,
  limit: number,
): Promise<readonly CardTransaction[]> => {
  const rows = await tx<TransactionRow[]>`
    select ${tx(selectedColumns)} from card_transactions t
    where network = ${network} and status = 'authorized' and operation is null
      and created_at < now() - make_interval(hours => ${ageHours}::int)
      and reason is distinct from 'expired'
    order by created_at limit ${limit} for update skip locked`
  return rows.map(recordOf)
}
