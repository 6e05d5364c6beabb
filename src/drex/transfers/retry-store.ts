/** SQL of further attempts at a transfer that failed. */
import type { Queryable, Transaction } from '#src/platform/database/index.ts'
import type { TransactionStatus } from '../domain.ts'
import { insertTransactions } from '../engine/store.ts'
import type { NewTransaction, TransactionError, TransactionKind } from '../engine/transaction.ts'
import type { Hex } from '../evm/hex.ts'

/** A step as a further attempt repeats it, and what is known of its bytes. */
export type TriedStep = {
  readonly id: string
  readonly attempt: number
  readonly kind: TransactionKind
  readonly network: string
  readonly sender: Hex
  readonly recipient: Hex
  readonly data: Hex
  readonly status: TransactionStatus
  readonly error: TransactionError | undefined
  /** Bytes of it went out once, or may have. */
  readonly wasSigned: boolean
  /** Where the chain has it. */
  readonly block: { readonly number: number; readonly hash: Hex } | undefined
}

/** All steps of all attempts, in their order. */
export const triedSteps = async (
  sql: Queryable,
  transferId: string,
): Promise<readonly TriedStep[]> => {
  const rows = await sql<
    (Omit<TriedStep, 'error' | 'block'> & {
      error: TransactionError | null
      block_number: bigint | null
      block_hash: Hex | null
    })[]
  >`
    select t.id, t.request_attempt as attempt, t.kind, t.network, t.sender, t.recipient, t.data,
      t.status, t.error, t.block_number, t.block_hash,
      t.hash is not null or exists (
        select from drex_attempts a where a.transaction_id = t.id
      ) as "wasSigned"
    from drex_transactions t where t.subject = ${transferId} order by t.id`
  return rows.map(({ error, block_number: number, block_hash: hash, ...row }) => ({
    ...row,
    error: error ?? undefined,
    block: number === null || hash === null ? undefined : { number: Number(number), hash },
  }))
}

/**
 * Locks a transfer against another attempt.
 * @returns the id of its last step, and the number of its present attempt
 */
export const lockTransfer = async (
  tx: Transaction,
  id: string,
): Promise<{ readonly transactionId: string; readonly attempt: number } | undefined> => {
  const [row] = await tx<{ transactionId: string; attempt: number }[]>`
    select transaction_id as "transactionId", attempt from drex_transfers
    where id = ${id} for update`
  return row
}

export type NewAttempt = {
  readonly transferId: string
  readonly attempt: number
  readonly steps: readonly NewTransaction[]
  readonly approval: 'required' | undefined
  readonly retriedBy: string
}

/** Writes the steps, and makes the last of them the transfer's own. */
export const insertRequestAttempt = async (
  tx: Transaction,
  { transferId, attempt, steps, approval, retriedBy }: NewAttempt,
): Promise<void> => {
  await insertTransactions(tx, steps)
  await tx`
    update drex_transfers set transaction_id = ${steps.at(-1)!.id}, attempt = ${attempt},
      approval = ${approval ?? null}, approved_by = null, retried_at = now(),
      retried_by = ${retriedBy}
    where id = ${transferId}`
  if (approval === undefined) return
  await tx`
    update drex_transactions set due_at = 'infinity'
    where subject = ${transferId} and request_attempt = ${attempt}`
}
