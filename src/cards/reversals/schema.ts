import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'
import type { Traceparent } from '#src/platform/observe/index.ts'
import type { Details } from '../content/index.ts'

/** What a reversal takes back, or what it is itself. */
export const reversedOperations = [
  'authorization',
  'capture',
  'refund',
  'void',
  'partial_void',
  'release',
  'increment',
] as const
export type ReversedOperation = (typeof reversedOperations)[number]

/** Decisions that a network hears of later, because it was away. */
export const advisedOperations = [
  'authorization_advice',
  'capture_advice',
  'partial_capture_advice',
  'refund_advice',
] as const
export type AdvisedOperation = (typeof advisedOperations)[number]

/**
 * Reversals, and advices of what was decided while a network was away: both are sent until their networks confirm them,
 * and those of one transaction in one order. Holds no card number, only its token.
 */
export const cardReversals = pgTable(
  'card_reversals',
  {
    /** In the order of commits: the older of one transaction's reversals goes first. */
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    transactionId: text('transaction_id').notNull(),
    network: text().notNull(),
    /**
     * The operation to undo. `void`, `partial_void` and `release` repeat the void itself, because nobody knows whether it
     * was done; the original is then the authorization. `…_advice` takes nothing back: it tells the network of the
     * operation, under numbers that it has from the beginning.
     */
    reverses: text().$type<ReversedOperation | AdvisedOperation>().notNull(),
    cardToken: text('card_token').notNull(),
    amountCents: bigint('amount_cents', { mode: 'bigint' }).notNull(),
    currency: text().notNull(),
    /** MTI, DE 11 and DE 7 of the original. */
    originalMti: text('original_mti').$type<'0100' | '0120' | '0200' | '0220' | '0400'>().notNull(),
    originalStan: text('original_stan').notNull(),
    originalTransmission: text('original_transmission').notNull(),
    rrn: text().notNull(),
    authCode: text('auth_code'),
    merchantId: text('merchant_id').notNull(),
    terminalId: text('terminal_id'),
    installments: integer().notNull().default(1),
    details: jsonb().$type<Details>(),
    /** The amount that a partial reversal leaves of the original; null: nothing. */
    remainingCents: bigint('remaining_cents', { mode: 'bigint' }),
    /** Which capture of its authorization a capture by advice is, from 1. */
    captureNumber: integer('capture_number'),
    /** Hours after which it is given up; null: those of the settings. */
    expiryHours: integer('expiry_hours'),
    /** W3C trace context of the request whose message is taken back. */
    traceparent: text().$type<Traceparent>(),
    /** `pending`, `confirmed`, `refused` (an advice that the network does not take), `expired`, or `resolved`: it expired, and a person has asked the network. */
    status: text().notNull().default('pending'),
    /** How often bytes of it may have reached the network; one that began anew counts what was before as once. */
    attempts: integer().notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull().defaultNow(),
    /** The first attempt since it began, or began anew, that may have reached the network; null: there was none. */
    firstAttemptAt: instant('first_attempt_at'),
    lastAttemptAt: instant('last_attempt_at'),
    /** DE 11 and DE 7 of the reversal itself, the same in every repeat. */
    stan: text(),
    transmission: text(),
    /** DE 39 of the last answer. */
    responseCode: text('response_code'),
    /** When the network last confirmed that it is done, which stays when it begins anew. */
    doneAt: instant('done_at'),
    /** Who works on it, and until when nobody else may. */
    leaseOwner: text('lease_owner'),
    leaseUntil: instant('lease_until'),
    createdAt: instant('created_at').notNull().defaultNow(),
    endedAt: instant('ended_at'),
  },
  (table) => [
    uniqueIndex('card_reversals_once')
      .on(table.transactionId, table.reverses, table.originalStan, table.originalTransmission)
      .where(sql`status = 'pending'`),
    index('card_reversals_due')
      .on(table.network, table.nextAttemptAt)
      .where(sql`status = 'pending'`),
    index('card_reversals_by_age')
      .on(table.createdAt)
      .where(sql`status = 'pending' and expiry_hours is null`),
    index('card_reversals_by_expiry')
      .on(sql`((created_at at time zone 'UTC') + make_interval(hours => expiry_hours))`)
      .where(sql`status = 'pending' and expiry_hours is not null`),
    index('card_reversals_by_attempts')
      .on(table.attempts)
      .where(sql`status = 'pending' and first_attempt_at is not null`),
    index('card_reversals_transaction').on(table.transactionId, table.id),
    index('card_reversals_message')
      .on(table.network, table.stan, table.transmission)
      .where(sql`stan is not null`),
  ],
)
