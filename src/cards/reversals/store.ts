import {
  type Client,
  looksLikeOne,
  type Queryable,
  rowCount,
  textArray,
} from '#src/platform/database/index.ts'
import { createColumns, recordOf } from '../columns.ts'
import { cardReversals } from './schema.ts'
import { engineMembers, type NewReversal, type Reversal, type ReversalOutcome } from './types.ts'

const columns = createColumns(cardReversals, engineMembers)

/** The columns that the table or an attempt fills in. */
const later: ReadonlySet<keyof Reversal> = new Set(['id', 'responseCode', 'doneAt', 'createdAt'])
const given = columns.all.filter((member) => !later.has(member))

const texts = {
  selected: columns.selected('r'),
  givenDeclared: columns.declared(given),
  givenNames: columns.names(given),
  givenMembers: columns.members(given),
}

/**
 * What was never sent is due before all repeats: those of an issuer that does not answer would keep the money of others
 * on hold. No repeat waits for longer, as none lives for longer.
 */
const aheadHours = 720
const beforeRepeats = (sql: Queryable) => sql`now() - make_interval(hours => ${aheadHours}::int)`

/** Inserts reversals within the caller's transaction, in one statement. Skips those that are pending already. */
export const insertReversals = async (
  tx: Queryable,
  rows: readonly NewReversal[],
): Promise<void> => {
  if (rows.length === 0) return
  const input = rows.map((row, index) => ({ index, ...columns.json(row, given) }))
  await tx`
    insert into card_reversals (${tx(texts.givenNames)}, next_attempt_at)
    select ${tx(texts.givenMembers)}, ${beforeRepeats(tx)}
    from json_to_recordset(${JSON.stringify(input)}::text::json)
      as r(index int, ${tx(texts.givenDeclared)})
    order by index
    on conflict do nothing`
}

/** Past either limit, a reversal may no longer be tried: but what counts from before it began is tried once. */
export type Limits = { readonly expirySeconds: number; readonly attemptsMax: number }

/**
 * Claims due reversals, at most `rooms` per network, for `leaseSeconds`. Nobody else can claim them before the lease
 * ends. Takes only the oldest pending reversal of each transaction.
 */
export const claimDue = async (
  sql: Client,
  owner: string,
  rooms: ReadonlyMap<string, number>,
  leaseSeconds: number,
  { expirySeconds, attemptsMax }: Limits,
): Promise<readonly Reversal[]> => {
  const claimed = await sql<Reversal[]>`
    with due as (
      select d.id
      from unnest(${textArray([...rooms.keys()])}::text::text[], ${textArray([...rooms.values()])}::text::int[], null::text[])
        as n(network, room, nothing)
      cross join lateral (
        select w.id from card_reversals w
        where w.network = n.network and w.status = 'pending' and w.next_attempt_at <= now()
          and (w.lease_until is null or w.lease_until <= now())
          and (w.attempts < ${attemptsMax} or w.first_attempt_at is null)
          and w.created_at > now() - coalesce(make_interval(hours => w.expiry_hours), make_interval(secs => ${expirySeconds}))
          and not exists (
            select from card_reversals o
            where o.transaction_id = w.transaction_id and o.id < w.id and o.status = 'pending')
        order by w.next_attempt_at, w.id limit n.room for update skip locked
      ) d
      where ${looksLikeOne(sql)}
    )
    update card_reversals r
    set lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${leaseSeconds})
    from due where r.id = due.id
    returning ${sql(texts.selected)}`
  return claimed.map(recordOf)
}

/**
 * Stores, before the first byte, the numbers that the reversal goes out with. False if the lease was lost: then another
 * engine may be sending it.
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

/**
 * Gives the reversal back, due after `waitMs`. `isUnsent` means that the attempt wrote no byte. What was still never sent
 * stays ahead of repeats: it is leased by nobody meanwhile.
 */
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
  const dueAt = sql`now() + make_interval(secs => ${next.waitMs / 1_000})`
  const firstAt = sql`case when ${next.isUnsent}::boolean then nullif(first_attempt_at, last_attempt_at)
    else first_attempt_at end`
  await sql`
    update card_reversals set attempts = attempts - ${next.isUnsent ? 1 : 0}::int,
      first_attempt_at = ${firstAt},
      response_code = coalesce(${next.responseCode ?? null}, response_code),
      next_attempt_at = case when ${firstAt} is null then ${beforeRepeats(sql)} else ${dueAt} end,
      lease_owner = null, lease_until = case when ${firstAt} is null then ${dueAt} end
    where id = ${id} and status = 'pending' and lease_owner = ${owner}`
}

/**
 * Ends what is leased; false if the owner has lost it, or it is younger than `ageMsMin`. `isDone` means that the network
 * has said so.
 */
export const endOwned = async (
  tx: Queryable,
  id: bigint,
  owner: string,
  end: {
    readonly responseCode: string
    readonly ageMsMin: number
    readonly status: ReversalOutcome
    readonly isDone: boolean
  },
): Promise<boolean> =>
  (
    await tx`
      update card_reversals set status = ${end.status}, response_code = ${end.responseCode},
        done_at = case when ${end.isDone}::boolean then now() else done_at end,
        ended_at = now(), lease_owner = null, lease_until = null
      where id = ${id} and status = 'pending' and lease_owner = ${owner}
        and created_at <= now() - make_interval(secs => ${end.ageMsMin / 1_000})`
  ).count === 1

/** Gives the reversal back, due when it is `ageMs` old. */
export const hold = async (
  sql: Client,
  id: bigint,
  owner: string,
  responseCode: string,
  ageMs: number,
): Promise<void> => {
  await sql`
    update card_reversals set response_code = ${responseCode},
      next_attempt_at = greatest(now(), created_at + make_interval(secs => ${ageMs / 1_000})),
      lease_owner = null, lease_until = null
    where id = ${id} and status = 'pending' and lease_owner = ${owner}`
}

/**
 * Has the reversal of an original sent soon, within the caller's transaction: as a repeat, with as many attempts as one
 * that was sent once, and one that ended with as much time as a new one; where there is none it is inserted. An attempt
 * under way decides nothing any more: its answer may be older than what has come meanwhile.
 */
export const renewReversal = async (tx: Queryable, reversal: NewReversal): Promise<void> => {
  const renewed = await tx`
    update card_reversals
    set status = 'pending', ended_at = null, next_attempt_at = ${beforeRepeats(tx)},
      lease_owner = null, lease_until = null,
      created_at = case status when 'pending' then created_at else now() end,
      attempts = least(attempts, 1), first_attempt_at = null
    where id = (
      select max(id) from card_reversals
      where transaction_id = ${reversal.transactionId} and reverses = ${reversal.reverses}
        and original_stan = ${reversal.originalStan}
        and original_transmission = ${reversal.originalTransmission})`
  if (renewed.count === 0) await insertReversals(tx, [reversal])
}

const isOver = (sql: Queryable, { expirySeconds, attemptsMax }: Limits) => sql`
  status = 'pending' and (lease_until is null or lease_until <= now())
    and ((attempts >= ${attemptsMax} and first_attempt_at is not null) or created_at <= now()
      - coalesce(make_interval(hours => expiry_hours), make_interval(secs => ${expirySeconds})))`

/**
 * Reversals that may no longer be tried and that nobody works on, at most `limit` past each of their limits. Each has an
 * index of its own, so that what waits within them is not read.
 */
export const findOver = async (
  sql: Client,
  { expirySeconds, attemptsMax }: Limits,
  limit: number,
): Promise<readonly Reversal[]> => {
  const givenUpAt = sql`((created_at at time zone 'UTC') + make_interval(hours => expiry_hours))`
  const ways = [
    sql`expiry_hours is null and created_at <= now() - make_interval(secs => ${expirySeconds})
      order by created_at`,
    sql`expiry_hours is not null and ${givenUpAt} <= (now() at time zone 'UTC') order by ${givenUpAt}`,
    sql`first_attempt_at is not null and attempts >= ${attemptsMax} order by attempts`,
  ]
  const found: Reversal[] = []
  for (const way of ways) {
    const rows = await sql<Reversal[]>`
      select ${sql(texts.selected)} from card_reversals r
      where status = 'pending' and (lease_until is null or lease_until <= now()) and ${way}
      limit ${rowCount(sql, limit)}`
    found.push(...rows.map(recordOf))
  }
  return found
}

/** Ends a reversal that is still over its limits; undefined if it is not, or another process is ending it. */
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
    returning ${tx(texts.selected)}`
  return expired && recordOf(expired)
}

/** Whether the network has taken the advice of an original, by its answer or as a person has learnt. */
export const isAdviceTaken = async (
  tx: Queryable,
  {
    transactionId,
    originalStan,
    originalTransmission,
  }: Pick<Reversal, 'transactionId' | 'originalStan' | 'originalTransmission'>,
): Promise<boolean> => {
  const found = await tx`
    select from card_reversals
    where transaction_id = ${transactionId} and ${isAdviceRow(tx)} and stan = ${originalStan}
      and transmission = ${originalTransmission} and status in ('confirmed', 'resolved') limit 1`
  return found.length > 0
}

/** Whether a reversal of the transaction was given up, and nobody has asked the network about it. */
export const isUnresolved = async (tx: Queryable, transactionId: string): Promise<boolean> => {
  const found = await tx`
    select from card_reversals where transaction_id = ${transactionId} and status = 'expired' limit 1`
  return found.length > 0
}

/** Whether a reversal or advice of that kind is still sent; with DE 11 of the original, that of no other. */
export const isSent = async (
  tx: Queryable,
  transactionId: string,
  reverses: NewReversal['reverses'],
  originalStan: string | undefined,
): Promise<boolean> => {
  const found = await tx`
    select from card_reversals
    where transaction_id = ${transactionId} and reverses = ${reverses} and status = 'pending'
      ${originalStan === undefined ? tx`` : tx`and original_stan = ${originalStan}`} limit 1`
  return found.length > 0
}

/** Ends the advices of what the network refuses altogether, and what would take back a part of it. */
export const dropAdvices = async (tx: Queryable, transactionId: string): Promise<void> => {
  await tx`
    update card_reversals set status = 'refused', ended_at = now()
    where transaction_id = ${transactionId} and status = 'pending'
      and (${isAdviceRow(tx)} or reverses = 'partial_void')`
}

/** A person has asked the network about all that were given up. */
export const resolveReversals = async (tx: Queryable, transactionId: string): Promise<void> => {
  await tx`
    update card_reversals set status = 'resolved'
    where transaction_id = ${transactionId} and status = 'expired'`
}

/** For each network, the number of pending reversals and of pending advices, and the age of the oldest. */
export const pendingByNetwork = (
  sql: Client,
): Promise<
  readonly {
    readonly network: string
    readonly isAdvice: boolean
    readonly count: number
    readonly ageSeconds: number
  }[]
> =>
  sql`
    select network, ${isAdviceRow(sql)} as "isAdvice", count(*)::int as count,
      extract(epoch from now() - min(created_at))::float8 as "ageSeconds"
    from card_reversals where status = 'pending' group by 1, 2`

/** Whether a row of `card_reversals` is an advice. */
export const isAdviceRow = (sql: Queryable) => sql`reverses like '%\\_advice'`
