import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
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
import type { CardOperation, CardStatus, Currency } from './domain.ts'

/** A message of a network, its fields by number (`002`; of older rows `2`), without what may not be stored. */
export type ShownMessage = {
  readonly mti: string
  readonly fields: Readonly<Record<string, string>>
}

/** A capture as the network knows it: DE 11, DE 7 and DE 4. */
export type Capture = {
  readonly stan: string
  readonly transmission: string
  readonly cents: number
  /** The network heard of it by a 0220, because it was away. */
  readonly advised?: boolean
}

/** One row per authorization, committed before its first byte goes out. No card number, only its token. */
export const cardTransactions = pgTable(
  'card_transactions',
  {
    id: text().primaryKey(),
    /** `pending`, `authorized`, `captured`, `voided`, `declined` or `verified`. */
    status: text().$type<CardStatus>().notNull(),
    /**
     * The operation under way: `capture` or `void` on the wire, `reversing_authorization` or `reversing_capture` while a
     * reversal waits for its answer, and so on. Null means none, or, in status `pending`, the authorization.
     */
    operation: text().$type<CardOperation>(),
    /** DE 11, DE 7 and DE 4 of the operation's message. */
    operationStan: text('operation_stan'),
    operationTransmission: text('operation_transmission'),
    operationCents: bigint('operation_cents', { mode: 'bigint' }),
    network: text().notNull(),
    brand: text().notNull(),
    cardToken: text('card_token').notNull(),
    /** The authorized amount with its increments; 0 for a card that is only verified. */
    amountCents: bigint('amount_cents', { mode: 'bigint' }).notNull(),
    /** The requested amount, where the network approved a part. */
    requestedCents: bigint('requested_cents', { mode: 'bigint' }),
    capturedCents: bigint('captured_cents', { mode: 'bigint' }),
    /** DE 11 and DE 7 of the capture that was approved: a void of what is captured names it. */
    captureStan: text('capture_stan'),
    captureTransmission: text('capture_transmission'),
    /** True: the network hears of the capture by an advice. */
    captureAdvised: boolean('capture_advised'),
    /** Approved here, while the network was away. */
    standIn: boolean('stand_in'),
    /** The approved captures before the last one, oldest first; a void takes each of them back. */
    captures: jsonb().$type<readonly Capture[]>(),
    currency: text().$type<Currency>().notNull(),
    merchantId: text('merchant_id').notNull(),
    terminalId: text('terminal_id'),
    installments: integer().notNull(),
    /** The caller's own. */
    reference: text(),
    /** Further values for the messages that follow the payment: no secret, no card number. */
    details: jsonb().$type<Details>(),
    /** The sum of approved refunds. */
    refundedCents: bigint('refunded_cents', { mode: 'bigint' }),
    /** The amount that partial voids have taken back of the authorization. */
    reversedCents: bigint('reversed_cents', { mode: 'bigint' }),
    /** DE 11, DE 37 and DE 7 of the authorization. */
    stan: text().notNull(),
    rrn: text().notNull(),
    transmission: text().notNull(),
    authCode: text('auth_code'),
    responseCode: text('response_code'),
    /** Why the last capture or void had no effect: `declined_05`, `timed_out`, … */
    captureError: text('capture_error'),
    voidError: text('void_error'),
    refundError: text('refund_error'),
    incrementError: text('increment_error'),
    /** Why it ended without the caller's doing: `not_sent`, `timed_out`, `expired`, … */
    reason: text(),
    /** A reversal ended without an answer: a person has to ask the network. */
    needsAttention: boolean('needs_attention').notNull().default(false),
    /** The stored form of the Idempotency-Key of the last request. */
    claimKey: text('claim_key'),
    /** W3C trace context of that request: a reversal continues its trace. */
    traceparent: text().$type<Traceparent>(),
    /** Whose it is. */
    account: text().notNull().default('default'),
    /** Public id of the API key. */
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    capturedAt: instant('captured_at'),
    voidedAt: instant('voided_at'),
    /** The last write by the database's clock, the one that all processes share. */
    touchedAt: instant('touched_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('card_transactions_message').on(table.network, table.rrn, table.transmission),
    index('card_transactions_account').on(table.account, table.id),
    index('card_transactions_status').on(table.status, table.account, table.id),
    index('card_transactions_merchant_status').on(
      table.merchantId,
      table.account,
      table.status,
      table.id,
    ),
    index('card_transactions_reference')
      .on(table.reference, table.id)
      .where(sql`reference is not null`),
    index('card_transactions_held')
      .on(table.network, table.createdAt)
      .where(sql`status = 'authorized' and operation is null`),
    index('card_transactions_attention').on(table.account, table.id).where(sql`needs_attention`),
    // Operations on the wire come first: a network that is away may leave any number of others.
    index('card_transactions_under_way')
      .on(
        sql`(case when operation like 'reversing%' or operation like 'advising%' then 1 else 0 end)`,
        table.touchedAt,
      )
      .where(sql`status = 'pending' or operation is not null`),
  ],
)

/** What happened to a transaction after it was sent, append-only. */
export const cardEvents = pgTable(
  'card_events',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    transactionId: text('transaction_id').notNull(),
    type: text().notNull(),
    data: jsonb().notNull(),
    /**
     * What went over the wire for it: request and answer, as JSON of {@link ShownMessage}. Text, as nothing looks into
     * it: taking it apart as jsonb cost PostgreSQL a seventh of all that it does for an authorization.
     */
    exchange: text(),
    /** The same of older rows. */
    messages: jsonb().$type<readonly ShownMessage[]>(),
    at: instant('at').notNull(),
  },
  (table) => [
    index('card_events_transaction').on(table.transactionId, table.id),
    index('card_events_late').on(table.id).where(sql`type = 'late_answer'`),
    index('card_events_sent')
      .on(sql`(data ->> 'stan')`, sql`(data ->> 'transmission')`)
      .where(sql`right(type, 5) = '_sent'`),
  ],
)

/** Trace numbers are handed out in blocks; no number comes again before a whole round. */
export const cardStanBlocks = pgTable('card_stan_blocks', {
  network: text().primaryKey(),
  /** The first number of the next block. */
  next: integer().notNull(),
  /** The hour, by the database's clock, in which the last block was taken, and how often numbers began anew in it. */
  hour: instant('hour'),
  round: integer().notNull().default(0),
})

/** The messages that networks send of their own accord, and approvals that come without a request. */
export const unmatchedMtis = [
  '0120',
  '0220',
  '0420',
  '0620',
  '0110',
  '0130',
  '0210',
  '0230',
  '0410',
  '0430',
] as const
export type UnmatchedMti = (typeof unmatchedMtis)[number]

/**
 * What networks told about nothing known here, kept before it is answered, until a person has seen
 * to it. No card number.
 */
export const cardUnmatchedAdvices = pgTable(
  'card_unmatched_advices',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    network: text().notNull(),
    /** MTI, DE 11, DE 7 and DE 37 of the first sending; empty where the message has none. */
    mti: text().$type<UnmatchedMti>().notNull(),
    stan: text().notNull(),
    transmission: text().notNull(),
    rrn: text().notNull(),
    processingCode: text('processing_code'),
    amountCents: bigint('amount_cents', { mode: 'bigint' }),
    /** Letters of ISO 4217; DE 49 as it came where they are not known. */
    currency: text(),
    responseCode: text('response_code'),
    /** How often it was told. */
    times: integer().notNull().default(1),
    firstAt: instant('first_at').notNull().defaultNow(),
    lastAt: instant('last_at').notNull().defaultNow(),
    resolvedAt: instant('resolved_at'),
    /** Public id of the API key, and what the person said. */
    resolvedBy: text('resolved_by'),
    resolvedReason: text('resolved_reason'),
  },
  (table) => [
    uniqueIndex('card_unmatched_advices_once').on(
      table.network,
      table.mti,
      table.stan,
      table.transmission,
      table.rrn,
    ),
    index('card_unmatched_advices_open')
      .on(table.network, table.id)
      .where(sql`resolved_at is null`),
    index('card_unmatched_advices_resolved').on(table.resolvedAt, table.id),
  ],
)
