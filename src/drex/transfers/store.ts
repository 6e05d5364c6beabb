import type { PendingQuery, Row as PostgresRow } from 'postgres'
import {
  type Client,
  constants,
  opaque,
  optionalNumber,
  type Queryable,
  rowCount,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import { networkIds } from '../config.ts'
import { finalStatuses, isFinal, openStatuses, type TransactionStatus } from '../domain.ts'
import { before } from '../engine/store.ts'
import type { Ended, TransactionError, TransactionKind } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'
import { idBound } from '../ids.ts'
import type { Visible } from '../wallets/rights.ts'

export type NewTransfer = {
  readonly id: string
  /** The transaction of its last step. */
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
  /** `required` until another key approves, `lapsed` where it ended before; undefined if the wallet's policy asks for none. */
  readonly approval: 'required' | 'approved' | 'lapsed' | undefined
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
  /** The key that asked for the present attempt; undefined for the first. */
  readonly retriedBy: string | undefined
  /** The number of the present attempt, from 1. */
  readonly attempt: number
  readonly updatedAt: Date
}

export type Step = {
  readonly id: string
  /** Which attempt of the transfer it is, from 1. */
  readonly attempt: number
  readonly kind: TransactionKind
  readonly sender: Hex
  readonly status: TransactionStatus
  readonly hash: Hex | undefined
  readonly error: TransactionError | undefined
  readonly createdAt: Date
}

const read = (row: PostgresRow): Transfer => {
  const value = valueOfRow<
    Omit<Transfer, 'amount' | 'nonce' | 'blockNumber'> & {
      readonly amount: string
      readonly nonce: bigint | undefined
      readonly blockNumber: bigint | undefined
    }
  >(row)
  return {
    ...value,
    amount: BigInt(value.amount),
    nonce: optionalNumber(value.nonce),
    blockNumber: optionalNumber(value.blockNumber),
  }
}

const shown = (sql: Queryable) => sql`
  f.*, t.status, coalesce(t.mined_hash, t.hash) as hash, t.nonce, t.block_number, t.block_hash, t.error,
  coalesce(t.settled_at, t.mined_at, t.broadcast_at, t.signed_at, f.retried_at, f.created_at)
    as updated_at`

/** The transaction that is a transfer's last step, looked up for each. */
const lastStep = (sql: Queryable) => sql`
  cross join lateral (select * from drex_transactions where id = f.transaction_id limit 1) t`

/** A transfer and the transaction that is its last step. */
const selection = (sql: Queryable) => sql`
  select ${shown(sql)} from drex_transfers f ${lastStep(sql)}`

/** A network that began anew keeps its old transfers under `id@genesis`. */
const onNetworks = (sql: Queryable, { networks }: Visible) => sql`
  split_part(f.network, '@', 1) = any(${[...networks]}::text[])`

export const visible = (sql: Queryable, by: Visible) => sql`
  f.account = ${by.account} and ${opaque(sql, onNetworks(sql, by))}`

export const transferById = async (
  sql: Queryable,
  id: string,
  by: Visible,
): Promise<Transfer | undefined> => {
  const [row] = await sql`${selection(sql)} where f.id = ${id} and ${visible(sql, by)}`
  return row && read(row)
}

export const transfersById = async (
  sql: Transaction,
  ids: readonly string[],
): Promise<readonly Transfer[]> => {
  const rows = await sql`${selection(sql)} where f.id = any(${[...ids]}::text[])`
  return rows.map(read)
}

export type TransferFilter = {
  readonly wallet: Hex | undefined
  readonly status: TransactionStatus | undefined
  /** Waiting for another key. */
  readonly approval?: 'required' | undefined
  readonly reference: string | undefined
  readonly batch?: string | undefined
  /** The hash of any transaction that was signed for it. */
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

/**
 * The transfers that a list is walked by, and for each walk the condition whose index leads it. All else is opaque: a plan
 * is made while nobody knows what is rare, and it has to walk that index in the order of the list, and stop.
 */
const ledBy = (sql: Client, filter: TransferFilter, by: Visible) => {
  const { wallet, approval, reference, batch, hash } = filter
  const order = sql`f.id`
  const account = opaque(sql, sql`f.account = ${by.account}`)
  const named = (condition: PendingQuery<PostgresRow[]>) => ({
    // The offset keeps the planner from using the list's order here, which this index does not have.
    transfers: sql`(select * from drex_transfers where ${condition} offset 0) f`,
    condition: account,
    order,
  })
  if (hash !== undefined) {
    return [
      {
        transfers: sql`(select distinct subject from (${signedFor(sql, hash)}) every) signed
          cross join lateral (select * from drex_transfers where id = signed.subject limit 1) f`,
        condition: account,
        order,
      },
    ]
  }
  if (batch !== undefined) return [named(sql`batch = ${batch}`)]
  if (reference !== undefined) return [named(sql`reference = ${reference}`)]
  const transfers = sql`drex_transfers f`
  if (approval !== undefined) {
    // As its index has it.
    const condition = sql`f.approval = 'required' and f.account = ${by.account}`
    return [{ transfers, condition, order }]
  }
  if (wallet === undefined) {
    const rare = ledByStatus(sql, filter)
    if (rare !== undefined) return [{ ...rare, condition: account }]
    return [{ transfers, condition: sql`f.account = ${by.account}`, order }]
  }
  return [
    {
      transfers,
      condition: sql`f.from_wallet = ${wallet} and f.account = ${by.account}`,
      order,
    },
    // One to the same wallet has been found.
    {
      transfers,
      condition: sql`f.to_wallet = ${wallet} and f.account = ${by.account} and ${opaque(sql, sql`f.from_wallet <> ${wallet}`)}`,
      order,
    },
  ]
}

/** The part of a list that a page is of, by the ids of its transfers. */
const placed = (
  sql: Client,
  id: PendingQuery<PostgresRow[]>,
  { from, to, beforeId }: Pick<TransferFilter, 'from' | 'to' | 'beforeId'>,
) => sql`
  ${from === undefined ? sql`` : sql`and ${id} >= ${idBound(from)}`}
  ${to === undefined ? sql`` : sql`and ${id} < ${idBound(to)}`}
  ${beforeId === undefined ? sql`` : sql`and ${id} < ${beforeId}`}`

/**
 * By the last step's status, where few have it: those on their way, and those that moved nothing. What waits and what moved
 * nothing have indexes in the order of the list, whose conditions must stand in the statement as they stand there.
 */
const ledByStatus = (sql: Client, { status, ...place }: TransferFilter) => {
  if (status === undefined || status === 'confirmed') return undefined
  return {
    transfers: sql`(
      select subject, id from drex_transactions
      where ${hasStatus(sql, status)} ${placed(sql, sql`subject`, place)} order by subject desc offset 0) step
      cross join lateral (
        select * from drex_transfers where id = step.subject and transaction_id = step.id limit 1) f`,
    order: sql`step.subject`,
  }
}

const waiting = 'pending'

const hasStatus = (sql: Client, status: TransactionStatus) => {
  if (status === waiting) return sql`status = ${constants(sql, [waiting])}`
  const among = isFinal(status)
    ? finalStatuses.filter((final) => final !== 'confirmed')
    : openStatuses
  return sql`status = ${status} and status in (${constants(sql, among)})`
}

/** Newest first. */
export const listTransfers = async (
  sql: Client,
  filter: TransferFilter,
  by: Visible,
): Promise<readonly Transfer[]> => {
  const { wallet, status, approval, reference, batch, limit } = filter
  const { amountFrom, amountTo } = filter
  const met = [
    onNetworks(sql, by),
    ...(by.wallets === undefined
      ? []
      : [
          sql`(f.from_wallet = any(${by.wallets}::text[]) or f.to_wallet = any(${by.wallets}::text[]))`,
        ]),
    ...(wallet === undefined ? [] : [sql`(f.from_wallet = ${wallet} or f.to_wallet = ${wallet})`]),
    ...(status === undefined ? [] : [sql`t.status = ${status}`]),
    // A release before leaves it as it was where the transfer ends.
    ...(approval === undefined ? [] : [sql`f.approval = ${approval} and t.status = ${waiting}`]),
    ...(batch === undefined ? [] : [sql`f.batch = ${batch}`]),
    ...(reference === undefined ? [] : [sql`f.reference = ${reference}`]),
    ...(amountFrom === undefined ? [] : [sql`f.amount >= ${unitsOf(sql, amountFrom)}`]),
    ...(amountTo === undefined ? [] : [sql`f.amount <= ${unitsOf(sql, amountTo)}`]),
  ].reduce((all, one) => sql`${all} and ${one}`)
  const conditions = sql`${opaque(sql, met)}
    ${placed(sql, sql`f.id`, filter)}`
  const lists = ledBy(sql, filter, by).map(
    ({ transfers, condition, order }) => sql`(
      select ${shown(sql)} from ${transfers} ${lastStep(sql)}
      where ${condition} and ${conditions} order by ${order} desc limit ${rowCount(sql, limit)})`,
  )
  const all = lists.reduce((some, one) => sql`${some} union all ${one}`)
  const rows =
    await sql`select * from (${all}) listed order by id desc limit ${rowCount(sql, limit)}`
  return rows.map(read)
}

/** The transaction that was signed under a hash, its present one or that of an earlier attempt. */
const signedFor = (sql: Client, hash: Hex) => sql`
  select t.subject from drex_transactions t
  where t.network = any(${[...networkIds]}::text[]) and t.hash = ${hash}
  union all
  select t.subject from drex_attempts a cross join lateral (
    select subject from drex_transactions where id = a.transaction_id limit 1
  ) t where a.network = any(${[...networkIds]}::text[]) and a.hash = ${hash}`

/** The steps of a transfer, in their order. */
export const stepsOf = async (sql: Queryable, transferId: string): Promise<readonly Step[]> => {
  const rows = await sql`
    select id, request_attempt as attempt, kind, sender, status, coalesce(mined_hash, hash) as hash,
      error, created_at
    from drex_transactions where subject = ${transferId} order by id`
  return rows.map(valueOfRow<Step>)
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

/** Once a transfer has ended, it no longer waits for an approval. */
export const lapseApprovals = async (sql: Transaction, ended: readonly Ended[]): Promise<void> => {
  const unsent = ended.filter(({ status }) => status === 'failed' || status === 'cancelled')
  if (unsent.length === 0) return
  await sql`
    update drex_transfers set approval = 'lapsed'
    where id = any(${unsent.map(({ subject }) => subject)}::text[]) and approval = 'required'`
}

/** What happened to a transfer against the usual course. */
export type Correction = {
  readonly at: Date
  readonly from: TransactionStatus
  readonly to: TransactionStatus
  readonly reason: TransactionError
  readonly hash: Hex | undefined
}

/** The corrections of transactions `t` that a condition is met by, in their order. */
export const correctionsWhere = async (
  sql: Queryable,
  met: PendingQuery<PostgresRow[]>,
): Promise<readonly Correction[]> => {
  const rows = await sql`
    select c.created_at as at, c.from_status as from, c.to_status as to, c.reason, c.hash
    from drex_transactions t join drex_corrections c on c.transaction_id = t.id
    where ${met} order by c.created_at, c.id`
  return rows.map(valueOfRow<Correction>)
}

/** The corrections of all steps of a transfer, an operation or an agreement. */
export const correctionsOf = (sql: Queryable, subject: string) =>
  correctionsWhere(sql, sql`t.subject = ${subject}`)

/** Cancels steps that are not signed yet, but none that takes an allowance back. @returns the cancelled steps */
export const cancelPending = async (
  sql: Transaction,
  subject: string,
): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`
    update drex_transactions set status = 'cancelled', settled_at = now()
    where subject = ${subject} and kind <> 'revoke' and status in (${before(sql, 'cancel')})
    returning id`
  return rows.map((row) => row.id)
}

type Waiting = { readonly id: string; readonly sender: Hex; readonly isHeld: boolean }

/** Steps that are not signed yet. */
export const waitingOf = (sql: Queryable, subject: string): Promise<readonly Waiting[]> => sql<
  Waiting[]
>`
    select id, sender, held is not null as "isHeld" from drex_transactions
    where subject = ${subject} and status in (${before(sql, 'cancel')})`

/** Locks a step. @returns false if it can no longer be cancelled */
export const lockCancellable = async (sql: Transaction, id: string): Promise<boolean> => {
  const locked = await sql`
    select from drex_transactions where id = ${id} and status in (${before(sql, 'cancel')})
    for update`
  return locked.count === 1
}
