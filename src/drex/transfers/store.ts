import type { Client, Queryable, Transaction } from '#src/platform/database/index.ts'
import { type NetworkId, networkIds } from '../config.ts'
import type { TransactionStatus } from '../domain.ts'
import { before } from '../engine/store.ts'
import type { TransactionError, TransactionKind } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'
import { idBound } from '../ids.ts'

export type NewTransfer = {
  readonly id: string
  /** Of its last step. */
  readonly transactionId: string
  readonly network: string
  readonly token: Hex
  readonly fromWallet: Hex
  readonly toWallet: Hex
  /** In the token’s smallest unit. */
  readonly amount: bigint
  readonly decimals: number
  readonly reference: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  /** Whose it is. */
  readonly account: string
  /** `required` until another key approves; undefined if the wallet's policy asks for none. */
  readonly approval: 'required' | 'approved' | undefined
  /** The request that it came in together with others, if it did. */
  readonly batch?: string | undefined
  readonly createdBy: string
  readonly createdAt: Date
}

export type Transfer = NewTransfer & {
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
  readonly nonce: number | undefined
  readonly blockNumber: number | undefined
  readonly blockHash: Hex | undefined
  readonly error: TransactionError | undefined
  readonly approvedBy: string | undefined
  /** The number of the present attempt, from 1. */
  readonly attempt: number
  readonly updatedAt: Date
}

export type Step = {
  readonly id: string
  /** Of the transfer, from 1. */
  readonly attempt: number
  readonly kind: TransactionKind
  readonly sender: Hex
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
  readonly error: TransactionError | undefined
  readonly createdAt: Date
}

type Row = {
  id: string
  transaction_id: string
  network: string
  token: Hex
  from_wallet: Hex
  to_wallet: Hex
  /** numeric arrives as text. */
  amount: string
  decimals: number
  reference: string | null
  metadata: Readonly<Record<string, unknown>>
  account: string
  approval: 'required' | 'approved' | null
  approved_by: string | null
  attempt: number
  batch: string | null
  created_by: string
  created_at: Date
  status: TransactionStatus
  hash: Hex | null
  nonce: bigint | null
  block_number: bigint | null
  block_hash: Hex | null
  error: TransactionError | null
  updated_at: Date
}

const read = (row: Row): Transfer => ({
  id: row.id,
  transactionId: row.transaction_id,
  network: row.network,
  token: row.token,
  fromWallet: row.from_wallet,
  toWallet: row.to_wallet,
  amount: BigInt(row.amount),
  decimals: row.decimals,
  reference: row.reference ?? undefined,
  metadata: row.metadata,
  account: row.account,
  approval: row.approval ?? undefined,
  approvedBy: row.approved_by ?? undefined,
  attempt: row.attempt,
  batch: row.batch ?? undefined,
  createdBy: row.created_by,
  createdAt: row.created_at,
  status: row.status,
  hash: row.hash ?? undefined,
  nonce: row.nonce === null ? undefined : Number(row.nonce),
  blockNumber: row.block_number === null ? undefined : Number(row.block_number),
  blockHash: row.block_hash ?? undefined,
  error: row.error ?? undefined,
  updatedAt: row.updated_at,
})

/** A transfer and the transaction that is its last step. */
const selection = (sql: Queryable) => sql`
  select f.*, t.status, coalesce(t.mined_hash, t.hash) as hash, t.nonce, t.block_number,
    t.block_hash, t.error,
    coalesce(t.settled_at, t.mined_at, t.broadcast_at, t.signed_at, f.retried_at, f.created_at)
      as updated_at
  from drex_transfers f join drex_transactions t on t.id = f.transaction_id`

/** The part of the transfers that somebody may see. */
export type Visible = {
  readonly account: string
  readonly networks: readonly NetworkId[]
  /** From or to one of these; undefined: all. */
  readonly wallets?: string[] | undefined
}

/** A network that began anew keeps its old transfers under `id@genesis`. */
export const visible = (sql: Queryable, { account, networks }: Visible) => sql`
  f.account = ${account} and split_part(f.network, '@', 1) = any(${[...networks]}::text[])`

export const transferById = async (
  sql: Queryable,
  id: string,
  by: Visible,
): Promise<Transfer | undefined> => {
  const [row] = await sql<Row[]>`${selection(sql)} where f.id = ${id} and ${visible(sql, by)}`
  return row && read(row)
}

export const transfersById = async (
  sql: Transaction,
  ids: readonly string[],
): Promise<readonly Transfer[]> => {
  const rows = await sql<Row[]>`${selection(sql)} where f.id = any(${[...ids]}::text[])`
  return rows.map(read)
}

export type TransferFilter = {
  readonly wallet: Hex | undefined
  readonly status: TransactionStatus | undefined
  readonly reference: string | undefined
  readonly batch?: string | undefined
  /** Of any transaction that was signed for it. */
  readonly hash?: Hex | undefined
  /** Decimals, of the token's whole unit; with `from` and `to`. */
  readonly amountFrom?: string | undefined
  readonly amountTo?: string | undefined
  /** Asked for at this moment or later, and before that one. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Older than this one. */
  readonly beforeId: string | undefined
  readonly limit: number
}

/** In the smallest unit of each transfer's token. */
const unitsOf = (sql: Client, amount: string) =>
  sql`${amount}::text::numeric * 10::numeric ^ f.decimals`

/** Newest first. */
export const listTransfers = async (
  sql: Client,
  filter: TransferFilter,
  by: Visible,
): Promise<readonly Transfer[]> => {
  const { wallet, status, reference, batch, hash, from, to, beforeId, limit } = filter
  const { amountFrom, amountTo } = filter
  const rows = await sql<Row[]>`
    ${selection(sql)} where ${visible(sql, by)}
    ${
      by.wallets === undefined
        ? sql``
        : sql`and (f.from_wallet = any(${by.wallets}::text[]) or f.to_wallet = any(${by.wallets}::text[]))`
    }
    ${wallet === undefined ? sql`` : sql`and (f.from_wallet = ${wallet} or f.to_wallet = ${wallet})`}
    ${status === undefined ? sql`` : sql`and t.status = ${status}`}
    ${batch === undefined ? sql`` : sql`and f.batch = ${batch}`}
    ${reference === undefined ? sql`` : sql`and f.reference = ${reference}`}
    ${hash === undefined ? sql`` : sql`and f.id in (${signedFor(sql, hash)})`}
    ${amountFrom === undefined ? sql`` : sql`and f.amount >= ${unitsOf(sql, amountFrom)}`}
    ${amountTo === undefined ? sql`` : sql`and f.amount <= ${unitsOf(sql, amountTo)}`}
    ${from === undefined ? sql`` : sql`and f.id >= ${idBound('trf', from)}`}
    ${to === undefined ? sql`` : sql`and f.id < ${idBound('trf', to)}`}
    ${beforeId === undefined ? sql`` : sql`and f.id < ${beforeId}`}
    order by f.id desc limit ${limit}`
  return rows.map(read)
}

/** What a transaction was signed for, by its present hash or one of an earlier attempt. */
const signedFor = (sql: Client, hash: Hex) => sql`
  select t.subject from drex_transactions t
  where t.network = any(${[...networkIds]}::text[]) and t.hash = ${hash}
  union all
  select t.subject from drex_attempts a join drex_transactions t on t.id = a.transaction_id
  where a.network = any(${[...networkIds]}::text[]) and a.hash = ${hash}`

/** The steps of a transfer, in their order. */
export const stepsOf = async (sql: Queryable, transferId: string): Promise<readonly Step[]> => {
  const rows = await sql<
    (Omit<Step, 'hash' | 'error'> & { hash: Hex | null; error: TransactionError | null })[]
  >`
    select id, request_attempt as attempt, kind, sender, status, coalesce(mined_hash, hash) as hash,
      error, created_at as "createdAt"
    from drex_transactions where subject = ${transferId} order by id`
  return rows.map((row) => ({
    ...row,
    hash: row.hash ?? undefined,
    error: row.error ?? undefined,
  }))
}

/**
 * Lets a held transfer go, by another key than the one that asked for this attempt.
 * @returns false if it is not held, has ended, or this key made it
 */
export const approveTransfer = async (
  sql: Transaction,
  id: string,
  keyId: string,
  expirySeconds: number,
): Promise<boolean> => {
  const waiting = await sql`
    select from drex_transactions
    where subject = ${id} and status in (${before(sql, 'cancel')}) for update`
  if (waiting.count === 0) return false
  const approved = await sql`
    update drex_transfers set approval = 'approved', approved_by = ${keyId}
    where id = ${id} and approval = 'required'
      and coalesce(retried_by, created_by) <> ${keyId}`
  if (approved.count === 0) return false
  await sql`
    update drex_transactions set due_at = now(),
      expires_at = now() + ${expirySeconds} * interval '1 second'
    where subject = ${id} and status in (${before(sql, 'cancel')})`
  return true
}

/** What happened to a transfer against the usual course. */
export type Correction = {
  readonly at: Date
  readonly from: TransactionStatus
  readonly to: TransactionStatus
  readonly reason: TransactionError
  readonly hash: Hex | undefined
}

/** Of all its steps, in their order. */
export const correctionsOf = async (
  sql: Queryable,
  transferId: string,
): Promise<readonly Correction[]> => {
  const rows = await sql<(Omit<Correction, 'hash'> & { hash: Hex | null })[]>`
    select c.created_at as at, c.from_status as from, c.to_status as to, c.reason, c.hash
    from drex_transactions t join drex_corrections c on c.transaction_id = t.id
    where t.subject = ${transferId} order by c.created_at, c.id`
  return rows.map(({ hash, ...row }) => ({ ...row, hash: hash ?? undefined }))
}

/** Cancels steps that are not signed yet. @returns the cancelled steps */
export const cancelPending = async (
  sql: Transaction,
  transferId: string,
): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`
    update drex_transactions set status = 'cancelled', settled_at = now()
    where subject = ${transferId} and status in (${before(sql, 'cancel')}) returning id`
  return rows.map((row) => row.id)
}
