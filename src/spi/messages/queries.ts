import type { PendingQuery, Row } from 'postgres'
import { type Client, type Queryable, rowCount, uuidBound } from '#src/platform/database/index.ts'
import {
  type AmountRange,
  countedMax,
  type Lead,
  type MessageDetail,
  type MessageFilter,
  type MessageRecord,
  type MessageStatus,
  type MessageTransaction,
  type Page,
} from './domain.ts'
import { createManyMatches, type ManyMatches } from './many-matches.ts'
import { type SendingRow, sendingOf, sendingOfMessage, sentBytes } from './sending.ts'

const recordColumns = (sql: Queryable) => sql`
  id, type, direction, status, channel, source_ispb as "sourceIspb",
  destination_ispb as "destinationIspb", end_to_end_id as "endToEndId",
  biz_msg_idr as "bizMsgIdr", resource_id as "resourceId",
  transaction_count as "transactionCount"`

/** Asked for the rows of a page alone, by the key of the transactions. A sum of many may be more than a bigint. */
const amountOf = (sql: Queryable, id: PendingQuery<Row[]>) => sql`
  (select sum(t.amount_cents)::text from spi_transactions t where t.message_id = ${id}) as "totalCents"`

/** The conditions on one transaction of a message; undefined: there are none. */
const ofTransactions = (
  sql: Queryable,
  { endToEndId, transactionStatus, amounts }: MessageFilter,
  lead: Lead,
): PendingQuery<Row[]> | undefined => {
  const conditions = [
    ...(endToEndId === undefined ? [] : [sql`end_to_end_id = ${endToEndId}`]),
    ...(amounts === undefined ? [] : [ofAmounts(sql, amounts, lead)]),
    ...(transactionStatus === undefined
      ? []
      : [sql`${lead === 'status' ? sql`status` : sql`status || ''`} = ${transactionStatus}`]),
  ]
  return conditions.length === 0
    ? undefined
    : conditions.reduce((all, one) => sql`${all} and ${one}`)
}

const ofAmounts = (sql: Queryable, amounts: AmountRange, lead: Lead) => {
  const { fromCents, toCents } = amounts
  if (lead !== 'amounts') return sql`amount_cents + 0 between ${fromCents} and ${toCents}`
  return isOneAmount(amounts)
    ? sql`amount_cents = ${fromCents}`
    : sql`amount_cents between ${fromCents} and ${toCents}`
}

const isOneAmount = ({ fromCents, toCents }: AmountRange): boolean => fromCents === toCents

const inTime = (
  sql: Queryable,
  id: PendingQuery<Row[]>,
  { from, to }: MessageFilter,
  before: string | undefined,
) => sql`
  ${from === undefined ? sql`` : sql`and ${id} >= ${uuidBound(from)}::uuid`}
  ${to === undefined ? sql`` : sql`and ${id} < ${uuidBound(to)}::uuid`}
  ${before === undefined ? sql`` : sql`and ${id} < ${before}::uuid`}`

/** Nearly all messages end so. */
const usualEnds: ReadonlySet<string> = new Set<MessageStatus>(['ACCEPTED', 'PROCESSED'])

/**
 * The conditions on the message itself. What many messages meet is looked at in those that another condition leads to: of
 * two indexes both would be read to their ends, however few are wanted.
 */
const ofMessage = (
  sql: Queryable,
  { type, direction, status, sourceIspb, destinationIspb }: MessageFilter,
) => {
  const isNamed = [type, sourceIspb, destinationIspb].some((one) => one !== undefined)
  const isStatusLed = isNamed && usualEnds.has(status ?? '')
  const isDirectionLed = isNamed || status !== undefined
  const led = (isLed: boolean, condition: PendingQuery<Row[]>) =>
    isLed ? sql`and (${condition}) is true` : sql`and ${condition}`
  return sql`
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${direction === undefined ? sql`` : led(isDirectionLed, sql`direction = ${direction}`)}
    ${status === undefined ? sql`` : led(isStatusLed, sql`status = ${status}`)}
    ${sourceIspb === undefined ? sql`` : sql`and source_ispb = ${sourceIspb}`}
    ${destinationIspb === undefined ? sql`` : sql`and destination_ispb = ${destinationIspb}`}`
}

const isOfMessage = ({ type, direction, status, sourceIspb, destinationIspb }: MessageFilter) =>
  [type, direction, status, sourceIspb, destinationIspb].some((one) => one !== undefined)

/** The ids that the lead names, from an index that has them newest first, or few of them sorted. */
const idsNamed = (
  sql: Queryable,
  filter: MessageFilter,
  before: string | undefined,
  lead: Exclude<Lead, 'time'>,
) => {
  const time = inTime(sql, sql`message_id`, filter, before)
  if (lead === 'bizMsgIdr') {
    return sql`select message_id from spi_message_keys
      where kind in ('INBOUND:BizMsgIdr', 'OUTBOUND:BizMsgIdr')
        and key = ${filter.bizMsgIdr ?? null} ${time}`
  }
  const named = ofTransactions(sql, filter, lead) ?? sql`true`
  const ids = sql`select message_id from spi_transactions where ${named} ${time}`
  const { amounts } = filter
  return lead !== 'amounts' || (amounts !== undefined && isOneAmount(amounts))
    ? ids
    : sql`select message_id from (
        ${ids} order by amount_cents, message_id limit ${countedMax}
      ) few order by message_id desc`
}

/** Looks at the transactions of a message that another condition has led to. */
const withTransaction = (sql: Queryable, filter: MessageFilter, lead: Lead) => {
  if (lead !== 'time' && lead !== 'bizMsgIdr') return sql``
  const named = ofTransactions(sql, filter, lead)
  return named === undefined
    ? sql``
    : sql`cross join lateral (
        select from spi_transactions where message_id = message.id and ${named} limit 1
      ) one`
}

/**
 * Selects from the messages of a filter, newest first. Each condition has an index that ends in the id. One on
 * transactions walks theirs: `distinct on` beside the caller's limit lets it end with the page, however many match.
 */
const matching = (
  sql: Queryable,
  columns: PendingQuery<Row[]>,
  filter: MessageFilter,
  before: string | undefined,
  lead: Lead,
) => {
  const looked = withTransaction(sql, filter, lead)
  return lead === 'time'
    ? sql`select ${columns} from spi_messages message ${looked}
        where true ${inTime(sql, sql`id`, filter, before)} ${ofMessage(sql, filter)} order by id desc`
    : sql`select distinct on (message_id) ${columns} from (
          ${idsNamed(sql, filter, before, lead)}
        ) named cross join lateral (
          select * from spi_messages where id = named.message_id limit 1
        ) message ${looked} where true ${ofMessage(sql, filter)} order by message_id desc`
}

/** What is counted of a filter: where it names transactions alone, their messages are not looked at. */
const counted = (sql: Queryable, filter: MessageFilter, lead: Lead) =>
  lead === 'time' || lead === 'bizMsgIdr' || isOfMessage(filter)
    ? matching(sql, sql`id`, filter, undefined, lead)
    : sql`select distinct on (message_id) message_id from (
        ${idsNamed(sql, filter, undefined, lead)}
      ) named order by message_id desc`

/** Whether a walk of an index, of one more than are counted, ends before that. */
const areFew = async (sql: Queryable, walk: PendingQuery<Row[]>): Promise<boolean> => {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from (
      ${walk} limit ${rowCount(sql, countedMax + 1)}
    ) those`
  return (row?.total ?? 0) <= countedMax
}

const haveFewAmounts = (sql: Queryable, filter: MessageFilter, amounts: AmountRange) =>
  areFew(
    sql,
    sql`select from spi_transactions where ${ofAmounts(sql, amounts, 'amounts')}
      ${inTime(sql, sql`message_id`, filter, undefined)} order by amount_cents, message_id`,
  )

const haveFewStatus = (sql: Queryable, filter: MessageFilter, status: string) =>
  areFew(
    sql,
    sql`select from spi_transactions where status = ${status}
      ${inTime(sql, sql`message_id`, filter, undefined)} order by message_id desc`,
  )

const areFewMessages = (sql: Queryable, filter: MessageFilter) =>
  areFew(
    sql,
    sql`select from spi_messages where true ${inTime(sql, sql`id`, filter, undefined)}
      ${ofMessage(sql, filter)} order by id desc`,
  )

/** The index that a list is walked by, and whether all matches can be counted. */
type Walk = { readonly lead: Lead; readonly canCount: boolean }

/** Undefined: how many messages meet which condition is to be asked first. */
const knownWalk = (filter: MessageFilter): Walk | undefined => {
  const { endToEndId, bizMsgIdr, transactionStatus, amounts } = filter
  if (bizMsgIdr !== undefined) return { lead: 'bizMsgIdr', canCount: true }
  if (endToEndId !== undefined) return { lead: 'endToEndId', canCount: true }
  if (amounts !== undefined) return undefined
  if (transactionStatus === undefined) return { lead: 'time', canCount: true }
  return isOfMessage(filter) ? undefined : { lead: 'status', canCount: true }
}

/**
 * The condition that few have leads, if one is, and then all matches can be counted. Where many have each of several,
 * that one alone is walked whose matches come newest first.
 */
const askedWalk = async (sql: Queryable, filter: MessageFilter): Promise<Walk> => {
  const { transactionStatus, amounts } = filter
  const lead = transactionStatus === undefined ? 'time' : 'status'
  if (amounts !== undefined) {
    return (await haveFewAmounts(sql, filter, amounts))
      ? { lead: 'amounts', canCount: true }
      : { lead, canCount: false }
  }
  if (transactionStatus === undefined || (await haveFewStatus(sql, filter, transactionStatus))) {
    return { lead, canCount: true }
  }
  return (await areFewMessages(sql, filter))
    ? { lead: 'time', canCount: true }
    : { lead, canCount: false }
}

/** A page is planned by itself: beside the sums of amounts a plan may look cheaper that reads and sorts a whole table. */
const pageOf = (
  sql: Queryable,
  filter: MessageFilter,
  { limit, offset, before }: Page,
  lead: Lead,
) => sql`with page as materialized (
    ${matching(sql, recordColumns(sql), filter, before, lead)}
    limit ${rowCount(sql, limit)} offset ${rowCount(sql, offset)}
  ) select page.*, ${amountOf(sql, sql`page.id`)} from page`

const totalOf = (sql: Queryable, filter: MessageFilter, { lead, canCount }: Walk) =>
  canCount
    ? sql`select count(*)::int as total from (
        ${counted(sql, filter, lead)} limit ${rowCount(sql, countedMax + 1)}
      ) counted`
    : sql`select ${countedMax + 1}::int as total`

type ListRow = { readonly total: number } & (MessageRecord | { readonly id: null })

/**
 * Newest first; `total` counts what matches the filter, whatever the page, up to one more than {@link countedMax}, which
 * it also is where more transactions than that have such amounts, or have such a status while more messages than that
 * meet the other conditions. Page and total are of one moment: they come from one statement.
 *
 * @param many what was more than that a moment ago: it is neither asked about nor counted again
 */
export const listMessages = async (
  sql: Queryable,
  filter: MessageFilter,
  page: Page,
  many: ManyMatches = createManyMatches(),
): Promise<{ readonly messages: readonly MessageRecord[]; readonly total: number }> => {
  const known = many.leadOf(filter)
  const walk =
    known === undefined
      ? (knownWalk(filter) ?? (await askedWalk(sql, filter)))
      : { lead: known, canCount: false }
  const rows = await sql<ListRow[]>`
    select page.*, counted.total from (${totalOf(sql, filter, walk)}) counted
      left join (${pageOf(sql, filter, page, walk.lead)}) page on true
    order by page.id desc`
  const messages = rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row]))
  const total = rows[0]?.total ?? 0
  if (known === undefined && total > countedMax) many.learn(filter, walk.lead)
  return { messages, total }
}

type DetailRow = MessageRecord &
  Pick<MessageDetail, 'definition' | 'errorCode' | 'signature'> & {
    readonly warnings: MessageDetail['warnings'] | null
    readonly traceId: string | null
  }

type HistoryRow = {
  readonly status: MessageRecord['status']
  readonly atMs: number
  readonly detail: string | null
  readonly repetition: number | null
}

/**
 * The id as a row to join with, not as a value: a plan that is made for one id looks cheaper than one for all, as it names
 * a single partition, and the server would make it anew for each request.
 */
const given = (sql: Queryable, id: string) => sql`(select ${id}::uuid as id offset 0) given`

export const findMessage = async (sql: Client, id: string): Promise<MessageDetail | undefined> => {
  const [rows, transactions, history] = await Promise.all([
    sql<DetailRow[]>`
      select message.* from ${given(sql, id)} cross join lateral (
        select ${recordColumns(sql)}, ${amountOf(sql, sql`spi_messages.id`)},
          definition, error_code as "errorCode", signature, warnings,
          substr(traceparent, 4, 32) as "traceId"
        from spi_messages where id = given.id limit 1
      ) message`,
    sql<{ [K in keyof MessageTransaction]: MessageTransaction[K] | null }[]>`
      select end_to_end_id as "endToEndId", instruction_id as "instructionId",
        amount_cents as "amountCents", debtor_ispb as "debtorIspb",
        creditor_ispb as "creditorIspb", status, reason,
        case when status <> 'ACSC' then refusal end as refusal
      from ${given(sql, id)} cross join lateral (
        select * from spi_transactions where message_id = given.id offset 0
      ) transactions order by position`,
    sql<HistoryRow[]>`
      select status, (extract(epoch from at) * 1000)::float8 as "atMs", detail, repetition
      from ${given(sql, id)} cross join lateral (
        select * from spi_history where message_id = given.id offset 0
      ) history order by position`,
  ])
  const [row] = rows
  if (row === undefined) return undefined
  const { definition, errorCode, signature, warnings, traceId, ...record } = row
  return {
    record,
    definition,
    errorCode,
    signature,
    warnings: warnings ?? [],
    traceId: traceId ?? undefined,
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
    from ${given(sql, id)}
      cross join lateral (select * from spi_messages where id = given.id limit 1) message
      ${sendingOfMessage(sql)}`
  return row === undefined ? undefined : sentBytes(row.xml, sendingOf(row))
}
