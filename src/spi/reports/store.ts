import { type Client, type Queryable, rowCount } from '#src/platform/database/index.ts'
import type { EntryRow, ReportRow } from './service.ts'

export const insertReport = async (
  tx: Queryable,
  { id, requestId, report, entryId, day }: ReportRow,
): Promise<void> => {
  await tx`
    insert into spi_reports (id, request_id, report, entry_id, day)
    values (${id}::uuid, ${requestId}, ${report}, ${entryId}, ${day})`
}

const reportColumns = (sql: Client) => sql`
  r.id, r.request_id as "requestId", r.report, r.entry_id as "entryId", r.day,
  r.declared_entries as "declaredEntries", r.file_hash as "fileHash", r.balances,
  r.answered_by as "answeredBy", m.status as "messageStatus"`

const message = (sql: Client) => sql`
  left join lateral (select status from spi_messages where id = r.id limit 1) m on true`

export const findReport = async (sql: Client, id: string): Promise<ReportRow | undefined> => {
  const [row] = await sql<ReportRow[]>`
    select ${reportColumns(sql)} from spi_reports r ${message(sql)} where r.id = ${id}::uuid`
  return row
}

const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export const listReports = (
  sql: Client,
  limit: number,
  before: string = lastUuid,
): Promise<readonly ReportRow[]> => sql<ReportRow[]>`
  select ${reportColumns(sql)} from (
      select * from spi_reports where id < ${before}::uuid order by id desc limit ${rowCount(sql, limit)}
    ) r ${message(sql)}
  order by r.id desc`

export type EntryFilter = {
  readonly outcome?: string | undefined
  readonly requestId?: string | undefined
}

/** Entries of one request are few, so they are searched for the outcome. */
const requestEntriesMax = 10_000

export const listEntries = (
  sql: Client,
  { outcome, requestId }: EntryFilter,
  limit: number,
  [messageId, position]: readonly [string, number] = [lastUuid, 0],
): Promise<readonly EntryRow[]> => {
  const columns = sql`
    message_id as "messageId", position, request_id as "requestId", reference,
    end_to_end_id as "endToEndId", amount_cents as "amountCents", direction, status,
    booked_on as "bookedOn", our_cents as "ourCents", outcome`
  const isBefore = sql`(message_id, position) < (${messageId}::uuid, ${position}::int)`
  if (requestId !== undefined) {
    return sql<EntryRow[]>`
      select ${columns} from (
          select * from spi_entries where request_id = ${requestId} and ${isBefore}
          order by request_id desc, message_id desc, position desc limit ${rowCount(sql, requestEntriesMax)}
        ) asked
      where ${outcome === undefined ? sql`true` : sql`outcome = ${outcome}`}
      order by message_id desc, position desc limit ${rowCount(sql, limit)}`
  }
  if (outcome === undefined) {
    return sql<EntryRow[]>`
      select ${columns} from spi_entries where ${isBefore}
      order by message_id desc, position desc limit ${rowCount(sql, limit)}`
  }
  // Told by equality, a table that nobody has analyzed seems to hold few of it: they would be sorted.
  return sql<EntryRow[]>`
    select ${columns} from spi_entries
    where outcome >= ${outcome}
      and (outcome, message_id, position) < (${outcome}, ${messageId}::uuid, ${position}::int)
    order by outcome desc, message_id desc, position desc limit ${rowCount(sql, limit)}`
}
