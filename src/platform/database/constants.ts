import type { Queryable } from './database.ts'

/**
 * Words of ours as they stand in `in (…)`: of those that come as values the planner knows nothing.
 *
 * @throws Error if one is no word: what comes from outside is never a part of a statement
 */
export const constants = (sql: Queryable, words: Iterable<string>) =>
  sql.unsafe([...words].map(quoted).join(', '))

const quoted = (word: string): string => {
  if (!/^\w+$/.test(word)) throw new Error('only words of ours stand in statements')
  return `'${word}'`
}
