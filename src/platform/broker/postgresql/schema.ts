import { sql } from 'drizzle-orm'
import {
  bigint,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
} from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })

/** The log of all topics; range-partitioned by `published_at`, one partition a day. */
export const brokerLog = pgTable(
  'broker_log',
  {
    topic: text().notNull(),
    partition: smallint().notNull(),
    /** The publishing transaction: with `id`, an order in which nothing appears late. */
    xid: xid8().notNull(),
    id: bigint({ mode: 'bigint' }).generatedAlwaysAsIdentity({ cache: 32 }).notNull(),
    key: text(),
    headers: jsonb(),
    value: bytea().notNull(),
    publishedAt: instant('published_at').notNull().defaultNow(),
  },
  (table) => [index('broker_log_position').on(table.topic, table.partition, table.xid, table.id)],
)

/** The position of a group: the last message it settled. */
export const brokerPositions = pgTable(
  'broker_positions',
  {
    topic: text().notNull(),
    group: text('group_name').notNull(),
    partition: integer().notNull(),
    xid: xid8().notNull().default('0'),
    id: bigint({ mode: 'bigint' }).notNull().default(sql`0`),
    settledAt: instant('settled_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.topic, table.group, table.partition] })],
)
