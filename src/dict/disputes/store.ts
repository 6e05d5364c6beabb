import { disputeRoles, disputeStatuses } from '#src/events/index.ts'
import { type Client, constants, type Queryable } from '#src/platform/database/index.ts'
import { agePageOf } from '../pages.ts'
import type { DisputeRow } from '../types.ts'
import { type Dispute, type DisputeFilter, type DisputeKind, unansweredStatuses } from './domain.ts'

const disputeOf = <D extends Dispute>({ content, wanted, ...row }: DisputeRow): D =>
  ({
    ...row,
    content: JSON.parse(content) as unknown,
    wanted: wanted === null ? null : (JSON.parse(wanted) as unknown),
  }) as D

const columns = (sql: Queryable) => sql`
  id, directory_id as "directoryId", role, status, transaction_id as "transactionId", reason, other,
  content, wanted, refusal, return_id as "returnId", returned_at as "returnedAt",
  created_by as "createdBy", created_at as "createdAt", modified_at as "modifiedAt"`

/** @returns false: there is one already, under its id there or as one that goes on about the payment */
export const addDispute = async (
  tx: Queryable,
  kind: DisputeKind,
  made: Dispute,
): Promise<boolean> => {
  const { count } = await tx`
    insert into dict_disputes (id, kind, directory_id, role, status, transaction_id, reason, other,
      content, wanted, refusal, return_id, created_by, created_at, modified_at, tried_at)
    values (${made.id}, ${kind}, ${made.directoryId}, ${made.role}, ${made.status},
      ${made.transactionId}, ${made.reason}, ${made.other}, ${JSON.stringify(made.content)},
      ${made.wanted && JSON.stringify(made.wanted)}, ${made.refusal}, ${made.returnId},
      ${made.createdBy}, ${made.createdAt}, ${made.modifiedAt}, clock_timestamp())
    on conflict do nothing`
  return count > 0
}

/** Writes what may change. Lock it before. */
export const changeDispute = async (tx: Queryable, after: Dispute): Promise<void> => {
  await tx`
    update dict_disputes set directory_id = ${after.directoryId}, status = ${after.status},
      other = ${after.other}, content = ${JSON.stringify(after.content)},
      wanted = ${after.wanted && JSON.stringify(after.wanted)}, refusal = ${after.refusal},
      return_id = ${after.returnId}, returned_at = ${after.returnedAt},
      modified_at = ${after.modifiedAt}, tried_at = clock_timestamp()
    where id = ${after.id}::uuid`
}

/** The one of an id, by which alone it is looked for: see {@link ofPayment}. */
const named = (sql: Queryable, id: string) => sql`(
  select * from dict_disputes where id = ${id}::uuid offset 0) named`

export const findDispute = async <D extends Dispute>(
  sql: Queryable,
  kind: DisputeKind,
  id: string,
): Promise<D | undefined> => {
  const [row] = await sql<DisputeRow[]>`
    select ${columns(sql)} from ${named(sql, id)} where kind = ${kind}`
  return row && disputeOf<D>(row)
}

/** Locks it until the transaction ends. */
export const lockDispute = async <D extends Dispute>(
  tx: Queryable,
  kind: DisputeKind,
  id: string,
): Promise<D | undefined> => {
  const [row] = await tx<DisputeRow[]>`
    select ${columns(tx)} from dict_disputes
    where id = (select id from ${named(tx, id)} where kind = ${kind}) for update`
  return row && disputeOf<D>(row)
}

/** How far our clock and the directory's may be apart. */
export const clocksMs = 300_000

/** Whether we have the one that the directory has given this id. */
export const isShown = async (
  sql: Queryable,
  kind: DisputeKind,
  directoryId: string,
): Promise<boolean> => {
  const rows = await sql`
    select 1 from dict_disputes where kind = ${kind} and directory_id = ${directoryId}::uuid`
  return rows.length > 0
}

/** By its id there; else the one of ours that waits for an answer about the same matter. Locks it. */
export const lockShown = async <D extends Dispute>(
  tx: Queryable,
  kind: DisputeKind,
  seen: Pick<Dispute, 'transactionId' | 'reason' | 'role' | 'createdAt'> & {
    readonly directoryId: string
  },
): Promise<D | undefined> => {
  const { directoryId, transactionId, reason, role, createdAt } = seen
  const [known] = await tx<DisputeRow[]>`
    select ${columns(tx)} from dict_disputes
    where kind = ${kind} and directory_id = ${directoryId}::uuid for update`
  if (known !== undefined) return disputeOf<D>(known)
  // Made before we asked, it is another one.
  const askedUntil = new Date(createdAt.getTime() + clocksMs)
  const isIt = tx`directory_id is null and status = 'requested' and reason = ${reason} and role = ${role}
      and created_at <= ${askedUntil}`
  // A transaction has few; each is then locked by its key, which is found by the index whatever the plan was made of.
  const asked = await tx<{ id: string }[]>`
    select id from ${ofPayment(tx, transactionId)} where kind = ${kind} order by id`
  for (const { id } of asked) {
    const [row] = await tx<DisputeRow[]>`
      select ${columns(tx)} from dict_disputes where id = ${id} and ${isIt} for update`
    if (row !== undefined) return disputeOf<D>(row)
  }
  return undefined
}

/** Newest first. */
export const listDisputes = async <D extends Dispute>(
  sql: Queryable,
  kind: DisputeKind,
  { transactionId, ...filter }: DisputeFilter,
): Promise<readonly D[]> => {
  const disputes = {
    columns: columns(sql),
    table: sql`dict_disputes`,
    isOne: sql`kind = ${kind}`,
    few: transactionId === undefined ? undefined : ofPayment(sql, transactionId),
    waits: waiting(sql),
    roles: disputeRoles,
    statuses: disputeStatuses,
  }
  return (await agePageOf<DisputeRow>(sql, disputes, filter)).map((row) => disputeOf<D>(row))
}

/**
 * The few of a payment. Only one index has its id first; asked for the kind at once, a plan that is made while the table
 * is empty may take another and look at all of the kind.
 */
const ofPayment = (sql: Queryable, transactionId: string) => sql`(
  select * from dict_disputes where transaction_id = ${transactionId} offset 0) of_payment`

/** The condition in the words of its index. */
const waiting = (sql: Queryable) => sql`
  wanted is null and role = 'asked' and status in (${constants(sql, unansweredStatuses)})`

/** Some that wait for the directory, or for money, and were not tried for so long. */
export const openDisputes = async (
  sql: Client,
  kind: DisputeKind,
  quietMs: number,
  limit: number,
): Promise<readonly { readonly id: string }[]> => sql<{ id: string }[]>`
  select id from dict_disputes
  where kind = ${kind} and tried_at < now() - make_interval(secs => ${quietMs / 1_000})
    and (status = 'requested' or wanted is not null
      or (role = 'asking' and return_id is not null and returned_at is null
        and modified_at > now() - interval '30 days'))
  order by tried_at limit ${limit}`

/** Whether another one about the payment is in one of these states. */
export const isDisputed = async (
  sql: Queryable,
  kind: DisputeKind,
  { id, transactionId }: Pick<Dispute, 'id' | 'transactionId'>,
  statuses: readonly Dispute['status'][],
  roles: readonly Dispute['role'][],
): Promise<boolean> => {
  const rows = await sql`
    select from ${ofPayment(sql, transactionId)}
    where kind = ${kind} and id <> ${id}::uuid and role in (${constants(sql, roles)})
      and status in (${constants(sql, statuses)}) limit 1`
  return rows.length > 0
}

/** A request to make one. @property before when the one was sent before it that may have made it, at the latest */
type Telling = { readonly at: Date; readonly before: Date; readonly isFirst: boolean }

/** Notes that the directory is about to be told. @returns undefined: it is asked for no more */
export const noteTelling = async (sql: Queryable, id: string): Promise<Telling | undefined> => {
  const [noted] = await sql<Telling[]>`
    update dict_disputes d
    set told_at = date_trunc('milliseconds', clock_timestamp()), tried_at = clock_timestamp()
    from (select status, told_at, tried_at from dict_disputes where id = ${id}::uuid for update) former
    where d.id = ${id}::uuid and former.status = 'requested'
    returning d.told_at as at, coalesce(former.told_at, former.tried_at) as before,
      former.told_at is null as "isFirst"`
  return noted
}

/** It has made nothing: the one before it is the last again that may have, unless another has been sent since. */
export const undoTelling = async (
  sql: Queryable,
  id: string,
  { at, before }: Telling,
): Promise<void> => {
  await sql`
    update dict_disputes set told_at = ${before} where id = ${id}::uuid and told_at = ${at}`
}

/** Whether the last request that may have made it was longer ago. */
export const wasToldBefore = async (sql: Queryable, id: string, ms: number): Promise<boolean> => {
  const rows = await sql`
    select from dict_disputes
    where id = ${id}::uuid and told_at < clock_timestamp() - make_interval(secs => ${ms / 1_000})`
  return rows.length > 0
}

/** It was tried now. */
export const touchDispute = async (sql: Queryable, id: string): Promise<void> => {
  await sql`update dict_disputes set tried_at = clock_timestamp() where id = ${id}::uuid`
}
