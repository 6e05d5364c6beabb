import { sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  jsonb,
  pgSequence,
  pgTable,
  smallint,
  text,
  unique,
} from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

/** Has no cache: with one, ids of two connections would not be in the order of publication. */
export const brokerQueueOrder = pgSequence('broker_queue_order', { cache: 1 })

/** The waiting messages of all topics; to settle one deletes its row. Rows with negative ids are planner ballast. */
export const brokerQueue = pgTable('broker_queue', {
  /** Lane << 44 | `broker_queue_order`: a lane is a range of the primary key, in its order of delivery. */
  id: bigint({ mode: 'bigint' }).primaryKey(),
  topic: text().notNull(),
  key: text(),
  headers: jsonb(),
  /** In the form that `kept.ts` keeps. */
  value: bytea().notNull(),
  publishedAt: instant('published_at').notNull().defaultNow(),
  /** Attempts that failed, or whose process did not tell how they ended. */
  attempt: smallint().notNull().default(0),
})

/** The lanes of every topic, and the process that reads each. */
export const brokerLanes = pgTable(
  'broker_lanes',
  {
    lane: integer().primaryKey().generatedAlwaysAsIdentity(),
    topic: text().notNull(),
    partition: smallint().notNull(),
    /** Null: given back. Otherwise the process that has it until then, or had it. */
    owner: text(),
    until: instant('until'),
    /** The order that its readers have reached: only a very late commit may wait below it. */
    low: bigint({ mode: 'bigint' }).notNull().default(sql`0`),
  },
  (table) => [unique('broker_lanes_place').on(table.topic, table.partition)],
)

/** The processes that read, by which they share the lanes. */
export const brokerMembers = pgTable('broker_members', {
  member: text().primaryKey(),
  topics: text().array().notNull(),
  until: instant('until').notNull(),
})

/** How much waited in each topic when a process last looked, for the metrics of all. */
export const brokerBacklogs = pgTable('broker_backlogs', {
  topic: text().primaryKey(),
  depth: integer().notNull(),
  /** When the oldest message that waits was published; null when none waits. */
  oldestAt: instant('oldest_at'),
  /** Lanes that a live process reads. */
  lanesRead: integer('lanes_read').notNull(),
  sampledAt: instant('sampled_at').notNull(),
})

/** Messages that could not be handled. */
export const brokerDeadLetters = pgTable(
  'broker_dead_letters',
  {
    id: bigint({ mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    key: text(),
    headers: jsonb(),
    value: bytea().notNull(),
    publishedAt: instant('published_at').notNull().defaultNow(),
  },
  (table) => [index('broker_dead_letters_age').on(table.publishedAt)],
)
