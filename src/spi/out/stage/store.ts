import {
  constants,
  looksLikeOne,
  type Queryable,
  type Transaction,
  textArray,
  uuidBound,
} from '#src/platform/database/index.ts'
import { countedMax, orderTypes, settledStatuses } from '../../messages/domain.ts'
import {
  answeredTypes,
  type Channel,
  isKnown,
  type SendingRow,
  type SentMessage,
  sendingOf,
  sendingOfMessage,
  sentBytes,
  uuidForm,
} from '../../messages/index.ts'
import { askingTypes } from '../../recurring/domain.ts'

/** The fields of a message of ours that sending it needs. */
export type StoredOutbound = Omit<SentMessage, 'channel' | 'bizMsgIdr'> & {
  readonly channel: Channel
  readonly bizMsgIdr: string
}

export type QueuedOutbound = StoredOutbound & {
  readonly isScheduled: boolean
  /** The central bank may have it. */
  readonly isInDoubt: boolean
  /** Since when an attempt without a clear answer is known. */
  readonly inDoubtSince: Date | null
  /** It stands in the line of its channel, and is on the queue because the channel has room for it. */
  readonly isCalled: boolean
  /** The final bytes, once they are decided; the call throws when we cannot make them any more. */
  readonly finalXml: (() => Uint8Array) | undefined
}

/** Returns those of the ids that are messages of ours. */
export const findOutbound = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, QueuedOutbound>> => {
  const rows = await sql<OutboundRow[]>`
    select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr",
      is_scheduled is true as "isScheduled", in_doubt_since is not null or sending.xml is not null as "isInDoubt",
      in_doubt_since as "inDoubtSince", waits_for is not null and requeued_at is not null as "isCalled",
      case when status in ('QUEUED', 'FAILED') and envelope is null
        or status = 'QUEUED' and sending.xml is not null then message.xml end as xml,
      case when status = 'QUEUED' then sending.xml end as "sendingXml",
      sending.position as "sendingPosition", sending.checksum as "sendingChecksum"
    from unnest(${textArray(ids.filter((id) => uuidForm.test(id)))}::text::uuid[]) as wanted(wanted_id)
      cross join lateral (select * from spi_messages where id = wanted_id limit 1) message
      ${sendingOfMessage(sql)}
    where direction = 'OUTBOUND'`
  return new Map(rows.map((row) => [row.id, queuedOutboundOf(row)]))
}

type OutboundRow = Omit<QueuedOutbound, 'finalXml'> & SendingRow & { readonly xml: Buffer | null }

const queuedOutboundOf = ({
  xml,
  sendingXml,
  sendingPosition,
  sendingChecksum,
  ...row
}: OutboundRow): QueuedOutbound => {
  const sending = sendingOf({ sendingXml, sendingPosition, sendingChecksum })
  return { ...row, finalXml: xml === null ? undefined : () => sentBytes(xml, sending) }
}

/**
 * Returns those of the ids that FAILED and that something hangs on, since they may be sent after all: sums on payments and
 * returns of ours, a mandate or charge on what asks about it. UNKNOWN is not FAILED: only an answer ends it. What has
 * settled whole was sent, whatever its message says.
 */
export const findFailedOrders = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${textArray(ids.filter((id) => uuidForm.test(id)))}::text::uuid[]) as wanted(wanted_id)
      cross join lateral (select * from spi_messages where id = wanted_id limit 1) message
    where direction = 'OUTBOUND' and status = 'FAILED' and (
      type = any(${textArray(askingTypes)}::text::text[])
      or type = any(${textArray(orderTypes)}::text::text[]) and (
        select position from spi_transactions t where message_id = wanted_id
          and (t.status is null or t.status not in (${constants(sql, settledStatuses)})) limit 1
      ) is not null
    )`
  return new Set(rows.map(({ id }) => id))
}

/** Whether something of the message has settled: then the central bank has it. */
export const isPartlySettled = async (sql: Queryable, id: string): Promise<boolean> => {
  const { count } = await sql`
    select from spi_transactions
    where message_id = ${id} and status in (${constants(sql, settledStatuses)}) limit 1`
  return count > 0
}

/** Tells the watch that the central bank may have the message, from now on if not already. */
export const noteDoubt = async (sql: Queryable, id: string, now: Date): Promise<void> => {
  await sql`
    update spi_messages set in_doubt_since = coalesce(in_doubt_since, ${now})
    where id = ${id} and status = 'QUEUED'`
}

export type Unanswered = StoredOutbound & {
  readonly isScheduled: boolean
  readonly resourceId: string | null
  readonly traceparent: string | null
  /** How often it was sent again already. */
  readonly reasks: number
  /** The bytes that were sent; throws when we cannot make them any more. */
  readonly sentXml: () => Uint8Array
}

type UnansweredRow = Omit<Unanswered, 'sentXml'> &
  SendingRow & {
    readonly xml: Buffer
    /** What was sent differs from what is stored of it. */
    readonly isCompleted: boolean
  }

const unansweredColumns = (sql: Queryable) => sql`
  id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr",
  resource_id as "resourceId", is_scheduled is true as "isScheduled", traceparent, message.xml,
  coalesce(reasks, 0) as reasks, envelope is not null as "isCompleted", sending.xml as "sendingXml",
  sending.position as "sendingPosition", sending.checksum as "sendingChecksum"`

const unansweredOf = ({
  xml,
  isCompleted,
  sendingXml,
  sendingPosition,
  sendingChecksum,
  ...row
}: UnansweredRow): Unanswered => {
  const sending = sendingOf({ sendingXml, sendingPosition, sendingChecksum })
  const sentXml = (): Uint8Array => {
    if (isCompleted && sending === undefined) throw new Error('what was sent of it is not kept')
    return sentBytes(xml, sending)
  }
  return { ...row, sentXml }
}

export type Times = {
  /** The message was first sent between these moments: made, unless that was long before. */
  readonly from: Date
  readonly to: Date
  /** The same for scheduled payments. */
  readonly scheduledTo: Date
}

export type Search = Times & { readonly limit: number }

/** Selects payments and returns sent soon after they were made, between two moments. */
const overdue = (sql: Queryable, { from, to, scheduledTo }: Times) => sql`
  sent_at is null and type = any(${textArray(answeredTypes)}::text::text[])
  and id >= ${uuidBound(from)}::uuid and id < ${uuidBound(to)}::uuid
  and (is_scheduled is not true or id < ${uuidBound(scheduledTo)}::uuid)`

/** Selects payments and returns sent between two moments, long after they were made. */
const overdueOfLate = (sql: Queryable, { from, to, scheduledTo }: Times) => sql`
  type = any(${textArray(answeredTypes)}::text::text[])
  and sent_at >= ${from} and sent_at < ${to}
  and (is_scheduled is not true or sent_at < ${scheduledTo})`

/** SENT, or UNKNOWN and never sent again so far. */
const overdueIn = (sql: Queryable, status: 'SENT' | 'UNKNOWN') =>
  status === 'SENT' ? sql`status = 'SENT'` : sql`status = 'UNKNOWN' and reask_after is null`

/** The order of the index that has them. */
const placeIn = (sql: Queryable, status: 'SENT' | 'UNKNOWN') =>
  status === 'SENT' ? sql`id` : sql`reask_after, id`

/** Begins a statement whose CTE `message` are messages of a status whose answer is overdue; locks them. */
const overdueLocked = (
  sql: Queryable,
  status: 'SENT' | 'UNKNOWN',
  { limit, ...times }: Search,
) => sql`
  with made as materialized (
    select * from spi_messages where ${overdueIn(sql, status)} and ${overdue(sql, times)}
    order by ${placeIn(sql, status)} limit ${limit} for update skip locked
  ), late as materialized (
    select * from spi_messages where ${overdueIn(sql, status)} and ${overdueOfLate(sql, times)}
    order by status, sent_at limit ${limit} for update skip locked
  ), message as (
    select * from made union all select * from late
  )`

/** True when {@link overdueLocked} would find one. */
const hasOverdue = (sql: Queryable, status: 'SENT' | 'UNKNOWN', times: Times) => sql`
  exists (
    select from spi_messages where ${overdueIn(sql, status)} and ${overdue(sql, times)}
    order by ${placeIn(sql, status)} limit 1
  ) or exists (
    select from spi_messages where ${overdueIn(sql, status)} and ${overdueOfLate(sql, times)}
    order by status, sent_at limit 1
  )`

type DoubtTimes = Pick<Search, 'from' | 'to'>

/** Selects messages whose sending has been in doubt since between two moments. */
const inDoubt = (sql: Queryable, { from, to }: DoubtTimes) => sql`
  in_doubt_since is not null and in_doubt_since >= ${from} and in_doubt_since < ${to} and resource_id is null`

/** Selects those of them that are QUEUED, or UNKNOWN and never sent again so far. */
const doubtful = (sql: Queryable, status: 'QUEUED' | 'UNKNOWN', times: DoubtTimes) => {
  // An equality would lead to the index of all that are QUEUED.
  const inStatus =
    status === 'QUEUED' ? sql`status <> 'UNKNOWN'` : sql`status <> 'QUEUED' and reask_after is null`
  return sql`status in ('QUEUED', 'UNKNOWN') and ${inStatus} and ${inDoubt(sql, times)}`
}

/** Selects UNKNOWN messages that were sent again and are due once more; what is due since before `from` is so no longer. */
const dueAgain = (sql: Queryable, times: Times) => sql`
  status = 'UNKNOWN' and reask_after >= ${times.from} and reask_after <= now()
  and ((${overdue(sql, times)}) or (${overdueOfLate(sql, times)}) or (${inDoubt(sql, times)}))
  order by reask_after, id`

/** True when {@link lockOverdue} or {@link lockDoubtful} would find one. */
export const hasToMark = async (
  sql: Queryable,
  overdue: Times,
  inDoubt: DoubtTimes,
): Promise<boolean> => {
  const [row] = await sql<{ found: boolean }[]>`
    select ${hasOverdue(sql, 'SENT', overdue)} or exists (
      select from spi_messages where ${doubtful(sql, 'QUEUED', inDoubt)} order by id limit 1
    ) as found`
  return row?.found === true
}

/** True when {@link lockUnanswered} would find one. */
export const hasToAsk = async (sql: Queryable, times: Times): Promise<boolean> => {
  const [row] = await sql<{ found: boolean }[]>`
    select ${hasOverdue(sql, 'UNKNOWN', times)} or exists (
      select from spi_messages where ${doubtful(sql, 'UNKNOWN', times)} order by id limit 1
    ) or exists (select from spi_messages where ${dueAgain(sql, times)} limit 1) as found`
  return row?.found === true
}

/** True when somebody wants a message sent again. */
export const hasAskedFor = async (sql: Queryable): Promise<boolean> => {
  const { count } = await sql`select from spi_resends limit 1`
  return count > 0
}

/**
 * Returns the SENT messages that nobody has answered. Locks their rows until the transaction ends and skips those that
 * another process works on.
 */
export const lockOverdue = (
  sql: Queryable,
  search: Search,
): Promise<readonly StoredOutbound[]> => sql<StoredOutbound[]>`
  ${overdueLocked(sql, 'SENT', search)}
  select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr"
  from message order by id`

/** Returns the QUEUED messages of any type whose sending has been in doubt for long; locks them in the same way. */
export const lockDoubtful = (
  sql: Queryable,
  { limit, ...times }: DoubtTimes & Pick<Search, 'limit'>,
): Promise<readonly StoredOutbound[]> => sql<StoredOutbound[]>`
  select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr"
  from spi_messages where ${doubtful(sql, 'QUEUED', times)}
  order by id limit ${limit} for update skip locked`

/** Returns those that somebody wants sent again, and forgets that wish; locks them in the same way. */
export const takeAskedFor = async (
  tx: Transaction,
  { from, limit }: Pick<Search, 'from' | 'limit'>,
): Promise<readonly Unanswered[]> => {
  const rows = await tx<UnansweredRow[]>`
    with asked as materialized (
      select message_id from spi_resends order by message_id limit ${limit} for update skip locked
    ), forgotten as (
      delete from spi_resends using asked where spi_resends.message_id = asked.message_id
    ), message as materialized (
      select found.* from asked cross join lateral (
        select * from spi_messages
        where id = asked.message_id and status = 'UNKNOWN' and ${isKnown(tx, from)}
        limit 1 for update skip locked
      ) found
    )
    select ${unansweredColumns(tx)} from message ${sendingOfMessage(tx)} order by id`
  return rows.map(unansweredOf)
}

/**
 * Returns the UNKNOWN messages that are due to be asked for; locks them in the same way. Takes some that were never asked
 * for, and of the others those that have been due for longest: what stays unanswered waits for its turn behind all others.
 */
export const lockUnanswered = async (
  sql: Queryable,
  search: Search,
): Promise<readonly Unanswered[]> => {
  const first = await sql<UnansweredRow[]>`
    ${overdueLocked(sql, 'UNKNOWN', search)}
    select ${unansweredColumns(sql)} from message ${sendingOfMessage(sql)} order by id`
  const firstInDoubt = await sql<UnansweredRow[]>`
    with message as materialized (
      select * from spi_messages where ${doubtful(sql, 'UNKNOWN', search)}
      order by id limit ${search.limit} for update skip locked
    )
    select ${unansweredColumns(sql)} from message ${sendingOfMessage(sql)} order by id`
  const again = await sql<UnansweredRow[]>`
    with message as materialized (
      select * from spi_messages where ${dueAgain(sql, search)} limit ${search.limit} for update skip locked
    )
    select ${unansweredColumns(sql)} from message ${sendingOfMessage(sql)} order by id`
  const rows = new Map([...first, ...firstInDoubt, ...again].map((row) => [row.id, row]))
  return [...rows.values()].map(unansweredOf)
}

type Reask = {
  readonly id: string
  /** How often it was sent again, this time included. */
  readonly reasks: number
  /** The least time until the next, from now on. */
  readonly pauseMs: number
}

/** Counts that messages are sent again, and keeps every process from doing so for some time. */
export const noteReasks = async (sql: Queryable, asked: readonly Reask[]): Promise<void> => {
  await sql`
    update spi_messages message
    set reasks = wanted.reasks, reask_after = now() + make_interval(secs => wanted."pauseMs" / 1000)
    from json_to_recordset(${JSON.stringify(asked)}::text::json)
      as wanted(id uuid, reasks int, "pauseMs" float8, nothing text)
    where ${looksLikeOne(sql)} and message.id = wanted.id`
}

/** Takes back what {@link noteReasks} counted of a message, unless it was asked for since; it is due after a shorter time. */
export const takeBackReask = async (
  sql: Queryable,
  { id, reasks, pauseMs }: Reask,
): Promise<void> => {
  await sql`
    update spi_messages
    set reasks = reasks - 1, reask_after = now() + make_interval(secs => ${pauseMs / 1000}::float8)
    where id = ${id} and reasks = ${reasks}`
}

/** Counts the messages that wait past the limit for an answer, or for confirmation that they were sent: {@link countedMax} at most. */
export const countUnknown = async (sql: Queryable): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select id from spi_messages where status = 'UNKNOWN' order by status, id limit ${countedMax}
    ) as counted`
  return row?.count ?? 0
}
