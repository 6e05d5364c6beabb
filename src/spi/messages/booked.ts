import type { PendingQuery, Row } from 'postgres'
import {
  type Client,
  type Queryable,
  textArray,
  withDeadlockRetries,
} from '#src/platform/database/index.ts'
import { orderTypes } from './domain.ts'
import type { LateAnswer, LateDeps } from './remembered.ts'
import { endUnknown } from './unknown.ts'

/*
 * A camt.054 that tells the debit of a payment or return of ours is a word of the central bank, too: it has settled. That
 * comes where no answer does, since somebody asked for it.
 */

const walkedMax = 500

type Walked = { readonly id: string; readonly type: string; readonly isBooked: boolean }

/**
 * Walks some of what is UNKNOWN, and ends what the central bank has told to be booked.
 *
 * @param after where the walk before ended
 * @returns where it ended; undefined: there is nothing after it
 */
export const endBooked = async (
  sql: Client,
  after: string,
  deps: LateDeps,
): Promise<{ readonly ended: readonly LateAnswer[]; readonly place: string | undefined }> => {
  const rows = await findBooked(sql, after)
  const ended: LateAnswer[] = []
  for (const one of rows.filter(({ isBooked }) => isBooked)) {
    const late = await withDeadlockRetries(sql, async (tx) => {
      // An answer may have ended it meanwhile.
      const { count } = await tx`
        select from spi_messages where id = ${one.id}::uuid and status = 'UNKNOWN' for update`
      return count === 0 ? undefined : endDebited(tx, one, deps)
    })
    if (late !== undefined) ended.push(late)
  }
  return { ended, place: rows.length < walkedMax ? undefined : rows.at(-1)?.id }
}

/**
 * Ends the parts of an UNKNOWN message of ours that are told to be booked, and the message where no other waits. The caller
 * has locked it.
 */
export const endDebited = async (
  tx: Queryable,
  message: { readonly id: string; readonly type: string },
  deps: LateDeps,
): Promise<LateAnswer | undefined> => {
  if (!orderTypes.some((type) => type === message.type)) return undefined
  const onlyWhere = isDebited(tx, tx`${message.type}::text`)
  return endUnknown(tx, message, { outcome: 'ACCEPTED', detail: 'booked', onlyWhere }, deps)
}

/** Says of a part `t` that it has no answer. */
const isOpen = (sql: Queryable) => sql`(t.status is null or t.status = 'ACSP')`

/** Says of it, in a message of that type, that the last entry booked under its id is its debit. */
const isDebited = (sql: Queryable, type: PendingQuery<Row[]>) => sql`(
  select e.direction = 'DBIT' and e.amount_cents = t.amount_cents from spi_entries e
  where e.reference = case ${type} when 'pacs.004' then t.instruction_id else t.end_to_end_id end
    and e.status = 'BOOK' and e.amount_cents is not null
  order by e.reference desc, e.message_id desc, e.position desc limit 1
) is true`

/** Unknown messages, each with whether one of its parts without an answer is booked. */
export const findBooked = (sql: Queryable, after: string): Promise<readonly Walked[]> => sql<
  Walked[]
>`
    with message as materialized (
      select id, type from spi_messages where status = 'UNKNOWN' and id > ${after}::uuid
      order by status, id limit ${walkedMax}
    )
    select id, type, type = any(${textArray(orderTypes)}::text::text[]) and (
        select position from spi_transactions t
        where t.message_id = message.id and ${isOpen(sql)}
          and ${isDebited(sql, sql`message.type`)} limit 1
      ) is not null as "isBooked"
    from message order by id`
