import { bigint, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** Subscriptions to the events of contracts, each with the place up to which it has told. */
export const drexStreams = pgTable(
  'drex_streams',
  {
    id: text().primaryKey(),
    account: text().notNull(),
    contractId: text('contract_id').notNull(),
    network: text().notNull(),
    address: text().notNull(),
    /** The event's signature. */
    event: text().notNull(),
    /** What the indexed arguments must be, by name, as the caller wrote it. */
    filter: jsonb().notNull(),
    /** The same as topics, the first of which is the event's; null: any. */
    topics: jsonb().notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    /** Null until a block was read. */
    blockHash: text('block_hash'),
    anchors: jsonb().notNull().default([]),
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('drex_streams_contract').on(table.contractId, table.account),
    index('drex_streams_network').on(table.network, table.id),
  ],
)

/** What a stream has told of the last blocks, for as long as a reorganisation may take it back. */
export const drexStreamEvents = pgTable(
  'drex_stream_events',
  {
    streamId: text('stream_id').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: text('block_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    /** As it was told. */
    data: jsonb().notNull(),
  },
  (table) => [
    primaryKey({
      name: 'drex_stream_events_pk',
      columns: [table.streamId, table.blockNumber, table.blockHash, table.logIndex],
    }),
  ],
)
