import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

/** Every message sent or received; range-partitioned by id (a UUIDv7, so by time), one partition a month. */
export const spiMessages = pgTable(
  'spi_messages',
  {
    id: uuid().primaryKey(),
    type: text(),
    definition: text(),
    direction: text().notNull(),
    status: text().notNull(),
    channel: text(),
    sourceIspb: text('source_ispb'),
    destinationIspb: text('destination_ispb'),
    endToEndId: text('end_to_end_id'),
    bizMsgIdr: text('biz_msg_idr'),
    resourceId: text('resource_id'),
    transactionCount: integer('transaction_count').notNull(),
    errorCode: text('error_code'),
    signature: text().notNull(),
    warnings: jsonb(),
    /** zstd. The bytes received; for a message we send, the bytes that a row of `spi_sendings` completes. */
    xml: bytea().notNull(),
    /** Where the signature of a queued message goes; null: we send `xml` byte for byte. */
    envelope: text(),
    /** Since when the central bank may have a message although nothing confirmed its sending. */
    inDoubtSince: instant('in_doubt_since'),
    /** When a message was sent first, if that was long after it was made; null: soon after. */
    sentAt: instant('sent_at'),
    /** How often an UNKNOWN message was sent again because nobody had answered it; null: never. */
    reasks: integer(),
    /** No process sends it again unasked before then, on the database's clock. */
    reaskAfter: instant('reask_after'),
    /** A payment that the central bank settles within 45 minutes (PAGAGD); null: within 40 seconds. */
    isScheduled: boolean('is_scheduled'),
    /** When a queued message without an entry in the queue gets one; null: it has one, or stands in a line. */
    requeueAfter: instant('requeue_after'),
    /**
     * The line that a queued message stands in until it is sent: the channel took no more. It has an entry in the queue
     * only if `requeued_at` says since when. Null: it stands in none.
     */
    waitsFor: text('waits_for'),
    /** When the entry was written that the queue has of it; null: with the message. */
    requeuedAt: instant('requeued_at'),
    /** W3C Trace Context of whoever had the message sent: later work on it belongs to that trace. */
    traceparent: text(),
  },
  (table) => [
    index('spi_messages_type').on(table.type, table.id),
    index('spi_messages_direction').on(table.direction, table.id),
    index('spi_messages_status').on(table.status, table.id),
    index('spi_messages_source').on(table.sourceIspb, table.id),
    index('spi_messages_destination').on(table.destinationIspb, table.id),
    index('spi_messages_in_doubt')
      .on(table.id)
      .where(sql`in_doubt_since is not null and status in ('QUEUED', 'UNKNOWN')`),
    index('spi_messages_sent_late')
      .on(table.status, table.sentAt)
      .where(sql`sent_at is not null and status in ('SENT', 'UNKNOWN')`),
    index('spi_messages_reask').on(table.reaskAfter, table.id).where(sql`status = 'UNKNOWN'`),
    index('spi_messages_requeue')
      .on(table.requeueAfter, table.id)
      .where(sql`status = 'QUEUED' and waits_for is null`),
    index('spi_messages_line')
      .on(table.waitsFor, table.id)
      .where(sql`status = 'QUEUED' and waits_for is not null`),
  ],
)

/**
 * The bytes that go out of a queued message, written before the first of them does: from then on the central bank may
 * have it, and we never send anything else for it. Range-partitioned as `spi_messages`.
 */
export const spiSendings = pgTable('spi_sendings', {
  messageId: uuid('message_id').primaryKey(),
  /** zstd: what we put into the message's own bytes, its signature; everything that we send if `position` is null. */
  xml: bytea().notNull(),
  position: integer(),
  /** CRC-32 of all bytes that we send, as a signed number. */
  checksum: integer(),
})

/** Messages of unknown outcome that somebody wants sent again at once; a row goes when its message goes out. */
export const spiResends = pgTable('spi_resends', {
  messageId: uuid('message_id').primaryKey(),
  askedAt: instant('asked_at').notNull(),
})

/** The transactions of a message; range-partitioned as `spi_messages`. */
export const spiTransactions = pgTable(
  'spi_transactions',
  {
    messageId: uuid('message_id').notNull(),
    position: integer().notNull(),
    endToEndId: text('end_to_end_id'),
    instructionId: text('instruction_id'),
    amountCents: bigint('amount_cents', { mode: 'bigint' }),
    debtorIspb: text('debtor_ispb'),
    creditorIspb: text('creditor_ispb'),
    status: text(),
    /** Code of the reason that the message gives: of a return why, of an answer why not. */
    reason: text(),
    /** Code of why the answer refuses what we sent; `resolved`: a person told the status, also that of what settled. */
    refusal: text(),
    /** When the settlement was, by the clock of the SPI; only of a received answer that we trust. */
    settledAt: instant('settled_at'),
  },
  (table) => [
    primaryKey({ columns: [table.messageId, table.position] }),
    index('spi_transactions_end_to_end_id').on(table.endToEndId, table.messageId),
    index('spi_transactions_instruction_id').on(table.instructionId, table.messageId),
    index('spi_transactions_amount')
      .on(table.amountCents, table.messageId)
      .where(sql`amount_cents is not null`),
    index('spi_transactions_status')
      .on(table.status, table.messageId)
      .where(sql`status is not null`),
  ],
)

/** Every status a message has had, and when we sent it again; range-partitioned as `spi_messages`. */
export const spiHistory = pgTable(
  'spi_history',
  {
    messageId: uuid('message_id').notNull(),
    position: integer().notNull(),
    status: text().notNull(),
    at: timestamp({ withTimezone: true }).notNull().defaultNow(),
    detail: text(),
    /** The number of the repetition that the entry is about, from 1. Null: the entry is about a status. */
    repetition: integer(),
  },
  (table) => [primaryKey({ columns: [table.messageId, table.position] })],
)

/** The natural keys that identify a message, for ever: we do not store a second one with such a key. */
export const spiMessageKeys = pgTable(
  'spi_message_keys',
  {
    kind: text().notNull(),
    key: text().notNull(),
    messageId: uuid('message_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.key] })],
)

/**
 * Answers that came before what they are about: they cite a PI-ResourceId that we have not recorded yet. We apply them
 * once the sending is recorded.
 */
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
    index('spi_pending_answers_reference').on(table.reference, table.messageId),
    index('spi_pending_answers_created_at').on(table.createdAt),
  ],
)
