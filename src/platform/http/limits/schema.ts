import { doublePrecision, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** What is left of the requests that keys and accounts may make; a row for each that is limited. */
export const rateBuckets = pgTable('rate_buckets', {
  /** `key:<id>` or `account:<name>`. */
  subject: text().primaryKey(),
  tokens: doublePrecision().notNull(),
  /** By the database's clock, to which the tokens are counted. */
  at: instant('at').notNull(),
})
