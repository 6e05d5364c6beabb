import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** Jobs that one process does for the whole fleet: its name, and until when no other begins the job. */
export const jobLeases = pgTable('job_leases', {
  name: text().primaryKey(),
  /** Host, process id, and a random part. */
  owner: text().notNull(),
  /** While a round runs, the end of its lease; afterwards, when the next round is due. */
  until: instant('until').notNull(),
  /** Grows with every round: a process with a smaller one has lost the job. */
  fence: bigint({ mode: 'bigint' }).notNull(),
})
