/** Tables of digital currency. Addresses and hashes are kept as lower-case `0x…` text. */

import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { constants, instant } from '#src/platform/database/columns.ts'
import { finalStatuses, openStatuses } from './domain.ts'

/** Wei, and units of tokens, do not fit 64 bits. */
const wei = (name: string) => numeric(name, { precision: 78, scale: 0 })

/** Everything that goes on a chain, from the request to its end. */
export const drexTransactions = pgTable(
  'drex_transactions',
  {
    id: text().primaryKey(),
    network: text().notNull(),
    sender: text().notNull(),
    /**
     * transfer, approve, swap, propose, accept, revoke, allow, disallow, command, pledge, deploy, permit, call, gas or
     * gap_fill
     */
    kind: text().notNull(),
    /** Transfer, contract, operation, delivery or lien it belongs to. */
    subject: text().notNull(),
    status: text().notNull(),
    /** Null creates a contract. */
    recipient: text(),
    data: text().notNull(),
    /** Native coin that goes along. */
    value: wei('value').notNull().default('0'),
    gasLimit: bigint('gas_limit', { mode: 'number' }),
    /** Starts only once this one is confirmed. */
    afterId: text('after_id'),
    /** Which attempt of its transfer this is, from 1: a failed transfer may be tried again. */
    requestAttempt: smallint('request_attempt').notNull().default(1),
    nonce: bigint({ mode: 'number' }),
    hash: text(),
    raw: text(),
    maxFee: wei('max_fee'),
    tip: wei('tip'),
    blockNumber: bigint('block_number', { mode: 'number' }),
    blockHash: text('block_hash'),
    /** The hash of the attempt that was mined. */
    minedHash: text('mined_hash'),
    succeeded: boolean(),
    gasUsed: bigint('gas_used', { mode: 'number' }),
    /** What has moved by the receipt, where that differs from what was asked. */
    mismatch: text(),
    error: jsonb(),
    /** Since when it is not signed because it may be on the chain already, and what there looks like it. */
    held: jsonb(),
    attempts: integer().notNull().default(0),
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
    /** Not looked at before. */
    dueAt: instant('due_at').notNull().defaultNow(),
    signedAt: instant('signed_at'),
    broadcastAt: instant('broadcast_at'),
    minedAt: instant('mined_at'),
    settledAt: instant('settled_at'),
  },
  (table) => [
    uniqueIndex('drex_transactions_nonce').on(table.network, table.sender, table.nonce),
    uniqueIndex('drex_transactions_hash').on(table.network, table.hash),
    index('drex_transactions_open')
      .on(table.network, table.status, table.id)
      .where(sql`status in (${constants(openStatuses)})`),
    index('drex_transactions_subject').on(table.subject),
    index('drex_transactions_sender').on(table.sender, table.id),
    index('drex_transactions_block')
      .on(table.network, table.blockNumber)
      .where(sql`block_number is not null`),
    index('drex_transactions_after').on(table.afterId).where(sql`after_id is not null`),
    // Every turn looks for what a sender's other transactions wait for, among all that is in flight.
    index('drex_transactions_stuck')
      .on(table.network, table.sender)
      .where(sql`status = 'signed' and error is not null`),
    // For lists of what waits: there may be more of it than of all else that is open.
    index('drex_transactions_waiting').on(table.subject).where(sql`status = 'pending'`),
    // For lists of what went wrong.
    index('drex_transactions_ended')
      .on(table.status, table.subject)
      .where(sql`status in (${constants(finalStatuses.filter((one) => one !== 'confirmed'))})`),
    // For what one wallet has to sign, amid all that others have.
    index('drex_transactions_unsent')
      .on(table.network, table.sender, table.createdAt, table.id)
      .where(sql`status = 'pending' and held is null`),
    index('drex_transactions_held').on(table.network, table.id).where(sql`held is not null`),
  ],
)

/** Further signed transactions of the same: fee bumps, cancellations, and those whose nonce another took. */
export const drexAttempts = pgTable(
  'drex_attempts',
  {
    network: text().notNull(),
    hash: text().notNull(),
    transactionId: text('transaction_id').notNull(),
    /** bump, cancel or lost */
    kind: text().notNull(),
    raw: text().notNull(),
    maxFee: wei('max_fee').notNull(),
    tip: wei('tip').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.network, table.hash] }),
    index('drex_attempts_transaction').on(table.transactionId),
  ],
)

/** The next free nonce of each sender. */
export const drexLanes = pgTable(
  'drex_lanes',
  {
    network: text().notNull(),
    sender: text().notNull(),
    nextNonce: bigint('next_nonce', { mode: 'number' }).notNull(),
    /** Another's transaction has a nonce of the sender: nothing is signed until all was compared with the chain. */
    doubt: text(),
  },
  (table) => [primaryKey({ columns: [table.network, table.sender] })],
)

export const drexNetworkState = pgTable('drex_network_state', {
  network: text().primaryKey(),
  /** Distinguishes the network from another with the same chain id. */
  genesisHash: text('genesis_hash').notNull(),
  /** A block below the finality watch: a chain that began anew from the same genesis block does not have it. */
  checkpointNumber: bigint('checkpoint_number', { mode: 'number' }),
  checkpointHash: text('checkpoint_hash'),
})

/** What happened to a transaction against the usual course: a told end was corrected, or it is signed again. */
export const drexCorrections = pgTable(
  'drex_corrections',
  {
    id: text().primaryKey(),
    transactionId: text('transaction_id').notNull(),
    fromStatus: text('from_status').notNull(),
    toStatus: text('to_status').notNull(),
    /** Code and message, as in `error`. */
    reason: jsonb().notNull(),
    /** The hash of the bytes that were mined, or could no longer be. */
    hash: text(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [index('drex_corrections_transaction').on(table.transactionId, table.id)],
)

export const drexTransfers = pgTable(
  'drex_transfers',
  {
    id: text().primaryKey(),
    /** Its last step, whose status is that of the transfer. */
    transactionId: text('transaction_id').notNull(),
    network: text().notNull(),
    token: text().notNull(),
    fromWallet: text('from_wallet').notNull(),
    toWallet: text('to_wallet').notNull(),
    /** In the token's smallest unit. */
    amount: wei('amount').notNull(),
    /** The decimals of the token when the transfer was taken. */
    decimals: smallint().notNull().default(2),
    reference: text(),
    metadata: jsonb().notNull(),
    account: text().notNull().default('default'),
    /** Where the wallet's policy asks for a second key: required, approved, or lapsed where it ended before. */
    approval: text(),
    approvedBy: text('approved_by'),
    /** The request that brought it together with others. */
    batch: text(),
    /** The attempt whose last step is `transaction_id`, from 1. */
    attempt: smallint().notNull().default(1),
    /** When, and by which key, the present attempt was asked for; null for the first. */
    retriedAt: instant('retried_at'),
    retriedBy: text('retried_by'),
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('drex_transfers_account').on(table.account, table.id),
    index('drex_transfers_from_account').on(table.fromWallet, table.account, table.id),
    index('drex_transfers_to_account').on(table.toWallet, table.account, table.id),
    index('drex_transfers_to_own').on(table.toWallet, table.account, table.transactionId),
    index('drex_transfers_reference').on(table.reference),
    index('drex_transfers_batch').on(table.batch).where(sql`batch is not null`),
    // For the list of what waits for a second key, amid all that waits.
    index('drex_transfers_approval').on(table.account, table.id).where(sql`approval = 'required'`),
  ],
)

/** What is done with the network's own contracts, in one step or several: each is a saga of its own. */
export const drexOperations = pgTable(
  'drex_operations',
  {
    id: text().primaryKey(),
    /** As in the table of operations. */
    kind: text().notNull(),
    /** Its last step, whose status is that of the operation. */
    transactionId: text('transaction_id').notNull(),
    network: text().notNull(),
    /** The wallet that asks. */
    signer: text().notNull(),
    /** As the caller wrote them. */
    params: jsonb().notNull(),
    reference: text(),
    account: text().notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [index('drex_operations_account').on(table.account, table.id)],
)

/** Up to where each network's tokens were read: one row that only one process moves at a time. */
export const drexPositions = pgTable('drex_positions', {
  network: text().primaryKey(),
  /** The last block that was read; one less than the first to be read at the beginning. */
  blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
  /** Null until a block was read. */
  blockHash: text('block_hash'),
  /** Numbers and hashes of blocks read before, the newer the closer together: where the chain may have parted. */
  anchors: jsonb().notNull().default([]),
  /** Up to this block, the head at the first look, what came in is history: no event tells of it. */
  historyUntil: bigint('history_until', { mode: 'number' }).notNull(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
})

/** What came to a wallet or left it, by the events of the currencies: one row for each of the wallets concerned. */
export const drexMovements = pgTable(
  'drex_movements',
  {
    id: text().primaryKey(),
    network: text().notNull(),
    token: text().notNull(),
    wallet: text().notNull(),
    /** in or out */
    side: text().notNull(),
    /** The zero address where currency was issued or redeemed. */
    counterparty: text().notNull(),
    amount: wei('amount').notNull(),
    /** Sum of all that the ledger knows of the wallet, this one included; the balance is that and the opening one. */
    total: wei('total').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: text('block_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    hash: text().notNull(),
    /** The time that the block tells. */
    bookedAt: instant('booked_at').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Its block has left the chain. */
    removedAt: instant('removed_at'),
  },
  (table) => [
    uniqueIndex('drex_movements_statement')
      .on(
        table.network,
        table.token,
        table.wallet,
        table.bookedAt,
        table.blockNumber,
        table.logIndex,
        table.side,
      )
      .where(sql`removed_at is null`),
    index('drex_movements_block')
      .on(table.network, table.blockNumber)
      .where(sql`removed_at is null`),
    index('drex_movements_booked').on(table.bookedAt),
  ],
)

/** What the ledger knows of each wallet that has had a movement. */
export const drexHoldings = pgTable(
  'drex_holdings',
  {
    network: text().notNull(),
    token: text().notNull(),
    wallet: text().notNull(),
    /** Sum of the movements. */
    total: wei('total').notNull(),
    /** Balance before the first of them; null until the chain was asked. */
    opening: wei('opening'),
    sinceBlock: bigint('since_block', { mode: 'number' }).notNull(),
    movedBlock: bigint('moved_block', { mode: 'number' }).notNull(),
    /** At which block the balance was last compared with the chain's. */
    checkedBlock: bigint('checked_block', { mode: 'number' }),
    /** By how much the chain's balance exceeded ours then. */
    difference: wei('difference').notNull().default('0'),
  },
  (table) => [
    primaryKey({ columns: [table.network, table.token, table.wallet] }),
    index('drex_holdings_unchecked')
      .on(table.network, table.movedBlock)
      .where(sql`checked_block is null or checked_block < moved_block`),
    index('drex_holdings_differing').on(table.network).where(sql`difference <> 0`),
  ],
)

/** The tokens that were used, each as its contract told when it first was. */
export const drexTokens = pgTable(
  'drex_tokens',
  {
    network: text().notNull(),
    address: text().notNull(),
    decimals: smallint().notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.network, table.address] })],
)

export const drexContracts = pgTable(
  'drex_contracts',
  {
    id: text().primaryKey(),
    network: text().notNull(),
    /** Null until the deployment is signed: the address depends on the nonce. */
    address: text(),
    /** Null if the caller registered the ABI of an existing contract. */
    template: text(),
    label: text().notNull(),
    params: jsonb().notNull(),
    abi: jsonb().notNull(),
    deployer: text(),
    transactionId: text('transaction_id'),
    permitTransactionId: text('permit_transaction_id'),
    /** Whose it is; `gateway` for the currencies of the settings, which everybody sees. */
    account: text().notNull().default('default'),
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('drex_contracts_known').on(table.address, table.network, table.account),
    index('drex_contracts_account').on(table.account, table.id),
    index('drex_contracts_transaction').on(table.transactionId),
  ],
)
