import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'
import type { DeliveryStatus } from './domain.ts'

/** Where we send events. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: text().primaryKey(),
    /** The owner: we tell it of the account's events, and of the institution's. */
    account: text().notNull().default('default'),
    /** Public id of the API key; null for endpoints stored before it was. */
    createdBy: text('created_by'),
    url: text().notNull(),
    /** The topic of an endpoint that another interface sets, and that gets events as that interface describes them. */
    topic: text(),
    events: text().array().$type<readonly string[]>().notNull(),
    include: text().$type<'thin' | 'full'>().notNull().default('thin'),
    active: boolean().notNull().default(true),
    /** Why it is inactive: `request`, `gone` or `failing`. */
    disabledReason: text('disabled_reason'),
    /** When it last became inactive: it still gets earlier events. */
    disabledAt: instant('disabled_at'),
    /** Null: WEBHOOK_SECRET signs. */
    secret: bytea(),
    previousSecret: bytea('previous_secret'),
    previousUntil: instant('previous_until'),
    /** Whether the master key encrypts the secrets. */
    sealed: boolean().notNull().default(false),
    /** Since when attempts have failed, none having succeeded; null after a success. */
    failingSince: instant('failing_since'),
    /** Null after a success. */
    lastFailedAt: instant('last_failed_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('webhook_endpoints_topic').on(table.topic).where(sql`topic is not null`),
    index('webhook_endpoints_topics_listed')
      .on(table.account, table.createdAt, table.topic)
      .where(sql`topic is not null`),
    // Endpoints that take types: few beside those of topics, of which the API Pix makes one for each Pix key.
    index('webhook_endpoints_of_types').on(table.account).where(sql`topic is null`),
    // Finds the active endpoints that take a type or a topic. `case` gives an endpoint its events or none: the planner
    // knows nothing of its result, expects few rows, and so never looks through the table instead.
    index('webhook_endpoints_taking')
      .using('gin', table.events)
      .with({ fastupdate: false })
      .where(sql`case when active then events end = events`),
    index('webhook_endpoints_listed').on(table.account, table.createdAt, table.id, table.createdBy),
    index('webhook_endpoints_inactive')
      .on(table.disabledAt)
      .where(sql`not active and disabled_at is not null`),
    index('webhook_endpoints_disabled')
      .on(table.account)
      .where(sql`disabled_reason in ('gone', 'failing')`),
  ],
)

/** The last sequence number that each subject got. */
export const webhookSequences = pgTable('webhook_sequences', {
  subject: text().primaryKey(),
  last: bigint({ mode: 'bigint' }).notNull(),
  /** When the subject got it. */
  updatedAt: instant('updated_at').notNull().defaultNow(),
})

/** Outbox: we write it in the transaction of the state change. */
export const webhookEvents = pgTable(
  'webhook_events',
  {
    id: text().primaryKey(),
    type: text().notNull(),
    /** Every subscription that matches the type. */
    patterns: text().array().$type<readonly string[]>().notNull(),
    subject: text().notNull(),
    /** The owner; null: the institution, so that every account is told. */
    account: text(),
    sequence: bigint({ mode: 'bigint' }).notNull(),
    /** JSON, as we send it. */
    data: text().notNull(),
    dataFull: text('data_full'),
    /** Trace of the cause, which the deliveries join. */
    traceparent: text(),
    /** Later than all that its statement saw: if the statement saw an endpoint, the endpoint was made earlier. */
    createdAt: instant('created_at').notNull().default(sql`clock_timestamp()`),
    publishedAt: instant('published_at'),
  },
  (table) => [
    index('webhook_events_outbox').on(table.createdAt).where(sql`published_at is null`),
    index('webhook_events_of_subject').on(table.subject, table.id),
  ],
)

export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: text().primaryKey(),
    eventId: text('event_id')
      .notNull()
      .references(() => webhookEvents.id, { onDelete: 'cascade' }),
    /** An endpoint goes at once, but its rows go little by little: a month of deliveries is many. */
    endpointId: text('endpoint_id').notNull(),
    status: text().$type<DeliveryStatus>().notNull().default('pending'),
    /** Attempts of the present round: a replay begins a new round. */
    attempts: integer().notNull().default(0),
    /** While an attempt runs: when we consider it lost. */
    nextAttemptAt: instant('next_attempt_at').notNull().defaultNow(),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('webhook_deliveries_once').on(table.eventId, table.endpointId),
    index('webhook_deliveries_due')
      .on(table.endpointId, table.nextAttemptAt)
      .where(sql`status = 'pending'`),
    // One status may have few rows among many of another.
    index('webhook_deliveries_of_status').on(
      table.status,
      table.endpointId,
      table.createdAt,
      table.id,
    ),
  ],
)

export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    id: bigserial({ mode: 'bigint' }).primaryKey(),
    deliveryId: text('delivery_id')
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    at: instant('at').notNull(),
    /** Null if there was no answer. */
    statusCode: integer('status_code'),
    durationMs: integer('duration_ms').notNull(),
    /** The first 4 KiB of the answer. */
    answer: text(),
    errorClass: text('error_class'),
    nextAttemptAt: instant('next_attempt_at'),
  },
  (table) => [index('webhook_attempts_delivery').on(table.deliveryId)],
)
