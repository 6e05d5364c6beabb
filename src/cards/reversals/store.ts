import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import type { NewReversal, Reversal } from './types.ts'

/**
 * Commits reversals with whatever else the transaction does, all in one statement. One that is pending already
 * is not entered again.
 */
export const insertReversals = async (
  tx: Queryable,
  rows: readonly NewReversal[],
): Promise<void> => {
  if (rows.length === 0) return
  const given = rows.map((row, index) => ({
    index,
    transaction_id: row.transactionId,
    network: row.network,
    reverses: row.reverses,
    card_token: row.cardToken,
    amount_cents: String(row.amountCents),
    currency: row.currency,
    original_mti: row.originalMti,
    original_stan: row.originalStan,
    original_transmission: row.originalTransmission,
    rrn: row.rrn,
    auth_code: row.authCode ?? null,
    merchant_id: row.merchantId,
    terminal_id: row.terminalId ?? null,
    traceparent: row.traceparent ?? null,
  }))
  await tx`
    insert into card_reversals (transaction_id, network, reverses, card_token, amount_cents, currency,
      original_mti, original_stan, original_transmission, rrn, auth_code, merchant_id, terminal_id,
      traceparent)
    select transaction_id, network, reverses, card_token, amount_cents, currency, original_mti,
      original_stan, original_transmission, rrn, auth_code, merchant_id, terminal_id, traceparent
    from json_to_recordset(${JSON.stringify(given)}::text::json) as r(index int, transaction_id text,
      network text, reverses text, card_token text, amount_cents bigint, currency text,
      original_mti text, original_stan text, original_transmission text, rrn text, auth_code text,
      merchant_id text, terminal_id text, traceparent text)
    order by index
    on conflict do nothing`
}

const columns = (sql: Queryable) => sql`
  r.id, r.transaction_id as "transactionId", r.network, r.reverses, r.card_token as "cardToken",
  r.amount_cents as "amountCents", r.currency, r.original_mti as "originalMti",
  r.original_stan as "originalStan", r.original_transmission as "originalTransmission", r.rrn,
  r.auth_code as "authCode", r.merchant_id as "merchantId", r.terminal_id as "terminalId",
  r.traceparent,  r.attempts, r.stan, r.transmission, r.response_code as "responseCode", r.created_at as "createdAt"`

/** What may no longer be tried. */
export type Limits = { readonly expirySeconds: number; readonly attemptsMax: number }

/**
 * Takes what is due, at most `rooms` per network, for `leaseSeconds`. Nobody else gets what is taken before the
 * lease ends; of one transaction only the oldest pending one is given.
 */
export const claimDue = (
  sql: Client,
  owner: string,
  rooms: ReadonlyMap<string, number>,
  leaseSeconds: number,
  { expirySeconds, attemptsMax }: Limits,
): Promise<readonly Reversal[]> =>
  sql<Reversal[]>`
    with due as (
      select d.id
      from unnest(${textArray([...rooms.keys()])}::text::text[], ${textArray([...rooms.values()])}::text::int[])
        as n(network, room)
      cross join lateral (
        select w.id from card_reversals w
        where w.network = n.network and w.status = 'pending' and w.next_attempt_at <= now()
          and (w.lease_until is null or w.lease_until <= now())
          and w.attempts < ${attemptsMax}
          and w.created_at > now() - make_interval(secs => ${expirySeconds})
          and not exists (
            select from card_reversals o
            where o.transaction_id = w.transaction_id and o.id < w.id and o.status = 'pending')
        order by w.next_attempt_at, w.id limit n.room for update skip locked
      ) d
    )
    update card_reversals r
    set lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${leaseSeconds})
    from due where r.id = due.id
    returning ${columns(sql)}`

/**
 * Notes, before the first byte, that the reversal goes out with these numbers. False when the lease was lost: then
 * somebody else may be sending it.
 */
export const beginAttempt = async (
  sql: Client,
  id: bigint,
  owner: string,
  { stan, transmission }: { readonly stan: string; readonly transmission: string },
  leaseSeconds: number,
): Promise<boolean> =>
  (
    await sql`
      update card_reversals set attempts = attempts + 1, stan = ${stan}, transmission = ${transmission},
        first_attempt_at = coalesce(first_attempt_at, now()), last_attempt_at = now(),
        lease_until = now() + make_interval(secs => ${leaseSeconds})
      where id = ${id} and status = 'pending' and lease_owner = ${owner} and lease_until > now()`
  ).count === 1

/** Gives the reversal back, due after `waitMs`. `isUnsent`: the attempt that was begun wrote no byte. */
export const release = async (
  sql: Client,
  id: bigint,
  owner: string,
  next: {
    readonly waitMs: number
    readonly isUnsent: boolean
    readonly responseCode: string | undefined
  },
): Promise<void> => {
  await sql`
    update card_reversals set attempts = attempts - ${next.isUnsent ? 1 : 0}::int,
      response_code = coalesce(${next.responseCode ?? null}, response_code),
      next_attempt_at = now() + make_interval(secs => ${next.waitMs / 1_000}),
      lease_owner = null, lease_until = null
    where id = ${id} and status = 'pending' and lease_owner = ${owner}`
}

/** Ends the reversal; false when it is not the owner's any more. */
export const confirm = async (
  tx: Queryable,
  id: bigint,
  owner: string,
  responseCode: string,
): Promise<boolean> =>
  (
    await tx`
      update card_reversals set status = 'confirmed', response_code = ${responseCode},
        ended_at = now(), lease_owner = null, lease_until = null
      where id = ${id} and status = 'pending' and lease_owner = ${owner}`
  ).count === 1

const isOver = (sql: Queryable, { expirySeconds, attemptsMax }: Limits) => sql`
  status = 'pending' and (lease_until is null or lease_until <= now())
    and (attempts >= ${attemptsMax} or created_at <= now() - make_interval(secs => ${expirySeconds}))`

/** What may no longer be tried and nobody works on; the oldest, at most `limit`. */
export const findOver = async (
  sql: Client,
  limits: Limits,
  limit: number,
): Promise<readonly bigint[]> => {
  const rows = await sql<{ id: bigint }[]>`
    select id from card_reversals where ${isOver(sql, limits)} order by id limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Ends one that is still over; undefined when it is not, or somebody else just does it. */
export const expire = async (
  tx: Queryable,
  id: bigint,
  limits: Limits,
): Promise<Reversal | undefined> => {
  const [expired] = await tx<Reversal[]>`
    update card_reversals r
    set status = 'expired', ended_at = now(), lease_owner = null, lease_until = null
    where id = (
      select id from card_reversals where id = ${id} and ${isOver(tx, limits)} for update skip locked)
    returning ${columns(tx)}`
  return expired
}

/** What is pending by network: how many, and since when the oldest. */
export const pendingByNetwork = (
  sql: Client,
): Promise<
  readonly { readonly network: string; readonly count: number; readonly ageSeconds: number }[]
> =>
  sql`
    select network, count(*)::int as count,
      extract(epoch from now() - min(created_at))::float8 as "ageSeconds"
    from card_reversals where status = 'pending' group by network`
