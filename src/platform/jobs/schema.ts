import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** Jobs that one process of the fleet does for all: who did or does each, and until when nobody else begins it. */
export const jobLeases = pgTable('job_leases', {
  name: text().primaryKey(),
  /** Host, process id, and a random part. */
  owner: text().notNull(),
  /** While a round runs, the end of its lease; afterwards, when the next round is due. */
  until: instant('until').notNull(),
  /** Grows with every round: whoever holds a smaller one has lost the job. */
  fence: bigint({ mode: 'bigint' }).notNull(),
})
