import type { PendingQuery, Row } from 'postgres'
import {
  type Client,
  listed,
  opaque,
  type Queryable,
  rowCount,
  textArray,
  textRows,
  uuidBound,
} from '#src/platform/database/index.ts'
import type { ActivityRows, Answer, AuditEntry, Caller } from '#src/platform/http/index.ts'
import { createColumns, type RecordOf, recordOf } from '../columns.ts'
import type { Movement } from '../reconciliation/movements.ts'
import { type CardStatus, cardStatuses } from './domain.ts'
import { cardTransactions, type ShownMessage } from './schema.ts'

/** A row without the columns that only the database writes. */
export type TransactionRow = Omit<typeof cardTransactions.$inferSelect, 'touchedAt'>

export type CardTransaction = RecordOf<TransactionRow>

/** DE 38 as others see it: what was approved in place of the network, and then declined by it, keeps its own for reversals. */
export const shownAuthCode = ({
  status,
  authCode,
}: Pick<CardTransaction, 'status' | 'authCode'>): string | undefined =>
  status === 'declined' ? undefined : authCode

/** A step of a transaction, with its events and the answer for its idempotency key. */
export type CardChange = {
  /** The stored row must still have this status and operation. */
  readonly before: CardTransaction
  readonly after: CardTransaction
  /** Callers see them, so they hold no card data. */
  readonly events: readonly NewCardEvent[]
  /** The answer of the transaction's key from now on; `free` deletes the key; undefined leaves it running. */
  readonly answer?: Answer | 'free' | undefined
  /** The movements that the network has booked with it. */
  readonly movements?: readonly Movement[]
  /** Present if a caller asked for the step. */
  readonly audit?: AuditEntry | undefined
}

export type NewCardEvent = {
  readonly type: string
  readonly data: Readonly<Record<string, string | number | null>>
  readonly messages?: readonly ShownMessage[] | undefined
}

export const transactionColumns = createColumns(cardTransactions, ['touchedAt'])

export const selectedColumns = transactionColumns.selected('t')

export type NewRow = {
  readonly transaction: CardTransaction
  readonly caller: Pick<Caller, 'idempotencyKey' | 'requestId'>
}

export const transactionById = async (
  sql: Queryable,
  id: string,
): Promise<CardTransaction | undefined> => {
  const [row] = await sql<
    TransactionRow[]
  >`select ${sql(selectedColumns)} from card_transactions t where id = ${id}`
  return row && recordOf(row)
}

/** The same, locked until the transaction ends. */
export const lockTransaction = async (
  tx: Queryable,
  id: string,
): Promise<CardTransaction | undefined> => {
  const [row] = await tx<TransactionRow[]>`
    select ${tx(selectedColumns)} from card_transactions t where id = ${id} for update`
  return row && recordOf(row)
}

export type TransactionFilter = {
  readonly account: string
  /** What the caller may see, `merchantId` among them; undefined: of every merchant. */
  readonly merchantIds: readonly string[] | undefined
  readonly status: CardStatus | undefined
  readonly merchantId: string | undefined
  /** The caller's own. */
  readonly reference: string | undefined
  /** DE 37. */
  readonly rrn: string | undefined
  /** DE 11 of the authorization; with `from` and `to`. */
  readonly stan: string | undefined
  /** In cents, authorized; with `from` and `to`. */
  readonly amountFrom: bigint | undefined
  readonly amountTo: bigint | undefined
  /** True for only those that no network settled; false for all. */
  readonly needsAttention: boolean
  /** Created at or after. */
  readonly from: Date | undefined
  /** Created before. */
  readonly to: Date | undefined
  /** Older than this one. */
  readonly beforeId: string | undefined
  readonly limit: number
}

/** Identifiers hold the time of their process, rows that of the same clock a moment later. */
const clockMarginMs = 60_000
const idAt = (ms: number): string => `txn_${uuidBound(new Date(ms)).replaceAll('-', '')}`

/** The names of all networks that ever were, by which the index on reference numbers begins. */
const networksIn = (sql: Client) => sql`array(select network from card_stan_blocks)`

/** All that a list asks for but its place and its account: `true and …`. */
const met = (sql: Client, filter: TransactionFilter) => {
  const { merchantIds, merchantId, status, reference, rrn, stan } = filter
  const { amountFrom, amountTo, needsAttention, from, to } = filter
  return sql`true
    ${merchantIds === undefined ? sql`` : sql`and merchant_id = any(${listed(sql, merchantIds, 'text')})`}
    ${merchantId === undefined ? sql`` : sql`and merchant_id = ${merchantId}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${reference === undefined ? sql`` : sql`and reference = ${reference}`}
    ${rrn === undefined ? sql`` : sql`and rrn = ${rrn}`}
    ${stan === undefined ? sql`` : sql`and stan = ${stan}`}
    ${amountFrom === undefined ? sql`` : sql`and amount_cents >= ${amountFrom}`}
    ${amountTo === undefined ? sql`` : sql`and amount_cents <= ${amountTo}`}
    ${needsAttention ? sql`and needs_attention` : sql``}
    ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
    ${to === undefined ? sql`` : sql`and created_at < ${to}`}`
}

/** The part of a list that a page is of, by the ids of its transactions. */
const placed = (sql: Client, { from, to, beforeId }: TransactionFilter) => sql`
  ${from === undefined ? sql`` : sql`and id >= ${idAt(from.getTime() - clockMarginMs)}`}
  ${to === undefined ? sql`` : sql`and id < ${idAt(to.getTime() + clockMarginMs)}`}
  ${beforeId === undefined ? sql`` : sql`and id < ${beforeId}`}`

/** A condition that an index leads to. */
type Lead = PendingQuery<Row[]>

/** The few that share a name, or that no network settled, looked at one by one. */
const found = (sql: Client, lead: Lead, filter: TransactionFilter) => {
  const rest = sql`account = ${filter.account} and ${met(sql, filter)}`
  return sql`card_transactions t where ${lead} ${placed(sql, filter)} and ${opaque(sql, rest)}`
}

/**
 * The rows of a page by the index of `lead`, whose first column, `order`, is compared with an array. So no other index has
 * that order, neither that of the identifier, which a plan would walk for what it takes for many, to the end where there is
 * none.
 */
const walked = (sql: Client, lead: Lead, order: PendingQuery<Row[]>, filter: TransactionFilter) =>
  sql`(
    select * from card_transactions
    where ${lead} ${placed(sql, filter)} and ${opaque(sql, met(sql, filter))}
    order by ${order} desc, id desc limit ${rowCount(sql, filter.limit)}) t`

const ledBy = (sql: Client, filter: TransactionFilter) => {
  const { account, merchantId, status, reference, rrn } = filter
  if (rrn !== undefined) {
    return found(sql, sql`network = any(${networksIn(sql)}) and rrn = ${rrn}`, filter)
  }
  if (reference !== undefined) return found(sql, sql`reference = ${reference}`, filter)
  if (filter.needsAttention) {
    return found(sql, sql`needs_attention and account = ${account}`, filter)
  }
  const merchantIds = merchantId === undefined ? filter.merchantIds : [merchantId]
  if (merchantIds !== undefined) {
    const statuses = status === undefined ? cardStatuses : [status]
    const lead = sql`merchant_id = any(array[one.merchant]) and account = ${account} and status = each.status`
    return sql`${textRows(sql, merchantIds)} as one(merchant)
      cross join ${textRows(sql, statuses)} as each(status)
      cross join lateral ${walked(sql, lead, sql`merchant_id`, filter)}`
  }
  if (status !== undefined) {
    const lead = sql`status = any(array[${status}::text]) and account = ${account}`
    return walked(sql, lead, sql`status`, filter)
  }
  return walked(sql, sql`account = any(array[${account}::text])`, sql`account`, filter)
}

/** Newest first. */
export const listTransactions = async (
  sql: Client,
  filter: TransactionFilter,
): Promise<readonly CardTransaction[]> => {
  const rows = await sql<TransactionRow[]>`
    select ${sql(selectedColumns)} from ${ledBy(sql, filter)}
    order by id desc limit ${rowCount(sql, filter.limit)}`
  return rows.map(recordOf)
}

/** An advice, as it is noted with its transaction; its numbers are the same in each repeat. */
export type AdviceData = {
  /** This and the two numbers after it are those of the first sending. */
  readonly mti: '0120' | '0220' | '0420' | '0620'
  readonly stan: string
  readonly transmission: string
}

/** The transaction of a network's reference number (DE 37); undefined if there is none. */
export const idByReference = async (
  sql: Queryable,
  network: string,
  rrn: string,
): Promise<string | undefined> => {
  const [found] = await sql<{ id: string }[]>`
    select id from card_transactions where network = ${network} and rrn = ${rrn}
    order by id desc limit 1`
  return found?.id
}

/** Advices that a transaction keeps beside those that changed it. */
const advicesMax = 20

/** Whether another one that changes nothing is kept. */
export const hasRoomForAdvice = async (tx: Queryable, id: string): Promise<boolean> => {
  const found = await tx`
    select from card_events where transaction_id = ${id} and type = 'network_advice'
    limit ${rowCount(tx, advicesMax)}`
  return found.length < advicesMax
}

/** Whether the advice was taken before. */
export const isAdvised = async (
  tx: Queryable,
  id: string,
  { mti, stan, transmission }: AdviceData,
): Promise<boolean> => {
  const found = await tx`
    select from card_events where transaction_id = ${id} and type = 'network_advice'
      and data ->> 'mti' = ${mti} and data ->> 'stan' = ${stan}
      and data ->> 'transmission' = ${transmission} limit 1`
  return found.length > 0
}

/** The statuses that the network's answer to a request can lead to. */
const answers = ['authorized', 'declined', 'verified'] as const

/**
 * Transactions of late of an account, by its index; the answer by the index of events. Fenced off: in the order of its id
 * the planner would walk all events until one of the transaction comes.
 */
export const cardActivity =
  (
    sql: Client,
    { account, merchantIds }: Pick<TransactionFilter, 'account' | 'merchantIds'>,
  ): ActivityRows =>
  ({ from, limit }) =>
    sql`
    select t.created_at as at, t.status,
      coalesce(t.reason, case when t.status = 'declined' then t.response_code end) as reason,
      (select extract(epoch from e.at - t.created_at)::float8 * 1000
        from (select id, at, type from card_events where transaction_id = t.id offset 0) e
        where e.type = any(${textArray(answers)}::text[])
        order by e.id limit 1) as ms
    from (
      select id, status, reason, response_code, created_at from card_transactions
      where account = ${account} and created_at >= ${from}
        and id >= ${idAt(from.getTime() - clockMarginMs)}
        ${merchantIds === undefined ? sql`` : sql`and merchant_id = any(${textArray(merchantIds)}::text::text[])`}
      order by id desc limit ${limit}
    ) t`
