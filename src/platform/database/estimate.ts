import { textArray } from './array.ts'
import type { Queryable } from './database.ts'

/**
 * For the `where` of a statement that joins a list of the caller's, which has a column `nothing` that is always null:
 * the planner takes the list for one row. It then looks each row up by an index, and does not read a whole table
 * because that looks small or empty while the plan is made: the plan is kept while the table grows.
 */
export const looksLikeOne = (sql: Queryable) => sql`nothing is null`

/**
 * For a `limit`: a number of rows that the server learns when it runs the statement. It plans one that it knows anew for
 * each request, which takes longer than the answer, and where it has known the table as an empty one, it sorts all of it
 * for many rows.
 */
export const rowCount = (sql: Queryable, count: number) => sql`(select ${count}::int)`

/**
 * For a `from`: texts as rows of one column. Of an array that it knows the planner counts the members, and takes ten for
 * those of any: where there are fewer it would plan for them anew at each request.
 */
export const textRows = (sql: Queryable, texts: readonly string[]) =>
  sql`unnest((select ${textArray(texts)}::text::text[]))`
