import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** The reports on our account that we have asked for, and what was answered. */
export const spiReports = pgTable(
  'spi_reports',
  {
    /** The id of the camt.060. */
    id: uuid().primaryKey(),
    /** Its MsgId, which the answers cite. */
    requestId: text('request_id').notNull().unique(),
    /** `entries`, `balances` or `entry`. */
    report: text().notNull(),
    entryId: text('entry_id'),
    day: text(),
    /** How many entries the file of a camt.052 has, and its hash. */
    declaredEntries: text('declared_entries'),
    fileHash: text('file_hash'),
    /** The balances of a camt.053. */
    balances: jsonb(),
    answeredBy: uuid('answered_by'),
  },
  (table) => [
    index('spi_reports_balances').on(table.id).where(sql`balances is not null`),
    index('spi_reports_declared').on(table.day, table.id).where(sql`declared_entries is not null`),
  ],
)

/** The entries of every camt.054, each compared with our book. */
export const spiEntries = pgTable(
  'spi_entries',
  {
    messageId: uuid('message_id').notNull(),
    position: integer().notNull(),
    requestId: text('request_id').notNull(),
    /** EndToEndId of a payment, RtrId of a return. */
    reference: text().notNull(),
    endToEndId: text('end_to_end_id'),
    /** Null: the central bank has no such entry. */
    amountCents: bigint('amount_cents', { mode: 'bigint' }),
    /** CRDT or DBIT. */
    direction: text(),
    status: text(),
    bookedOn: text('booked_on'),
    /** When the amount moved, by the clock of the central bank. */
    valuedAt: instant('valued_at'),
    ourCents: bigint('our_cents', { mode: 'bigint' }),
    outcome: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.messageId, table.position] }),
    index('spi_entries_outcome').on(table.outcome, table.messageId, table.position),
    index('spi_entries_request').on(table.requestId, table.messageId, table.position),
    index('spi_entries_reference').on(table.reference, table.messageId, table.position),
    index('spi_entries_booked').on(table.bookedOn, table.messageId, table.position),
  ],
)
