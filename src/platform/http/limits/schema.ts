import { doublePrecision, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/**
 * The tokens that are left: here keys and accounts spend them, and we do at the message interface and the directory.
 */
export const rateBuckets = pgTable('rate_buckets', {
  /** `key:<id>`, `account:<name>`, `spi:<ispb>:<bucket>`, `dict:…`. */
  subject: text().primaryKey(),
  tokens: doublePrecision().notNull(),
  /** The moment that the tokens are counted to, by the database's clock. */
  at: instant('at').notNull(),
})
