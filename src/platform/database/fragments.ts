import type { PendingQuery, Row } from 'postgres'
import type { Queryable } from './database.ts'

/*
 * Arrays as PostgreSQL writes them. The driver's own need what it learns on its first connection; before that
 * it makes malformed ones, which only a busy start shows.
 */

type Item = string | number | bigint | null | undefined

/** For `${textArray(ids)}::text::text[]`, or any other element type in place of the second text. */
export const textArray = (values: readonly Item[]): string =>
  `{${values
    .map((value) => (value == null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`))
    .join(',')}}`

/**
 * For `id = any(${listed(sql, ids, 'uuid')})`. If we only cast the text, PostgreSQL would read the list again for each
 * row of a table small enough for a full scan: a thousand ids and rows are seconds.
 */
export const listed = (sql: Queryable, values: readonly Item[], type: 'uuid' | 'text') => {
  const array = sql.unsafe(`${type}[]`)
  return sql`(select ${textArray(values)}::text::${array})::${array}`
}

/**
 * The array of JSON, whose texts have no control characters: escaped by the runtime, in a fraction of the time.
 *
 * @param texts JSON, or words of ours that need no escape
 */
export const jsonArray = (texts: readonly (string | undefined)[]): string =>
  // In an array of JSON, too, undefined becomes null.
  `{${JSON.stringify(texts).slice(1, -1)}}`

/**
 * Documents as one value, and where each begins in it and how long it is: `substring(bytes from start for length)`. An
 * array of `bytea` costs the server a step for each of the two digits of each byte.
 *
 * @property bytes for `${bytes}::bytea`
 * @property starts counted from one; for `${starts}::text::int[]`, as `lengths`
 */
export const joinedBytes = (documents: readonly Uint8Array[]) => {
  let end = 1
  const starts = documents.map(({ length }) => {
    end += length
    return end - length
  })
  return {
    bytes: Buffer.concat(documents),
    starts: textArray(starts),
    lengths: textArray(documents.map(({ length }) => length)),
  }
}

/**
 * Words of ours, written out in `in (…)`: if they came as values, the planner would know nothing of them.
 *
 * @throws Error if one is no word: outside text must never become a part of a statement
 */
export const constants = (sql: Queryable, words: Iterable<string>) =>
  sql.unsafe([...words].map(quoted).join(', '))

const quoted = (word: string): string => {
  if (!/^\w+$/.test(word)) throw new Error('only words of ours stand in statements')
  return `'${word}'`
}

/**
 * For the `where` of a statement that joins a list of the caller's, which has a column `nothing` that is always null:
 * the planner takes the list for one row. It then looks each row up by an index, and does not read a whole table
 * because that looks small or empty while the plan is made: the plan is kept while the table grows.
 */
export const looksLikeOne = (sql: Queryable) => sql`nothing is null`

/**
 * For a `limit`: a number of rows that the server learns only when it runs the statement. It plans a known number anew
 * for each request, which takes longer than the answer, and if it has known the table as an empty one, it sorts all of
 * it for many rows.
 */
export const rowCount = (sql: Queryable, count: number) => sql`(select ${count}::int)`

/**
 * For a `from`: texts as rows of one column. The planner counts the members of an array that it knows, and assumes ten
 * for any other: with fewer than ten, it would plan anew for them at each request.
 */
export const textRows = (sql: Queryable, texts: readonly string[]) =>
  sql`unnest((select ${textArray(texts)}::text::text[]))`

/** A condition that tells the planner nothing: it neither looks for an index nor expects few rows. */
export const opaque = (sql: Queryable, condition: PendingQuery<Row[]>) =>
  sql`case when ${condition} then true else false end`
