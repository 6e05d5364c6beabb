import { date, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** Lists that others publish, each as it was last taken; what is not here stands in the program. */
export const referenceLists = pgTable('reference_lists', {
  /** `holidays` or `participants`. */
  name: text().primaryKey(),
  /** Where it was read. */
  source: text().notNull(),
  /** The day that it is of. */
  asOf: date('as_of').notNull(),
  /** Its items, as JSON. */
  items: text().notNull(),
  storedAt: instant('stored_at').notNull(),
})
