import type { PendingQuery, Row } from 'postgres'
import { type Queryable, uuidBound } from '#src/platform/database/index.ts'
import { isUnawaited } from './awaited.ts'
import type { StatusChange } from './domain.ts'
import { endMessages, type LateAnswer, type LateDeps } from './remembered.ts'

/*
 * That the central bank took a message says no more than that. Some messages nothing answers, unless they are refused: our
 * refusal of a payment, or our answer to a request. An hour after they were sent they are ACCEPTED, and a refusal that
 * comes later is told all the same. What answers a request of a mandate or a report does not name its message: that the mandate or
 * the report tells of it ends it.
 */

const refusedWithinMs = 3_600_000
const answeredAfterMs = 60_000
const walkedMax = 1_000

/** Before every message. */
export const firstPlace = '00000000-0000-0000-0000-000000000000'

/** How many of the last answers about one mandate we look at. */
const answersMax = 100

/** When a message was stored, by the clock of the database: ids are of the clocks of whoever made them. */
const storedAt = (sql: Queryable, id: PendingQuery<Row[]>) => sql`(
  select at from spi_history where message_id = ${id} and status <> 'RECEIVED'
  order by message_id, position limit 1)`

/**
 * Says of the row `message` that what it asks for was told after it was stored. A pain.011 is not answered by what its
 * pain.009 is.
 */
const isAnswered = (sql: Queryable) => sql`(
  (message.type = 'camt.060' and (
    select answered_by from spi_reports where id = message.id limit 1) is not null)
  or (message.type in ('pain.009', 'pain.011') and (
    select answer.message_id
    from (
        select recurrence_id from spi_recurrence_steps where message_id = message.id limit 1
      ) own
      cross join lateral (
        select message_id from spi_recurrence_steps
        where recurrence_id = own.recurrence_id and type = 'pain.012' and direction = 'INBOUND'
          and (message.type = 'pain.009' or status not in ('PDNG', 'CFDB'))
        order by recurrence_id, message_id desc limit ${answersMax}
      ) answer
    where ${storedAt(sql, sql`answer.message_id`)} > ${storedAt(sql, sql`message.id`)}
    limit 1) is not null))`

type Walked = { readonly id: string; readonly isOver: boolean; readonly isAnswered: boolean }

/**
 * Walks some of what is sent, and ends what waits for nothing more.
 *
 * @param after where the walk before ended, or {@link firstPlace}
 * @returns where it ended; undefined: there is nothing after it
 */
export const endUnawaited = async (
  tx: Queryable,
  after: string,
  deps: LateDeps,
): Promise<{ readonly ended: readonly LateAnswer[]; readonly place: string | undefined }> => {
  const nowMs = Date.now()
  const hourAgo = new Date(nowMs - refusedWithinMs)
  const rows = await tx<Walked[]>`
    with message as materialized (
      select id, type, coalesce(sent_at, in_doubt_since) as late_at from spi_messages
      where status = 'SENT' and id > ${after}::uuid
        and id < ${uuidBound(new Date(nowMs - answeredAfterMs))}::uuid
      order by status, id limit ${walkedMax}
    )
    select id, ${isAnswered(tx)} as "isAnswered",
      id < ${uuidBound(hourAgo)}::uuid and (late_at is null or late_at < ${hourAgo})
        and ${isUnawaited(tx)} as "isOver"
    from message order by id`
  const changes = rows.flatMap(({ id, isOver, isAnswered }): readonly StatusChange[] => {
    if (isAnswered) return [{ id, status: 'ACCEPTED', detail: 'answered' }]
    return isOver ? [{ id, status: 'ACCEPTED', detail: 'no answer is due' }] : []
  })
  const ended = await endMessages(tx, changes, deps)
  return { ended, place: rows.length < walkedMax ? undefined : rows.at(-1)?.id }
}
