import type { PendingQuery, Row } from 'postgres'
import { type Client, type Queryable, uuidBound } from '#src/platform/database/index.ts'
import {
  countedMax,
  type MessageDetail,
  type MessageFilter,
  type MessageRecord,
  type MessageTransaction,
  type Page,
} from './domain.ts'
import { type SendingRow, sendingOf, sendingOfMessage, sentBytes } from './sending.ts'

const recordColumns = (sql: Queryable) => sql`
  id, type, direction, status, channel, source_ispb as "sourceIspb",
  destination_ispb as "destinationIspb", end_to_end_id as "endToEndId",
  biz_msg_idr as "bizMsgIdr", resource_id as "resourceId",
  transaction_count as "transactionCount"`

/** Asked for the rows of a page alone, by the key of the transactions. A sum of many may be more than a bigint. */
const amountOf = (sql: Queryable, id: PendingQuery<Row[]>) => sql`
  (select sum(t.amount_cents)::text from spi_transactions t where t.message_id = ${id}) as "totalCents"`

/** The condition on one transaction of a message; undefined: there is none. */
const ofTransactions = (sql: Queryable, { endToEndId, transactionStatus }: MessageFilter) => {
  if (endToEndId === undefined) {
    return transactionStatus === undefined ? undefined : sql`status = ${transactionStatus}`
  }
  const byId = sql`end_to_end_id = ${endToEndId}`
  // Few have the id, and many may have the status: no index of statuses may look better.
  return transactionStatus === undefined
    ? byId
    : sql`${byId} and status || '' = ${transactionStatus}`
}

const inTime = (
  sql: Queryable,
  id: PendingQuery<Row[]>,
  { from, to }: MessageFilter,
  before: string | undefined,
) => sql`
  ${from === undefined ? sql`` : sql`and ${id} >= ${uuidBound(from)}::uuid`}
  ${to === undefined ? sql`` : sql`and ${id} < ${uuidBound(to)}::uuid`}
  ${before === undefined ? sql`` : sql`and ${id} < ${before}::uuid`}`

/** The conditions on the message itself. */
const ofMessage = (
  sql: Queryable,
  { type, direction, status, sourceIspb, destinationIspb }: MessageFilter,
) => sql`
  ${type === undefined ? sql`` : sql`and type = ${type}`}
  ${direction === undefined ? sql`` : sql`and direction = ${direction}`}
  ${status === undefined ? sql`` : sql`and status = ${status}`}
  ${sourceIspb === undefined ? sql`` : sql`and source_ispb = ${sourceIspb}`}
  ${destinationIspb === undefined ? sql`` : sql`and destination_ispb = ${destinationIspb}`}`

const isOfMessage = ({ type, direction, status, sourceIspb, destinationIspb }: MessageFilter) =>
  [type, direction, status, sourceIspb, destinationIspb].some((one) => one !== undefined)

/**
 * Selects from the messages of a filter, newest first. Each condition has an index that ends in the id. One on
 * transactions walks theirs: `distinct on` beside the caller's limit lets it end with the page, however many match.
 */
const matching = (
  sql: Queryable,
  columns: PendingQuery<Row[]>,
  filter: MessageFilter,
  before: string | undefined,
) => {
  const named = ofTransactions(sql, filter)
  return named === undefined
    ? sql`select ${columns} from spi_messages
        where true ${inTime(sql, sql`id`, filter, before)} ${ofMessage(sql, filter)} order by id desc`
    : sql`select distinct on (message_id) ${columns} from (
          select message_id from spi_transactions
          where ${named} ${inTime(sql, sql`message_id`, filter, before)}
        ) named cross join lateral (
          select * from spi_messages where id = named.message_id limit 1
        ) message where true ${ofMessage(sql, filter)} order by message_id desc`
}

/** What is counted of a filter: where it names transactions alone, their messages are not looked at. */
const counted = (sql: Queryable, filter: MessageFilter) => {
  const named = ofTransactions(sql, filter)
  if (named === undefined || isOfMessage(filter)) return matching(sql, sql`id`, filter, undefined)
  return sql`select distinct on (message_id) message_id from spi_transactions
    where ${named} ${inTime(sql, sql`message_id`, filter, undefined)} order by message_id desc`
}

/**
 * Newest first; `total` counts what matches the filter, whatever the page, up to one more than {@link countedMax}. Both
 * are of one moment only where the caller's transaction sees one.
 */
export const listMessages = async (
  sql: Queryable,
  filter: MessageFilter,
  { limit, offset, before }: Page,
): Promise<{ readonly messages: readonly MessageRecord[]; readonly total: number }> => {
  const [messages, [count]] = await Promise.all([
    sql<MessageRecord[]>`
      select page.*, ${amountOf(sql, sql`page.id`)} from (
        ${matching(sql, recordColumns(sql), filter, before)}
        limit ${limit} offset ${offset}
      ) page order by page.id desc`,
    sql<{ total: number }[]>`
      select count(*)::int as total from (
        ${counted(sql, filter)} limit ${countedMax + 1}
      ) counted`,
  ])
  return { messages, total: count?.total ?? 0 }
}

type DetailRow = MessageRecord &
  Pick<MessageDetail, 'definition' | 'errorCode' | 'signature'> & {
    readonly warnings: MessageDetail['warnings'] | null
  }

type HistoryRow = {
  readonly status: MessageRecord['status']
  readonly atMs: number
  readonly detail: string | null
  readonly repetition: number | null
}

export const findMessage = async (sql: Client, id: string): Promise<MessageDetail | undefined> => {
  const [rows, transactions, history] = await Promise.all([
    sql<DetailRow[]>`
      select ${recordColumns(sql)}, ${amountOf(sql, sql`spi_messages.id`)},
        definition, error_code as "errorCode", signature, warnings
      from spi_messages where id = ${id}::uuid`,
    sql<{ [K in keyof MessageTransaction]: MessageTransaction[K] | null }[]>`
      select end_to_end_id as "endToEndId", instruction_id as "instructionId",
        amount_cents as "amountCents", debtor_ispb as "debtorIspb",
        creditor_ispb as "creditorIspb", status, reason, refusal
      from spi_transactions where message_id = ${id}::uuid order by position`,
    sql<HistoryRow[]>`
      select status, (extract(epoch from at) * 1000)::float8 as "atMs", detail, repetition
      from spi_history where message_id = ${id}::uuid order by position`,
  ])
  const [row] = rows
  if (row === undefined) return undefined
  const { definition, errorCode, signature, warnings, ...record } = row
  return {
    record,
    definition,
    errorCode,
    signature,
    warnings: warnings ?? [],
    transactions: transactions.map((transaction) => ({
      endToEndId: transaction.endToEndId ?? undefined,
      instructionId: transaction.instructionId ?? undefined,
      amountCents: transaction.amountCents ?? undefined,
      debtorIspb: transaction.debtorIspb ?? undefined,
      creditorIspb: transaction.creditorIspb ?? undefined,
      status: transaction.status ?? undefined,
      reason: transaction.reason ?? undefined,
      refusal: transaction.refusal ?? undefined,
    })),
    history: history.map(({ status, atMs, detail, repetition }) => ({
      status,
      at: new Date(atMs),
      detail: detail ?? undefined,
      repetition: repetition ?? undefined,
    })),
  }
}

/** Returns the bytes as sent or received. */
export const readDocument = async (sql: Queryable, id: string): Promise<Uint8Array | undefined> => {
  const [row] = await sql<({ readonly xml: Uint8Array } & SendingRow)[]>`
    select message.xml, sending.xml as "sendingXml", sending.position as "sendingPosition",
      sending.checksum as "sendingChecksum"
    from spi_messages message ${sendingOfMessage(sql)}
    where id = ${id}::uuid`
  return row === undefined ? undefined : sentBytes(row.xml, sendingOf(row))
}
