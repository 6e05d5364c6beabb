import {
  constants,
  looksLikeOne,
  type Queryable,
  rowCount,
  textArray,
} from '#src/platform/database/index.ts'
import { ofTxid } from '../charges/store.ts'
import {
  countOf,
  fewestFirst,
  itemsMax,
  type Listed,
  type ListRequest,
  type Narrowing,
  narrowedBy,
  pageOf,
  tooMany,
} from '../pages.ts'
import { type Attempt, type Collection, type CollectionStatus, openStatuses } from './domain.ts'

type Row = Omit<Collection, 'content' | 'history' | 'ending' | 'attempts'> & {
  readonly content: string
  readonly history: string
  readonly ending: string | null
}

type AttemptRow = Omit<Attempt, 'history'> & {
  readonly account: string
  readonly txid: string
  readonly history: string
}

const columns = (sql: Queryable) => sql`
  c.account, c.txid, c.recurrence_id as "recurrenceId", c.tax_id as "taxId", c.status,
  c.due_on as "dueOn", c.cycle, c.amount_cents as "amountCents", c.content, c.history, c.ending,
  c.next_at as "nextAt", c.created_at as "createdAt"`

/** The collections with their attempts. */
const whole = async (sql: Queryable, rows: readonly Row[]): Promise<readonly Collection[]> => {
  if (rows.length === 0) return []
  const wanted = JSON.stringify(rows.map(({ account, txid }) => ({ account, txid })))
  const attempts = await sql<AttemptRow[]>`
    select a.account, a.txid, a.end_to_end_id as "endToEndId", a.kind,
      a.settles_on as "settlesOn", a.status, a.reason, a.history
    from json_to_recordset(${wanted}::text::json) as r(account text, txid text)
      join pix_collection_attempts a on a.account = r.account and a.txid = r.txid
    order by a.account, a.txid, a.position`
  return rows.map((row) => ({
    ...row,
    content: JSON.parse(row.content) as Collection['content'],
    history: JSON.parse(row.history) as Collection['history'],
    ending: row.ending === null ? null : (JSON.parse(row.ending) as Collection['ending']),
    attempts: attempts
      .filter(({ account, txid }) => account === row.account && txid === row.txid)
      .map(({ account: _, txid: __, history, ...attempt }) => ({
        ...attempt,
        history: JSON.parse(history) as Attempt['history'],
      })),
  }))
}

/** @returns false: the txid, or the cycle of the recurrence, is taken */
export const addCollection = async (tx: Queryable, made: Collection): Promise<boolean> => {
  const { count } = await tx`
    insert into pix_collections (account, txid, recurrence_id, agreement, tax_id, status, due_on,
      cycle, amount_cents, content, history, ending, next_at, created_at)
    values (${made.account}, ${made.txid}, ${made.recurrenceId},
      coalesce((select agreement from pix_recurrences where id = ${made.recurrenceId} limit 1), ''),
      ${made.taxId}, ${made.status},
      ${made.dueOn}, ${made.cycle}, ${made.amountCents}, ${JSON.stringify(made.content)},
      ${JSON.stringify(made.history)}, null, ${made.nextAt}, ${made.createdAt})
    on conflict do nothing`
  if (count === 0) return false
  await writeAttempts(tx, made)
  return true
}

/** Writes what may change. */
export const changeCollection = async (tx: Queryable, after: Collection): Promise<void> => {
  const { account, txid, status, history, ending, nextAt } = after
  await tx`
    update pix_collections set status = ${status}, history = ${JSON.stringify(history)},
      ending = ${ending && JSON.stringify(ending)}, next_at = ${nextAt}
    where account = ${account} and txid = ${txid}`
  await writeAttempts(tx, after)
}

const writeAttempts = async (
  tx: Queryable,
  { account, txid, attempts }: Collection,
): Promise<void> => {
  if (attempts.length === 0) return
  const rows = attempts.map((attempt, position) => ({
    ...attempt,
    history: JSON.stringify(attempt.history),
    position,
  }))
  await tx`
    insert into pix_collection_attempts (end_to_end_id, account, txid, position, kind, settles_on,
      status, reason, history)
    select "endToEndId", ${account}, ${txid}, position, kind, "settlesOn", status, reason, history
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r("endToEndId" text,
      position int, kind text, "settlesOn" text, status text, reason text, history text)
    on conflict (end_to_end_id) do update set status = excluded.status, reason = excluded.reason,
      history = excluded.history`
}

export const findCollection = async (
  sql: Queryable,
  account: string,
  txid: string,
): Promise<Collection | undefined> => {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from pix_collections c where ${ofTxid(sql, account, txid)}`
  return (await whole(sql, rows))[0]
}

/** Locks it until the transaction ends. Whoever changes one has locked its recurrence. */
export const lockCollection = async (
  tx: Queryable,
  account: string,
  txid: string,
): Promise<Collection | undefined> => {
  await tx`select from pix_collections where ${ofTxid(tx, account, txid)} for update`
  return findCollection(tx, account, txid)
}

/** Which of the ids belong to attempts. */
export const attemptsAmong = async (
  sql: Queryable,
  endToEndIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql<{ id: string }[]>`
    select wanted.id from unnest(${textArray(endToEndIds)}::text::text[]) as wanted(id)
      cross join lateral (
        select from pix_collection_attempts where end_to_end_id = wanted.id limit 1
      ) a`
  return new Set(rows.map(({ id }) => id))
}

/** The charges of these attempts, locked in one order. */
export const lockCollectionsOf = async (
  tx: Queryable,
  endToEndIds: readonly string[],
): Promise<readonly Collection[]> => {
  if (endToEndIds.length === 0) return []
  const rows = await tx<Row[]>`
    select ${columns(tx)} from (
      select distinct a.account, a.txid
      from unnest(${textArray(endToEndIds)}::text::text[]) as wanted(id)
        cross join lateral (
          select account, txid from pix_collection_attempts where end_to_end_id = wanted.id limit 1
        ) a
      order by a.account, a.txid offset 0
    ) of_attempts
      cross join lateral (
        select * from pix_collections
        where account = of_attempts.account and txid between of_attempts.txid and of_attempts.txid
        order by txid limit 1 for update
      ) c`
  return whole(tx, rows)
}

/** The charges of these recurrences that may still be paid, locked in one order. */
export const lockOpenCollections = async (
  tx: Queryable,
  recurrenceIds: readonly string[],
): Promise<readonly Collection[]> => {
  const rows = await tx<Row[]>`
    select ${columns(tx)} from pix_collections c
    where recurrence_id = any(${textArray(recurrenceIds)}::text::text[])
      and status in (${constants(tx, openStatuses)})
    order by account, txid for update`
  return whole(tx, rows)
}

/** Whether a charge of the recurrence counts as the one of its cycle. */
export const isCharged = async (tx: Queryable, recurrenceId: string): Promise<boolean> => {
  const { count } = await tx`
    select from pix_collections
    where recurrence_id = ${recurrenceId} and status not in ('REJEITADA', 'CANCELADA') limit 1`
  return count > 0
}

/** Whether one that was cancelled or rejected has left its cycle to another charge. */
export const isReplaced = async (
  tx: Queryable,
  { recurrenceId, cycle, status }: Collection,
): Promise<boolean> => {
  if (status !== 'REJEITADA' && status !== 'CANCELADA') return false
  const { count } = await tx`
    select from pix_collections
    where recurrence_id = ${recurrenceId} and cycle = ${cycle}
      and status not in ('REJEITADA', 'CANCELADA') limit 1`
  return count > 0
}

/** Some charges for which something is due, the longest due first. */
export const dueCollections = async (
  sql: Queryable,
  now: Date,
  limit: number,
): Promise<
  readonly { readonly account: string; readonly txid: string; readonly recurrenceId: string }[]
> => sql<{ account: string; txid: string; recurrenceId: string }[]>`
  select account, txid, recurrence_id as "recurrenceId" from pix_collections
  where next_at is not null and next_at <= ${now} order by next_at limit ${limit}`

export const postponeCollection = async (
  sql: Queryable,
  account: string,
  txid: string,
  until: Date,
): Promise<void> => {
  await sql`
    update pix_collections set next_at = ${until}
    where account = ${account} and txid = ${txid} and next_at is not null`
}

/** Whether something is due of those that wait for a recurrence: now. */
export const wakeCollections = async (
  tx: Queryable,
  recurrenceIds: readonly string[],
  at: Date,
): Promise<void> => {
  await lockOpenCollections(tx, recurrenceIds)
  await tx`
    update pix_collections set next_at = ${at}
    where recurrence_id = any(${textArray(recurrenceIds)}::text::text[]) and status = 'CRIADA'
      and next_at is not null`
}

export type CollectionFilter = ListRequest & {
  readonly recurrenceId: string | undefined
  readonly debtorTaxId: string | undefined
  readonly status: CollectionStatus | undefined
  readonly agreement: string | undefined
}

/** How many recurrences of a debtor have their charges put in one order. */
export const recurrencesMax = 1_000

const recurrencesOfDebtor = (
  sql: Queryable,
  account: string,
  { debtorTaxId = '' }: CollectionFilter,
) => sql`
  select id, agreement from pix_recurrences
  where account = ${account} and debtor_tax_id between ${debtorTaxId} and ${debtorTaxId}
  order by debtor_tax_id, created_at, id limit ${rowCount(sql, recurrencesMax + 1)}`

/** The charges of a recurrence, or of the recurrences of a debtor: each by its own index. */
const ofRecurrences = (sql: Queryable, account: string, filter: CollectionFilter) => {
  const { recurrenceId, debtorTaxId, status, agreement } = filter
  const recurrences =
    recurrenceId === undefined
      ? recurrencesOfDebtor(sql, account, filter)
      : sql`
        select id, agreement from pix_recurrences
        where id between ${recurrenceId} and ${recurrenceId} and account = ${account}
          ${debtorTaxId === undefined ? sql`` : sql`and debtor_tax_id = ${debtorTaxId}`}
        order by id limit 1`
  return sql`
    from (${recurrences} offset 0) r
      cross join lateral (
        select * from pix_collections
        where recurrence_id between r.id and r.id
          and created_at between ${filter.from} and ${filter.to}
          ${status === undefined ? sql`` : sql`and status = ${status}`}
        order by recurrence_id, created_at, txid limit ${rowCount(sql, itemsMax + 1)}
      ) c
    ${agreement === undefined ? sql`` : sql`where r.agreement = ${agreement}`}`
}

/**
 * The charges of an account, in the order of its own index.
 *
 * @param isFilled every charge holds the agreement of its recurrence
 */
const ofAccount = (
  sql: Queryable,
  account: string,
  { from, to, agreement }: CollectionFilter,
  isFilled: boolean,
  narrowing: Narrowing,
) => {
  const by = narrowedBy(sql, narrowing)
  const agreed = sql`cross join lateral (
    select from pix_recurrences where id = c.recurrence_id and agreement = ${agreement ?? ''}
    limit 1) r`
  const led = sql`
    from pix_collections c ${isFilled ? sql`` : agreed}
    where c.account = ${account} and c.created_at between ${from} and ${to} ${by.matching}`
  if (by.others === undefined) return { matching: led, order: by.order }
  const few = sql`${led} order by ${by.order} c.created_at, c.txid limit ${rowCount(sql, itemsMax + 1)}`
  return { matching: sql`from (select c.* ${few}) c where ${by.others}`, order: sql`` }
}

/** Undefined: more are to be looked at than a list may hold. */
const narrowedOfAccount = async (sql: Queryable, account: string, filter: CollectionFilter) => {
  const { status, agreement } = filter
  const isFilled = agreement === undefined || (await areFilled(sql))
  const of = (narrowing: Narrowing) => ofAccount(sql, account, filter, isFilled, narrowing)
  const narrowing = await fewestFirst(isFilled ? { agreement, status } : { status }, (one) =>
    countOf(sql, of(one).matching),
  )
  return narrowing && of(narrowing)
}

/** Whether every charge holds the agreement of its recurrence: those that older versions made do not, until it is filled in. */
const areFilled = async (sql: Queryable): Promise<boolean> => {
  const { count } = await sql`
    select from pix_collections where agreement is null order by agreement limit 1`
  return count === 0
}

/** Fills in the agreement of some that older versions made. @returns how many */
export const fillAgreements = async (sql: Queryable, limit: number): Promise<number> => {
  const { count } = await sql`
    with unfilled as materialized (
      select account, txid, null::text as nothing from pix_collections
      where agreement is null order by agreement limit ${limit} for update skip locked
    )
    update pix_collections c set agreement = coalesce(
      (select agreement from pix_recurrences where id = c.recurrence_id limit 1), '')
    from unfilled
    where ${looksLikeOne(sql)} and c.account = unfilled.account and c.txid = unfilled.txid`
  return count
}

/** Whether a debtor has more recurrences than the charges of which are listed together. */
export const hasTooMany = async (
  sql: Queryable,
  account: string,
  filter: CollectionFilter,
): Promise<boolean> => {
  const { recurrenceId, debtorTaxId } = filter
  if (recurrenceId !== undefined || debtorTaxId === undefined) return false
  const { count } = await sql`
    select from (${recurrencesOfDebtor(sql, account, filter)}) counted
    offset ${rowCount(sql, recurrencesMax)}`
  return count > 0
}

/** In the order in which they were made; none where there are more than a list may hold. */
export const listCollections = async (
  sql: Queryable,
  account: string,
  filter: CollectionFilter,
): Promise<Listed<Collection>> => {
  const { recurrenceId, debtorTaxId } = filter
  const listed =
    recurrenceId === undefined && debtorTaxId === undefined
      ? await narrowedOfAccount(sql, account, filter)
      : { matching: ofRecurrences(sql, account, filter), order: sql`` }
  if (listed === undefined) return tooMany
  const { matching, order } = listed
  const total = await countOf(sql, matching)
  if (total > itemsMax) return { items: [], total }
  const rows = await sql<Row[]>`
    select ${columns(sql)} ${matching} order by ${order} c.created_at, c.txid ${pageOf(sql, filter)}`
  return { items: await whole(sql, rows), total }
}
