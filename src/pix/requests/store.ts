import { constants, type Queryable, textArray } from '#src/platform/database/index.ts'
import { liveStatuses, type RecurrenceRequest } from './domain.ts'

type Row = Omit<RecurrenceRequest, 'recipient' | 'history'> & {
  readonly recipient: string
  readonly history: string
}

const requestOf = (row: Row): RecurrenceRequest => ({
  ...row,
  recipient: JSON.parse(row.recipient) as RecurrenceRequest['recipient'],
  history: JSON.parse(row.history) as RecurrenceRequest['history'],
})

const columns = (sql: Queryable) => sql`
  id, account, recurrence_id as "recurrenceId", status, recipient, history,
  expires_at as "expiresAt", created_at as "createdAt"`

export const addRequest = async (tx: Queryable, made: RecurrenceRequest): Promise<void> => {
  const { id, account, recurrenceId, status, recipient, history, expiresAt, createdAt } = made
  await tx`
    insert into pix_recurrence_requests (id, account, recurrence_id, status, recipient, history,
      expires_at, created_at)
    values (${id}, ${account}, ${recurrenceId}, ${status}, ${JSON.stringify(recipient)},
      ${JSON.stringify(history)}, ${expiresAt}, ${createdAt})`
}

/** Writes what may change. */
export const changeRequest = async (
  tx: Queryable,
  { id, status, history }: RecurrenceRequest,
): Promise<void> => {
  await tx`
    update pix_recurrence_requests set status = ${status}, history = ${JSON.stringify(history)}
    where id = ${id}`
}

export const findRequest = async (
  sql: Queryable,
  account: string,
  id: string,
): Promise<RecurrenceRequest | undefined> => {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from pix_recurrence_requests where id = ${id} and account = ${account}`
  return row && requestOf(row)
}

/** How many of the last requests of a recurrence are shown. */
const shownMax = 20

/** The last requests of each of these recurrences, the newest last. */
export const requestsOf = async (
  sql: Queryable,
  recurrenceIds: readonly string[],
): Promise<readonly RecurrenceRequest[]> => {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from unnest(${textArray(recurrenceIds)}::text::text[]) as wanted(rec)
      cross join lateral (
        select * from pix_recurrence_requests where recurrence_id = wanted.rec
        order by recurrence_id desc, created_at desc limit ${shownMax}
      ) last
    order by created_at, id`
  return rows.map(requestOf)
}

/** The one that waits for the payer, if one does. */
export const liveRequestOf = async (
  sql: Queryable,
  recurrenceId: string,
): Promise<RecurrenceRequest | undefined> =>
  (await requestsOf(sql, [recurrenceId])).find(({ status }) => liveStatuses.has(status))

/** With the moment at which its request ended, as ISO 8601. */
export type OverdueRequest = { readonly expiresAt: string; readonly recurrenceId: string }

/** Some of the recurrences that have a request waiting past its end, the longest past first. */
export const overdueRequests = async (
  sql: Queryable,
  now: Date,
  limit: number,
  after: OverdueRequest = { expiresAt: '-infinity', recurrenceId: '' },
): Promise<readonly OverdueRequest[]> => {
  const rows = await sql<{ expiresAt: Date; recurrenceId: string }[]>`
    select expires_at as "expiresAt", recurrence_id as "recurrenceId" from pix_recurrence_requests
    where status in (${constants(sql, liveStatuses)}) and expires_at < ${now}
      and (expires_at, recurrence_id)
        > (${after.expiresAt}::text::timestamptz, ${after.recurrenceId})
    order by expires_at, recurrence_id limit ${limit}`
  return rows.map((row) => ({ ...row, expiresAt: row.expiresAt.toISOString() }))
}
