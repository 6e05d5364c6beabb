import type { PendingQuery, Row } from 'postgres'
import { type Queryable, textArray } from '#src/platform/database/index.ts'

/** A query that failed, or an entry for information, says nothing of what is booked. */
const isBooked = (sql: Queryable, entry: PendingQuery<Row[]>) =>
  sql`${entry}.status = 'BOOK' and ${entry}.amount_cents is not null`

/** Whether an entry `e` counts: it is booked, and was not told again later. */
export const countsIn = (sql: Queryable) => sql`
  ${isBooked(sql, sql`e`)} and not exists (
    select from spi_entries later
    where later.reference = e.reference and ${isBooked(sql, sql`later`)}
      and (later.message_id, later.position) > (e.message_id, e.position))`

/** Which of the references have a booked entry. */
export const knownReferences = async (
  sql: Queryable,
  references: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql<{ reference: string }[]>`
    select wanted.reference from unnest(${textArray(references)}::text::text[]) as wanted(reference)
      cross join lateral (
        select from spi_entries
        where reference = wanted.reference and ${isBooked(sql, sql`spi_entries`)} limit 1
      ) e`
  return new Set(rows.map(({ reference }) => reference))
}
