import { doublePrecision, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** What is left of what may be asked: by keys and accounts here, by us of the message interface and the directory. */
export const rateBuckets = pgTable('rate_buckets', {
  /** `key:<id>`, `account:<name>`, `spi:<ispb>:<bucket>`, `dict:…`. */
  subject: text().primaryKey(),
  tokens: doublePrecision().notNull(),
  /** By the database's clock, to which the tokens are counted. */
  at: instant('at').notNull(),
})
