import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { constants, instant } from '#src/platform/database/columns.ts'
import { deliveryEnds, lienEnds } from './domain.ts'

/** Deliveries against payment, and liens: our side of what a contract keeps between two parties. */
export const drexAgreements = pgTable(
  'drex_agreements',
  {
    id: text().primaryKey(),
    /** delivery or lien */
    kind: text().notNull(),
    /** As its steps and the contract’s events tell together. */
    status: text().notNull(),
    network: text().notNull(),
    /** Null until the contract of a lien is on the chain. */
    contract: text(),
    /** Our party’s, which signs. */
    wallet: text().notNull(),
    /** seller, buyer, owner or beneficiary */
    part: text().notNull(),
    terms: jsonb().notNull(),
    /** What was told last, besides the status. */
    state: jsonb().notNull(),
    /** Unix seconds; of a lien. */
    expiry: bigint({ mode: 'number' }),
    /** The last block in which anything may still change; null while that is not known. */
    untilBlock: bigint('until_block', { mode: 'number' }),
    reference: text(),
    account: text().notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    changedAt: instant('changed_at').notNull().defaultNow(),
  },
  (table) => [
    index('drex_agreements_account').on(table.account, table.kind, table.id),
    index('drex_agreements_status').on(table.account, table.kind, table.status, table.id),
    index('drex_agreements_part').on(table.account, table.kind, table.part, table.id),
    index('drex_agreements_part_status').on(
      table.account,
      table.kind,
      table.part,
      table.status,
      table.id,
    ),
    index('drex_agreements_followed').on(table.network, table.untilBlock),
    index('drex_agreements_told').on(
      table.network,
      table.contract,
      sql`coalesce(terms ->> 'number', '')`,
    ),
    index('drex_agreements_over')
      .on(table.network, sql`coalesce(expiry, 0)`)
      .where(
        sql`until_block is null and (kind = 'delivery' and status in (${constants(deliveryEnds)})
          or kind = 'lien' and status in (${constants(lienEnds)}))`,
      ),
  ],
)

/** What contracts told of agreements, as far as their blocks are on the chain. */
export const drexAgreementEvents = pgTable(
  'drex_agreement_events',
  {
    agreementId: text('agreement_id').notNull(),
    network: text().notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    logIndex: integer('log_index').notNull(),
    hash: text().notNull(),
    name: text().notNull(),
    args: jsonb().notNull(),
    /** What the tokens’ own events tell, where it differs from what the contract says. */
    mismatch: text(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({
      name: 'drex_agreement_events_pk',
      columns: [table.agreementId, table.blockNumber, table.logIndex],
    }),
    index('drex_agreement_events_block').on(table.network, table.blockNumber),
  ],
)

/** Up to where each network was read for agreements: one process at a time moves it. */
export const drexAgreementPositions = pgTable('drex_agreement_positions', {
  network: text().primaryKey(),
  blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
  /** Null where nothing was to be read in it. */
  blockHash: text('block_hash'),
  anchors: jsonb().notNull().default([]),
})
