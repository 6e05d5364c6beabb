import {
  afterFirst,
  firstRidersWith,
  joinedBytes,
  looksLikeOne,
  type Queryable,
  type Rider,
  ridersWith,
  textArray,
  toldBy,
  wholeOf,
  withoutTold,
} from '#src/platform/database/index.ts'
import { zstdCompressed } from '#src/platform/runtime/index.ts'
import { behind, claimsOf, distinct, keysOf } from './claims.ts'
import {
  type Direction,
  knownForMs,
  messageOutcomes,
  type NewMessage,
  ordersOf,
  predecessorsOf,
  resolvedByHand,
  type StatusChange,
} from './domain.ts'

/** We split more rows than this into several statements. */
export const rowsMax = 1_000

/**
 * Stores messages with transactions and first status, in one statement for up to a thousand. Leaves out a message when
 * we know one of its natural keys already, so redelivery has no effect.
 *
 * @param riders go with the first of those statements
 * @returns ids of the messages that were stored now
 */
export const insertMessages = async (
  sql: Queryable,
  messages: readonly NewMessage[],
  riders: readonly Rider[] = [],
): Promise<ReadonlySet<string>> => {
  const stored = new Set<string>()
  for (let at = 0; at < messages.length; at += rowsMax) {
    let wanted = messages.slice(at, at + rowsMax)
    for (let own = at === 0 ? riders : []; wanted.length > 0; own = []) {
      const some = distinct(wanted)
      for (const { id } of await insertFresh(sql, some, own)) stored.add(id)
      const left = some.filter(({ id }) => !stored.has(id))
      if (left.length === 0) break
      await forgetClaims(sql, left)
      wanted = behind(left, wanted, some)
    }
  }
  return stored
}

/** A message that was left out may have claimed some of its keys: nobody else could be stored under them. */
const forgetClaims = async (sql: Queryable, messages: readonly NewMessage[]): Promise<void> => {
  const claims = messages.flatMap((message) =>
    claimsOf(message).map((claim) => ({ ...claim, messageId: message.id })),
  )
  await sql`
    delete from spi_message_keys known
    using json_to_recordset(${JSON.stringify(claims)}::text::json)
      as own(kind text, key text, "messageId" uuid)
    where known.kind = own.kind and known.key = own.key and known.message_id = own."messageId"
      and (select id from spi_messages where id = own."messageId" limit 1) is null`
}

/**
 * Takes messages that were left out. Returns the ids of those whose bytes differ from every message stored under their
 * keys, or for which there is none: they are other messages.
 */
export const othersUnderKnownKeys = async (
  sql: Queryable,
  messages: readonly NewMessage[],
): Promise<ReadonlySet<string>> => {
  if (messages.length === 0) return new Set()
  const wanted = messages.flatMap((message) =>
    keysOf(message).map((key) => ({ ...key, messageId: message.id })),
  )
  const rows = await sql<{ messageId: string; xml: Buffer }[]>`
    select wanted."messageId", message.xml
    from json_to_recordset(${JSON.stringify(wanted)}::text::json)
      as wanted(kind text, key text, "messageId" uuid)
      cross join lateral (
        select message_id from spi_message_keys
        where kind = wanted.kind and key = wanted.key limit 1
      ) known
      cross join lateral (
        select xml from spi_messages where id = known.message_id limit 1
      ) message`
  const stored = Map.groupBy(rows, ({ messageId }) => messageId)
  const isOther = ({ id, xml }: NewMessage): boolean =>
    (stored.get(id) ?? []).every(
      (row) => Buffer.compare(Bun.zstdDecompressSync(row.xml), xml) !== 0,
    )
  return new Set(messages.filter(isOther).map(({ id }) => id))
}

/** Ends a statement of {@link insertMessages} unless it stores so many. */
export const allOf = (count: number): Rider => ({
  name: 'whole',
  ctes: (sql) => sql`whole as (select ${wholeOf(sql, 'fresh', count)} as told)`,
  done: () => {},
})

/**
 * Claims the natural keys, as {@link claimsOf} tells them, in the one order in which all writers do:
 * two with the same keys wait for one another instead of deadlocking, and if messages share only some keys, one of them
 * gets all of its own.
 */
const claiming = (sql: Queryable, riders: readonly Rider[]) => sql`
  insert into spi_message_keys (kind, key, message_id)
  select kind, key, id from given cross join lateral (
    values (direction || ':BizMsgIdr', "bizMsgIdr"), (direction || ':ResourceId', "resourceId")
    union all select "orderKind", unnest("orderIds")
  ) natural_key(kind, key)
  where key is not null ${afterFirst(sql, riders)}
  order by kind collate "C", key collate "C"
  on conflict do nothing returning message_id`

/** Stores the messages none of whose keys was known, and returns their ids. */
const insertFresh = async (
  sql: Queryable,
  messages: readonly NewMessage[],
  riders: readonly Rider[],
): Promise<readonly { readonly id: string }[]> => {
  const rows = messages.map((message) => {
    const { xml: _xml, transactions, ...row } = message
    const orders = ordersOf(message)
    return {
      ...row,
      endToEndId: transactions[0]?.endToEndId,
      transactionCount: transactions.length,
      warnings: row.warnings.length === 0 ? undefined : row.warnings,
      orderKind: orders?.kind,
      orderIds: orders?.ids,
    }
  })
  const { bytes, starts, lengths } = joinedBytes(messages.map(({ xml }) => zstdCompressed(xml)))
  const transactions = messages.flatMap((message) =>
    message.transactions.map(
      (
        {
          endToEndId,
          instructionId,
          amountCents,
          debtorIspb,
          creditorIspb,
          status,
          reason,
          settledAt,
        },
        position,
      ) => ({
        messageId: message.id,
        position,
        endToEndId,
        instructionId,
        amountCents: amountCents?.toString(),
        debtorIspb,
        creditorIspb,
        status,
        reason,
        settledAt,
      }),
    ),
  )
  const stored = await sql<{ id: string; rider: string | null }[]>`
    with ${firstRidersWith(sql, riders)}given as materialized (
      select * from rows from (
        json_to_recordset(${JSON.stringify(rows)}::text::json) as (id uuid, type text, definition text,
          direction text, status text, channel text, "sourceIspb" text, "destinationIspb" text,
          "endToEndId" text, "bizMsgIdr" text, "resourceId" text, "transactionCount" int,
          "errorCode" text, signature text, warnings jsonb, envelope text,
          "isScheduled" boolean, "inDoubtSince" timestamptz, "requeueAfter" timestamptz,
          traceparent text, "receivedAt" timestamptz, "orderKind" text, "orderIds" text[]),
        unnest(${starts}::text::int[]), unnest(${lengths}::text::int[])
      ) as message(id, type, definition, direction, status, channel, "sourceIspb",
        "destinationIspb", "endToEndId", "bizMsgIdr", "resourceId", "transactionCount",
        "errorCode", signature, warnings, envelope, "isScheduled", "inDoubtSince",
        "requeueAfter", traceparent, "receivedAt", "orderKind", "orderIds", start, length)
    ), claimed as (
      ${claiming(sql, riders)}
    ), fresh as materialized (
      select id, status, "receivedAt"
      from given left join (
        select message_id, count(*) as count from claimed group by message_id
      ) own on own.message_id = given.id
      where coalesce(own.count, 0)
        = ("bizMsgIdr" is not null)::int + ("resourceId" is not null)::int
          + coalesce(cardinality("orderIds"), 0)
    ), messages as (
      insert into spi_messages (id, type, definition, direction, status, channel, source_ispb,
        destination_ispb, end_to_end_id, biz_msg_idr, resource_id, transaction_count, error_code,
        signature, warnings, envelope, is_scheduled, in_doubt_since, requeue_after, traceparent, xml)
      select id, type, definition, direction, status, channel, "sourceIspb", "destinationIspb",
        "endToEndId", "bizMsgIdr", "resourceId", "transactionCount", "errorCode", signature,
        warnings, envelope, "isScheduled", "inDoubtSince", "requeueAfter", traceparent,
        substring(${bytes}::bytea from start for length)
      from given where id in (select id from fresh)
    ), history as (
      insert into spi_history (message_id, position, status, at)
      select id, 0, 'RECEIVED', "receivedAt" from fresh where "receivedAt" is not null
      union all
      select id, case when "receivedAt" is null then 0 else 1 end, status, now() from fresh
    ), transactions as (
      insert into spi_transactions (message_id, position, end_to_end_id, instruction_id,
        amount_cents, debtor_ispb, creditor_ispb, status, reason, settled_at)
      select "messageId", position, "endToEndId", "instructionId", "amountCents", "debtorIspb",
        "creditorIspb", status, reason, "settledAt"
      from json_to_recordset(${JSON.stringify(transactions)}::text::json) as transaction(
        "messageId" uuid, position int, "endToEndId" text, "instructionId" text,
        "amountCents" bigint, "debtorIspb" text, "creditorIspb" text, status text,
        reason text, "settledAt" timestamptz)
      where "messageId" in (select id from fresh)
    )${ridersWith(sql, riders)}
    select id, null as rider, null as told from fresh
    ${toldBy(sql, riders, sql`null`)}`
  return withoutTold(stored, riders)
}

/** What an answer says of one transaction of a sent message. */
export type AnsweredStatus = {
  readonly messageId: string
  readonly position: number
  readonly status: string
  /** Code of why it is refused. */
  readonly refusal: string | undefined
}

export type Changed = {
  /** Ids of the messages that moved. */
  readonly moved: ReadonlySet<string>
  /** Ids of those whose PI-ResourceId an answer cites that came before the record of their sending. */
  readonly cited: ReadonlySet<string>
}

/**
 * Moves messages to a status that may follow their present one, in one statement; the others stay (an answer that came
 * twice, or late). Status and history change together. A message that became UNKNOWN without a PI-ResourceId is SENT when
 * it gets one, unless that is late: then only the history says so. We keep a PI-ResourceId whatever the status: the answer
 * may have been faster than the record of the sending.
 *
 * @param answered written with the changes; what an earlier answer ended stays
 */
export const recordChanges = async (
  sql: Queryable,
  changes: readonly StatusChange[],
  answered: readonly AnsweredStatus[] = [],
  riders: readonly Rider[] = [],
): Promise<Changed> => {
  const names = changes.some(({ resourceId }) => resourceId !== undefined)
  const told = await sql<ChangedRow[]>`
    with ${moving(sql, changes)}${answered.length > 0 ? answering(sql, answered) : sql``}
    ${names ? naming(sql) : sql`, found as (select id, "isMoved", false as "isCited" from moved)`}
    ${ridersWith(sql, riders)}
    select found.*, null as rider, null as told from found
    ${toldBy(sql, riders, sql`null, null, null`)}`
  const rows = withoutTold(told, riders)
  const idsOf = (those: readonly { readonly id: string }[]) => new Set(those.map(({ id }) => id))
  return {
    moved: idsOf(rows.filter(({ isMoved }) => isMoved)),
    cited: idsOf(rows.filter(({ isCited }) => isCited)),
  }
}

type ChangedRow = {
  readonly id: string
  readonly isMoved: boolean
  readonly isCited: boolean
  readonly rider: string | null
}

/** The same where nobody asks for citations. @returns the ids of the messages that moved */
export const changeStatuses = async (
  ...change: Parameters<typeof recordChanges>
): Promise<Changed['moved']> => (await recordChanges(...change)).moved

/** CTEs that move messages: all writers lock rows in the order of the ids. */
const moving = (sql: Queryable, changes: readonly StatusChange[]) => {
  const wanted = [...changes]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ wasAssumed = false, ...change }) => ({
      ...change,
      from: [
        ...predecessorsOf(change.status),
        ...(wasAssumed ? messageOutcomes.filter((end) => end !== change.status) : []),
      ],
    }))
  // If it first went out before that, the central bank no longer knows it.
  const knownFrom = new Date(Date.now() - knownForMs)
  return sql`
    wanted as materialized (
      select * from json_to_recordset(${JSON.stringify(wanted)}::text::json)
        as wanted(id uuid, status text, detail text, "errorCode" text, "resourceId" text,
          "isLate" boolean, "sentAt" timestamptz, "from" text[], nothing text)
      where ${looksLikeOne(sql)}
    ), moved as (
      update spi_messages message
      set status = case when message.status = 'UNKNOWN' and wanted."isLate" then message.status
          else wanted.status end,
        error_code = wanted."errorCode",
        sent_at = case when wanted."sentAt" is null then message.sent_at
          else coalesce(message.sent_at,
            case when message.in_doubt_since >= ${knownFrom} then message.in_doubt_since end,
            wanted."sentAt") end,
        resource_id = coalesce(wanted."resourceId", message.resource_id)
      from wanted
      where message.id = wanted.id and (message.status = any(wanted."from")
        or (wanted.status = 'SENT' and message.status = 'UNKNOWN'
          and message.resource_id is null and wanted."resourceId" is not null))
      returning message.id, message.direction, message.status, wanted.detail, wanted."resourceId",
        message.status = wanted.status as "isMoved"
    ), noted as (
      insert into spi_history (message_id, position, status, detail)
      select id, 1 + (select max(position) from spi_history where message_id = moved.id), status,
        case when "isMoved" then detail else concat_ws(': ', 'known to be sent', detail) end
      from moved
    )`
}

/** A CTE more: it runs after the messages are locked. */
const answering = (sql: Queryable, answered: readonly AnsweredStatus[]) => sql`
  , answered as (
    update spi_transactions t set status = answer.status, refusal = answer.refusal
    from json_to_recordset(${JSON.stringify(answered)}::text::json) as answer("messageId" uuid,
      position int, status text, refusal text, nothing text)
    where ${looksLikeOne(sql)} and t.message_id = answer."messageId" and t.position = answer.position
      and (t.status is null or t.status = 'ACSP' or t.refusal = ${resolvedByHand})
  )`

/** The end of the statement where messages get their PI-ResourceId, those that did not move too. */
const naming = (sql: Queryable) => sql`
  , kept as (
    update spi_messages message set resource_id = wanted."resourceId"
    from wanted
    where message.id = wanted.id and wanted."resourceId" is not null
      and not exists (select from moved where moved.id = wanted.id)
    returning message.id, message.direction, wanted."resourceId"
  ), named as (
    select id, direction, "resourceId", "isMoved" from moved
    union all select id, direction, "resourceId", false from kept
  ), keyed as (
    insert into spi_message_keys (kind, key, message_id)
    select direction || ':ResourceId', "resourceId", id from named where "resourceId" is not null
    order by 1, 2 on conflict do nothing
  )
  , found as (
    select id, "isMoved", exists (
      select from spi_pending_answers where reference = named."resourceId"
    ) as "isCited" from named
  )`

/** The message that each natural key belongs to; leaves out unknown keys. */
export const idsByKey = async (
  sql: Queryable,
  direction: Direction,
  kind: 'BizMsgIdr' | 'ResourceId',
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await sql<{ key: string; id: string }[]>`
    select wanted.key, known.id from unnest(${textArray(keys)}::text::text[]) as wanted(key)
      cross join lateral (
        select message_id as id from spi_message_keys
        where kind = ${`${direction}:${kind}`} and key = wanted.key limit 1
      ) known`
  return new Map(rows.map(({ key, id }) => [key, id]))
}
