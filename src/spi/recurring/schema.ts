import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'

/** The mandates and charges of Pix Automático, as the messages about them leave them. */
export const spiRecurrences = pgTable(
  'spi_recurrences',
  {
    /** Kind and key: `charge E…`. */
    id: text().primaryKey(),
    /** `mandate` or `charge`. */
    kind: text().notNull(),
    /** MndtId of a mandate, EndToEndId of a charge. */
    key: text().notNull(),
    /** Null within the transaction that makes it, and while no message tells it. */
    state: text(),
    /** The state while a cancellation is asked for: where a refusal of it leads back. */
    stateBefore: text('state_before'),
    mandateId: text('mandate_id'),
    reconciliationId: text('reconciliation_id'),
    /** What was agreed or is to be paid; nothing of persons. */
    terms: jsonb(),
    /** The first message about it. */
    createdBy: uuid('created_by').notNull(),
    /** The message that gave it its state. */
    changedBy: uuid('changed_by'),
    /** True: some messages about it are no longer kept, so it cannot be derived again. */
    isPartial: boolean('is_partial').notNull().default(false),
  },
  (table) => [
    index('spi_recurrences_listed').on(table.kind, table.createdBy, table.key),
    index('spi_recurrences_state').on(table.kind, table.state, table.createdBy, table.key),
    index('spi_recurrences_mandate').on(table.mandateId, table.kind, table.createdBy, table.key),
  ],
)

/** What each message said about a mandate or charge. */
export const spiRecurrenceSteps = pgTable(
  'spi_recurrence_steps',
  {
    recurrenceId: text('recurrence_id').notNull(),
    messageId: uuid('message_id').notNull(),
    position: integer().notNull(),
    type: text().notNull(),
    direction: text().notNull(),
    /** MndtReqId, or the id of a cancellation. */
    requestId: text('request_id'),
    status: text(),
    reason: text(),
    /** The state that it led to; null: it changed nothing. */
    state: text(),
  },
  (table) => [
    primaryKey({ columns: [table.recurrenceId, table.messageId, table.position] }),
    index('spi_recurrence_steps_message').on(table.messageId),
  ],
)
