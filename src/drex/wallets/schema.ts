/** Tables of wallets. Addresses are kept as lower-case `0x…` text. */

import { sql } from 'drizzle-orm'
import { index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

/** What is told of a wallet, whoever has its key. */
const walletColumns = {
  id: text().primaryKey(),
  address: text().notNull(),
  label: text().notNull(),
  metadata: jsonb().notNull(),
  /** Whose it is; `gateway` for those that the gateway made for itself. */
  account: text().notNull().default('default'),
  /** test or live, as the key that made it: what it signs for. Null for older ones, which sign for both. */
  environment: text(),
  /** active, disabled or archived */
  status: text().notNull().default('active'),
  /** Who may use it for what; an empty one limits nothing. */
  policy: jsonb().notNull().default({}),
  /** Below which balances its owner wants to be told. */
  alerts: jsonb().notNull().default({}),
  createdBy: text('created_by').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
}

/** Wallets that sign here: an address has one. Former versions also kept here what is watched only. */
export const drexWallets = pgTable(
  'drex_wallets',
  {
    ...walletColumns,
    /** managed, external, web3signer, aws_kms or gcp_kms */
    type: text().notNull(),
    /** The name that a key management service has for the key. */
    keyName: text('key_name'),
    /** The sealed private key of a managed wallet; null for the others. */
    sealedKey: bytea('sealed_key'),
  },
  (table) => [
    uniqueIndex('drex_wallets_address').on(table.address),
    index('drex_wallets_account').on(table.account, table.id),
    index('drex_wallets_watched').on(table.id).where(sql`alerts <> '{}'`),
  ],
)

/** Wallets that are watched only: each account that watches an address has its own. */
export const drexWatches = pgTable('drex_watches', walletColumns, (table) => [
  uniqueIndex('drex_watches_address').on(table.address, table.account),
  index('drex_watches_account').on(table.account, table.id),
  index('drex_watches_alerted').on(table.id).where(sql`alerts <> '{}'`),
])

/** Balances that were told to be low, and have not risen since. */
export const drexLowBalances = pgTable(
  'drex_low_balances',
  {
    walletId: text('wallet_id').notNull(),
    network: text().notNull(),
    /** currency or gas */
    asset: text().notNull(),
    toldAt: instant('told_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.walletId, table.network, table.asset] })],
)
