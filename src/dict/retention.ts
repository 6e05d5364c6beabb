import {
  type Client,
  daysAgo,
  deletedMax,
  deleteInBatches,
  type Queryable,
} from '#src/platform/database/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import { forgetFullBuckets, forgetSomeLookups } from './store.ts'

/** Long after anybody may pay by it. */
const keptDays = 1

/** Deletes old lookups, and the buckets of payers who have not looked anything up for long. */
export const forgetLookups = async (sql: Client, round?: Round): Promise<number> => {
  const before = await daysAgo(sql, keptDays)
  const lookups = await deleteInBatches(() => forgetSomeLookups(sql, before), round)
  return lookups + (await deleteInBatches(() => forgetFullBuckets(sql), round))
}

/** Some of those that ended before then: their differences, and those that have none left. */
export const forgetSomeComparisons = async (sql: Queryable, before: Date): Promise<number> => {
  const { count: differences } = await sql`
    delete from dict_differences where (comparison_id, key) in (
      select c.id, d.key from dict_comparisons c cross join lateral (
        select key from dict_differences where comparison_id = c.id order by key limit ${deletedMax}
      ) d
      where c.ended_at < ${before} limit ${deletedMax})`
  if (differences === deletedMax) return differences
  const { count } = await sql`
    delete from dict_comparisons where id = any(array(
      select id from dict_comparisons c where ended_at < ${before}
        and not exists (select from dict_differences where comparison_id = c.id)
      order by ended_at limit ${deletedMax}))`
  return Math.max(count, differences)
}

export const forgetComparisons = async (
  sql: Client,
  days: number,
  round?: Round,
): Promise<number> => {
  const before = await daysAgo(sql, days)
  return deleteInBatches(() => forgetSomeComparisons(sql, before), round)
}
