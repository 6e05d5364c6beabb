/**
 * What a step stands on: the step before it, and the deployment of the contract that it calls. While their blocks are
 * off the chain, what a node answers about the step is true of a state that will not stay.
 */
import type { Client } from '#src/platform/database/index.ts'
import { isFinal, type TransactionStatus } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import { hashesOf } from './blocks.ts'
import type { EngineContext } from './context.ts'
import { defer, retryMs } from './store.ts'
import type { OpenTransaction } from './transaction.ts'

/**
 * Leaves to a later turn those whose ground is off the chain. It is asked once a node has answered about them: a block
 * that is on the chain now was there before, too.
 * @returns the others
 * @throws RpcFailure if no node answers at all
 */
export const onGround = async <T extends { readonly transaction: Pick<OpenTransaction, 'id'> }>(
  context: EngineContext,
  judged: readonly T[],
): Promise<readonly T[]> => {
  const { sql } = context
  const grounds = await groundsOf(
    sql,
    judged.map(({ transaction }) => transaction.id),
  )
  if (grounds.length === 0) return judged
  const ended = grounds.filter(({ status }) => status === 'confirmed')
  const hashes = await hashesOf(
    context,
    ended.map(({ number }) => number),
  )
  const isShaken = ({ status, number, hash }: Ground): boolean =>
    status === 'confirmed' ? hashes.get(number) !== hash : !isFinal(status)
  const shaken = new Set(grounds.filter(isShaken).map(({ id }) => id))
  await defer(sql, [...shaken], retryMs)
  return judged.filter(({ transaction }) => !shaken.has(transaction.id))
}

type Ground = {
  /** The step’s that stands on it. */
  readonly id: string
  readonly status: TransactionStatus
  /** Its block’s. */
  readonly number: number
  readonly hash: Hex
}

const groundsOf = async (sql: Client, ids: readonly string[]): Promise<readonly Ground[]> => {
  if (ids.length === 0) return []
  const rows = await sql<{ id: string; status: TransactionStatus; number: bigint; hash: Hex }[]>`
    select t.id, ground.status, ground.block_number as number, ground.block_hash as hash
    from drex_transactions t cross join lateral (
      select p.status, p.block_number, p.block_hash from drex_transactions p where p.id = t.after_id
      union all
      (select d.status, d.block_number, d.block_hash
      from drex_contracts c join drex_transactions d on d.id = c.transaction_id
      where c.address = t.recipient and c.network = t.network and c.transaction_id is not null
      limit 1)
    ) ground
    where t.id = any(${[...ids]}::text[])`
  return rows.map(({ number, ...ground }) => ({ ...ground, number: Number(number) }))
}
