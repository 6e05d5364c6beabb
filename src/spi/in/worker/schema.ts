import { index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** Answers that cite a PI-ResourceId that we have not recorded yet: we apply them once we have. */
export const spiPendingAnswers = pgTable(
  'spi_pending_answers',
  {
    /** The received message. */
    messageId: uuid('message_id').notNull(),
    reference: text().notNull(),
    outcome: text().notNull(),
    reason: text(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.messageId, table.reference] }),
    index('spi_pending_answers_created_at').on(table.createdAt),
  ],
)
