import type { PendingQuery, Row } from 'postgres'
import type { Queryable } from './database.ts'

/**
 * For the `where` of a statement that joins a list of the caller's, which has a column `nothing` that is always null:
 * the planner takes the list for one row. It then looks each row up by an index, and does not read a whole table
 * because that looks small or empty while the plan is made: the plan is kept while the table grows.
 */
export const looksLikeOne = (sql: Queryable) => sql`nothing is null`

const noId = '00000000-0000-0000-0000-000000000000'

/**
 * For a statement that looks rows up in a table parted by this column: PostgreSQL then opens the partitions of these ids
 * alone, and not every one as often as it runs. `now` is no constant, so the bounds are compared as each run begins: a
 * plan that has them in it would look cheaper than the one that is kept, and be made anew for each run.
 *
 * @param ids UUIDs that all rows have that are looked up
 */
export const amongIds = (
  sql: Queryable,
  column: PendingQuery<Row[]>,
  ids: readonly string[],
): PendingQuery<Row[]> => {
  const sorted = ids.map((id) => id.toLowerCase()).sort()
  return sql`${column} >= case when now() is not null then ${sorted[0] ?? noId}::uuid end
    and ${column} <= case when now() is not null then ${sorted.at(-1) ?? noId}::uuid end`
}
