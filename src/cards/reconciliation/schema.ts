import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { constants, instant } from '#src/platform/database/columns.ts'
import type { BookedKind, StoredTotals } from './totals.ts'

/** Ends that somebody has to look at. `unanswered`: not in time. `refused`: the network would not compare. */
export const amissStatuses = ['different', 'refused', 'unanswered'] as const
/** `pending`: asked until the network answers. */
export const reconciliationStatuses = ['pending', 'balanced', ...amissStatuses] as const
export type ReconciliationStatus = (typeof reconciliationStatuses)[number]

/** The business day that is open at each network that is reconciled with. */
export const cardBusinessDays = pgTable('card_business_days', {
  network: text().primaryKey(),
  day: date().notNull(),
  /** By the database's clock. */
  since: instant('since').notNull().defaultNow(),
})

/** Money that moved, by the day in which the network booked it: what totals are the sums of. */
export const cardMovements = pgTable(
  'card_movements',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    network: text().notNull(),
    day: date().notNull(),
    currency: text().notNull(),
    kind: text().$type<BookedKind>().notNull(),
    amountCents: bigint('amount_cents', { mode: 'bigint' }).notNull(),
    /** DE 28 and DE 30 of the answer, a credit negative; null: it told none. */
    transactionFeeCents: bigint('transaction_fee_cents', { mode: 'bigint' }),
    processingFeeCents: bigint('processing_fee_cents', { mode: 'bigint' }),
    transactionId: text('transaction_id').notNull(),
    /** DE 11 and DE 7 of the message that moved it; of a reversal those of the message that it takes back; of the void of a part its own. */
    stan: text().notNull(),
    transmission: text().notNull(),
    at: instant('at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('card_movements_once').on(
      table.transactionId,
      table.kind,
      table.stan,
      table.transmission,
    ),
    index('card_movements_day').on(table.network, table.day, table.id),
  ],
)

/** The comparison of one business day, network and currency. */
export const cardReconciliations = pgTable(
  'card_reconciliations',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    network: text().notNull(),
    day: date().notNull(),
    currency: text().notNull(),
    status: text().$type<ReconciliationStatus>().notNull().default('pending'),
    /** By our book when it was first sent, and what the network answered. */
    ours: jsonb().$type<StoredTotals>(),
    theirs: jsonb().$type<StoredTotals>(),
    /**
     * The upload of the day's transactions: `under_way`, or `done`, after which the totals are compared again; null
     * where it is not asked for.
     */
    upload: text().$type<'under_way' | 'done'>(),
    /** The last movement that the network has answered for, and how many it has taken and refused. */
    uploadedTo: bigint('uploaded_to', { mode: 'bigint' }),
    uploaded: integer().notNull().default(0),
    uploadsRefused: integer('uploads_refused').notNull().default(0),
    /** DE 11 and DE 7 of the message that is sent, the same in every repeat. */
    stan: text(),
    transmission: text(),
    /** The movement that a 0320 with these numbers tells of, and what stood of it then. */
    uploadingId: bigint('uploading_id', { mode: 'bigint' }),
    uploadingCents: bigint('uploading_cents', { mode: 'bigint' }),
    /** How often bytes of that message may have reached the network. */
    attempts: integer().notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull(),
    leaseUntil: instant('lease_until'),
    /** DE 39 and DE 66 of the last answer. */
    responseCode: text('response_code'),
    settlementCode: text('settlement_code'),
    createdAt: instant('created_at').notNull().defaultNow(),
    sentAt: instant('sent_at'),
    endedAt: instant('ended_at'),
    resolvedAt: instant('resolved_at'),
    /** Public id of the API key, and what the person said. */
    resolvedBy: text('resolved_by'),
    resolvedReason: text('resolved_reason'),
  },
  (table) => [
    uniqueIndex('card_reconciliations_once').on(table.network, table.day, table.currency),
    index('card_reconciliations_due').on(table.nextAttemptAt).where(sql`status = 'pending'`),
    index('card_reconciliations_open')
      .on(table.network)
      .where(sql`status in (${constants(amissStatuses)}) and resolved_at is null`),
  ],
)
