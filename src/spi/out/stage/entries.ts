/**
 * Which queued messages have an entry on the queue. One is written with each message, or later, at `requeued_at`. A
 * message has none until `requeue_after`, nor while it stands in the line that `waits_for` names, unless `requeued_at`
 * says that it was called.
 */
import { looksLikeOne, type Queryable, uuidBound } from '#src/platform/database/index.ts'
import type { Line } from '../../link/index.ts'
import type { StoredQueued } from '../../messages/index.ts'

/** Takes it off the queue until a moment; then we put it there again. */
export const setAside = async (sql: Queryable, id: string, until: Date): Promise<void> => {
  await sql`
    update spi_messages set requeue_after = ${until}, waits_for = null, requeued_at = null
    where id = ${id} and status = 'QUEUED'`
}

/** Notes that it is on the queue from now on. */
export const noteQueued = async (sql: Queryable, id: string): Promise<void> => {
  await sql`
    update spi_messages set requeue_after = null, waits_for = null, requeued_at = ${new Date()}
    where id = ${id} and status = 'QUEUED'`
}

/** Takes messages off the queue: each stands in its line from now on, by its age. */
export const joinLines = async (
  sql: Queryable,
  messages: readonly { readonly id: string; readonly line: Line }[],
): Promise<void> => {
  const sorted = [...messages].sort(byId).map(({ id, line }) => ({ id, line, status: 'QUEUED' }))
  await sql`
    update spi_messages message
    set waits_for = given.line, requeue_after = null, requeued_at = null
    from json_to_recordset(${JSON.stringify(sorted)}::text::json)
      as given(id uuid, line text, status text, nothing text)
    where ${looksLikeOne(sql)} and message.id = given.id and message.status = given.status`
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number =>
  a.id < b.id ? -1 : 1

/** True while somebody stands in the line, called or not. */
export const isLineLeft = async (sql: Queryable, line: Line): Promise<boolean> => {
  const { count } = await sql`
    select from spi_messages where status = 'QUEUED' and waits_for = ${line}
    order by waits_for, id limit 1`
  return count > 0
}

export type Overdue = {
  /** A message comes back to the queue if its time is not after this. */
  readonly now: Date
  /** An entry that was written before this is no longer on the queue. */
  readonly lostBefore: Date
}

/** True when a queued message has to be put on the queue, or may have to be: its time has come, it waits, or is old. */
export const hasOverdue = async (
  sql: Queryable,
  { now, lostBefore }: Overdue,
): Promise<boolean> => {
  const [row] = await sql<{ found: boolean }[]>`
    select coalesce((
      select id from spi_messages where ${isDue(sql, now)} order by requeue_after, id limit 1
    ), (
      select id from spi_messages where ${isLost(sql, lostBefore)} order by requeue_after, id limit 1
    ), (
      select id from spi_messages where status = 'QUEUED' and waits_for is not null
      order by waits_for, id limit 1
    )) is not null as found`
  return row?.found === true
}

const isDue = (sql: Queryable, now: Date) => sql`
  status = 'QUEUED' and waits_for is null and requeue_after <= ${now}`

const isLost = (sql: Queryable, before: Date) => sql`
  status = 'QUEUED' and waits_for is null and requeue_after is null
  and id < ${uuidBound(before)}::uuid and (requeued_at is null or requeued_at < ${before})`

/** A message that goes on the queue. */
export type Requeued = StoredQueued & {
  /** It should have had its entry there. */
  readonly isLost: boolean
}

/** Returns messages that stand in no line and have no entry on the queue any more; from now on they have one. */
export const takeOverdue = async (
  tx: Queryable,
  { now, lostBefore, limit }: Overdue & { readonly limit: number },
): Promise<readonly Requeued[]> => {
  const rows = await tx<(QueuedRow & Pick<Requeued, 'isLost'>)[]>`
    with due as materialized (
      select id from spi_messages where ${isDue(tx, now)}
      order by requeue_after, id limit ${limit} for update skip locked
    ), lost as materialized (
      select id from spi_messages where ${isLost(tx, lostBefore)}
      order by requeue_after, id limit ${limit} for update skip locked
    ), overdue as materialized (
      select id, false as "isLost" from due union all select id, true from lost
    )
    update spi_messages message set requeue_after = null, requeued_at = ${now}
    from overdue where message.id = overdue.id
    returning ${queuedColumns(tx)}, "isLost"`
  return rows.map(queuedOf).sort(byId)
}

/** One that stands in a line. */
export type Waiting = StoredQueued & {
  /** When it was called. */
  readonly requeuedAt: Date | null
}

/**
 * Returns the first of a line behind a place, and locks them. Leaves out those who were called a while ago and whose
 * entries are not lost: those stand in the queue behind others.
 */
export const lockLine = async (
  tx: Queryable,
  line: Line,
  search: {
    readonly after: string
    readonly lostBefore: Date
    readonly calledAfter: Date
    readonly limit: number
  },
): Promise<readonly Waiting[]> => {
  const { after, lostBefore, calledAfter, limit } = search
  const rows = await tx<(QueuedRow & Pick<Waiting, 'requeuedAt'>)[]>`
    select ${queuedColumns(tx)}, requeued_at as "requeuedAt" from spi_messages message
    where status = 'QUEUED' and waits_for = ${line} and id > ${after}::uuid
      and (requeued_at is null or requeued_at < ${lostBefore} or requeued_at > ${calledAfter})
    order by waits_for, id limit ${limit} for update`
  return rows.map(queuedOf)
}

/** Notes that those of a line are on the queue from now on. */
export const noteCalled = async (
  tx: Queryable,
  ids: readonly string[],
  now: Date,
): Promise<void> => {
  await tx`
    update spi_messages message set requeued_at = ${now}, requeue_after = null
    from json_to_recordset(${JSON.stringify(ids.map((id) => ({ id })))}::text::json)
      as called(id uuid, nothing text)
    where ${looksLikeOne(tx)} and message.id = called.id`
}

/**
 * Gives a message that its sender had to itself to the queue; returns nothing if somebody has put it there already, or
 * it is no longer QUEUED.
 */
export const releaseToQueue = async (
  tx: Queryable,
  { id, requeueAfter, isInDoubt }: { id: string; requeueAfter: Date; isInDoubt: boolean },
): Promise<readonly StoredQueued[]> => {
  const rows = await tx<QueuedRow[]>`
    update spi_messages message
    set requeue_after = null, requeued_at = ${new Date()},
      in_doubt_since = case when ${isInDoubt} then in_doubt_since end
    where id = ${id} and status = 'QUEUED' and requeue_after = ${requeueAfter}
    returning ${queuedColumns(tx)}`
  return rows.map(queuedOf)
}

type QueuedRow = Omit<StoredQueued, 'xml' | 'envelope' | 'traceparent'> & {
  readonly xml: Buffer
  readonly envelope: string | null
  readonly traceparent: string | null
}

const queuedColumns = (sql: Queryable) => sql`
  message.id, type, channel, biz_msg_idr as "bizMsgIdr", end_to_end_id as "endToEndId", xml, envelope,
  traceparent`

const queuedOf = <Row extends QueuedRow>(row: Row) => ({
  ...row,
  xml: Bun.zstdDecompressSync(row.xml),
  envelope: row.envelope ?? undefined,
  traceparent: row.traceparent ?? undefined,
})
