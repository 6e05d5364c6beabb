import { index, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'

/** Answers that cite a PI-ResourceId which is not recorded yet: they take effect once it is. */
export const spiPendingAnswers = pgTable(
  'spi_pending_answers',
  {
    /** The received message. */
    messageId: uuid('message_id').notNull(),
    reference: text().notNull(),
    outcome: text().notNull(),
    reason: text(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.messageId, table.reference] }),
    index('spi_pending_answers_created_at').on(table.createdAt),
  ],
)
