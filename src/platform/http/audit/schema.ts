import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'

/** Who did what; range-partitioned by id (a UUIDv7, so by time), a month each. Rows are added and read, never changed. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid().primaryKey(),
    /** Public id of the API key, or `cli:<user>` of a command. */
    actor: text().notNull(),
    /** `spi.send`, `webhooks.rotate`. */
    action: text().notNull(),
    /** Id of the object of the action. */
    object: text().notNull(),
    outcome: text().notNull(),
    requestId: text('request_id'),
  },
  (table) => [
    index('audit_log_actor').on(table.actor, table.id),
    index('audit_log_action').on(table.action, table.id),
    index('audit_log_object').on(table.object, table.id),
  ],
)
