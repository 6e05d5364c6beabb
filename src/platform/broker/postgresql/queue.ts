import { type Queryable, rowCount, textArray } from '#src/platform/database/index.ts'
import type { Delivery } from '../types.ts'
import { publishedOf } from './kept.ts'
import type { OwnedLane } from './owned-lane.ts'

/*
 * Every statement names its rows by ranges or values of the primary key, one lane at a time in its order and up to a
 * limit that the planner does not know: only one plan is left, whatever the server believes of the size of the table.
 */

export type QueuedRow = {
  readonly id: bigint
  readonly topic: string
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly value: Uint8Array
  readonly publishedAt: Date
  readonly attempt: number
}

/** Ids of a lane between these, both excluded. */
export type Range = { readonly low: bigint; readonly high: bigint }

const idsOf = (ids: readonly bigint[]): string => textArray(ids)

/**
 * Bytes that a batch of a lane holds, as they are kept and as they are handed out. Its last value may go beyond, so
 * that even the largest goes, alone.
 */
export const batchBytesMax = 2 * 1024 * 1024

/** The first rows of each range, in order, as many as a batch holds. The length of a value is known without reading it. */
export const fetchRows = (
  sql: Queryable,
  ranges: readonly Range[],
  limit: number,
): Promise<readonly QueuedRow[]> => sql<QueuedRow[]>`
  select row.* from unnest(${idsOf(ranges.map(({ low }) => low))}::text::bigint[],
    ${idsOf(ranges.map(({ high }) => high))}::text::bigint[]) as lane(low, high)
  cross join lateral (
    select id, topic, key, headers, value, published_at as "publishedAt", attempt from (
      select *, sum(octet_length(value)) over (order by id rows unbounded preceding)
        - octet_length(value) as before
      from (
        select * from broker_queue where id > lane.low and id < lane.high
        order by id limit ${rowCount(sql, limit)}
      ) first
    ) summed
    where before < ${batchBytesMax}
  ) row`

/** The first row of each range that has one. */
export const findFirst = async (
  sql: Queryable,
  ranges: readonly Range[],
): Promise<readonly bigint[]> => {
  const rows = await sql<{ id: bigint }[]>`
    select row.id from unnest(${idsOf(ranges.map(({ low }) => low))}::text::bigint[],
      ${idsOf(ranges.map(({ high }) => high))}::text::bigint[]) as range(low, high)
    cross join lateral (
      select id from broker_queue where id > range.low and id < range.high order by id limit 1
    ) row`
  return rows.map(({ id }) => id)
}

/** @returns how many were there */
export const deleteRows = async (sql: Queryable, ids: readonly bigint[]): Promise<number> => {
  const deleted = await sql`
    delete from broker_queue where id = any(${idsOf(ids)}::text::bigint[])`
  return deleted.count
}

/** The rows that are still there. */
export const findRemaining = async (
  sql: Queryable,
  ids: readonly bigint[],
): Promise<ReadonlySet<bigint>> => {
  const rows = await sql<{ id: bigint }[]>`
    select id from broker_queue where id = any(${idsOf(ids)}::text::bigint[])`
  return new Set(rows.map(({ id }) => id))
}

export const setAttempt = async (sql: Queryable, id: bigint, attempt: number): Promise<void> => {
  await sql`update broker_queue set attempt = ${attempt} where id = ${id}`
}

export const countAttempts = async (sql: Queryable, ids: readonly bigint[]): Promise<void> => {
  await sql`
    update broker_queue set attempt = attempt + 1 where id = any(${idsOf(ids)}::text::bigint[])`
}

export const deliveryOf = (
  { id, key, attempt, headers, value, ...row }: QueuedRow,
  { partition }: OwnedLane,
): Delivery => ({
  ...row,
  ...publishedOf(value, headers ?? {}),
  partition,
  offset: id,
  key: key ?? undefined,
  attempt: attempt + 1,
})
