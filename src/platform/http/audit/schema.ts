import { sql } from 'drizzle-orm'
import { bigint, boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

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

/**
 * The links of the chain over the log. A link seals the entries of a span of ids; each entry's hash goes into that of
 * the next, over the ends of links.
 */
export const auditLinks = pgTable(
  'audit_links',
  {
    /** From 1, without a gap. */
    seq: bigint({ mode: 'bigint' }).primaryKey(),
    /** The span: inclusive, exclusive. A late link seals what was committed into spans that were sealed before. */
    fromId: uuid('from_id').notNull(),
    toId: uuid('to_id').notNull(),
    isLate: boolean('is_late').notNull().default(false),
    /** Null once the entries were dropped by retention. */
    ids: uuid().array(),
    /** 32 bytes for each id. */
    hashes: bytea(),
    /** The hash of its last entry; in an empty link, that of the link before. */
    hash: bytea().notNull(),
    sealedAt: instant('sealed_at').notNull().defaultNow(),
    droppedAt: instant('dropped_at'),
  },
  (table) => [index('audit_links_to').on(table.toId).where(sql`ids is not null`)],
)
