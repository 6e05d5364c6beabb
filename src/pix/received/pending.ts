import { listed, type Queryable, textArray } from '#src/platform/database/index.ts'
import type { PaidTo } from './domain.ts'

/** Returns those of these charges that have a payment whose end is not known yet. */
export const pendingOf = async (
  tx: Queryable,
  chargeIds: readonly string[],
): Promise<Set<string>> => {
  const rows = await tx<{ id: string }[]>`
    select id from unnest(${textArray(chargeIds)}::text::uuid[]) as wanted(id)
      cross join lateral (
        select from pix_received where charge_id = wanted.id and status = 'PENDENTE' limit 1
      ) pending`
  return new Set(rows.map(({ id }) => id))
}

/** Returns those of these payments that have no end yet and pay no immediate or due charge. */
export const pendingAmong = async (
  tx: Queryable,
  endToEndIds: readonly string[],
): Promise<readonly PaidTo[]> => {
  if (endToEndIds.length === 0) return []
  return tx<PaidTo[]>`
    select end_to_end_id as "endToEndId", account, receiver_tax_id as "receiverTaxId",
      amount_cents as "amountCents"
    from pix_received
    where end_to_end_id = any(${listed(tx, endToEndIds, 'text')})
      and status = 'PENDENTE' and charge_id is null`
}

const pendingMax = 1_000

/** Returns payments received in this time that have no end yet, the last ones if there are too many. */
export const pendingWithin = async (
  sql: Queryable,
  from: Date,
  to: Date,
): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`
    select end_to_end_id as id from pix_received
    where status = 'PENDENTE' and received_at >= ${from} and received_at < ${to}
    order by received_at desc limit ${pendingMax}`
  return rows.map(({ id }) => id)
}

/** Behind a payment that was begun at a moment: many may be begun at the same. */
type BegunPlace = { readonly at: Date; readonly id: string }

/**
 * Returns payments without an end, and those with a return without one, that were begun behind a place and before a
 * moment, the oldest first.
 *
 * @returns `next`: where to go on; undefined if these are all
 */
export const openWithin = async (
  sql: Queryable,
  from: BegunPlace,
  to: Date,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly next: BegunPlace | undefined }> => {
  const rows = await sql<BegunPlace[]>`
    select id, at from (
      (select end_to_end_id as id, received_at as at from pix_received
        where status = 'PENDENTE' and received_at >= ${from.at} and received_at < ${to}
          and (received_at, end_to_end_id) > (${from.at}, ${from.id})
        order by received_at, end_to_end_id limit ${limit})
      union all
      (select end_to_end_id as id, requested_at as at from pix_returns
        where status = 'EM_PROCESSAMENTO' and requested_at >= ${from.at} and requested_at < ${to}
          and (requested_at, end_to_end_id) > (${from.at}, ${from.id})
        order by requested_at, end_to_end_id limit ${limit})
    ) begun
    order by at, id limit ${limit}`
  return {
    ids: [...new Set(rows.map(({ id }) => id))],
    next: rows.length < limit ? undefined : rows.at(-1),
  }
}
