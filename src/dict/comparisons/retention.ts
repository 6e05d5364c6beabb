import {
  type Client,
  deletedMax,
  deleteInBatches,
  type Queryable,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'

const everyMs = 3_600_000

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

export const forgetComparisons = (sql: Client, days: number, round?: Round): Promise<number> => {
  const before = new Date(Date.now() - days * dayMs)
  return deleteInBatches(() => forgetSomeComparisons(sql, before), round)
}

export const createComparisonSweep = (sql: Client, days: number, logger: Logger): Job =>
  createJob({
    name: 'old directory comparisons',
    everyMs,
    fleet: { sql },
    logger,
    run: (round) => forgetComparisons(sql, days, round),
  })
