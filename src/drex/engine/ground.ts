/**
 * What a step stands on: the step before it, and the deployment of the contract that it calls. While their blocks are
 * off the chain, what a node answers about the step is true of a state that will not stay.
 */
import type { Client } from '#src/platform/database/index.ts'
import { isFinal, type TransactionStatus } from '../domain.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import type { RpcOutcome } from '../rpc/client.ts'
import { passing } from '../rpc/errors.ts'
import { type RpcRequest, toldIn } from '../rpc/exchange.ts'
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

/** Asks one node once more about a step. */
export type Again = {
  readonly requests: readonly RpcRequest[]
  /** Whether what was judged is so by these answers, too. */
  readonly isSo: (answers: readonly RpcOutcome<never>[]) => boolean | Promise<boolean>
}

type Judged = {
  readonly transaction: Pick<OpenTransaction, 'id'>
  /** Absent where it does not hang on what the step stands on. */
  readonly again?: Again | undefined
}

/** Steps that are asked of once more in one turn; the others have theirs. */
const againMax = 32

/**
 * Leaves to a later turn those whose ground is off the chain, or of which no node that has it says the same once more: one
 * address may lead to several nodes, and one of them be behind.
 * @returns the others
 */
export const againOnGround = async <T extends Judged>(
  context: EngineContext,
  judged: readonly T[],
): Promise<readonly T[]> => {
  const { sql } = context
  const ids = judged.map(({ transaction }) => transaction.id)
  const grounds = Map.groupBy(await groundsOf(sql, ids), ({ id }) => id)
  let asked = 0
  const standing = await Promise.all(
    judged.map(async ({ transaction, again }) => {
      const own = grounds.get(transaction.id) ?? []
      if (!own.every(({ status }) => isFinal(status))) return false
      const ended = own.filter(({ status }) => status === 'confirmed')
      if (ended.length === 0) return true
      return asked++ < againMax && isSoOn(context, ended, again)
    }),
  )
  const shaken = ids.filter((_, i) => standing[i] !== true)
  await defer(sql, shaken, retryMs)
  return judged.filter((_, i) => standing[i])
}

const nothing: Again = { requests: [], isSo: () => true }

const isSoOn = async (
  { rpc }: EngineContext,
  grounds: readonly Ground[],
  { requests, isSo }: Again = nothing,
): Promise<boolean> => {
  const blocks = grounds.map(
    ({ number }): RpcRequest => ({
      method: 'eth_getBlockByNumber',
      params: [quantity(number), false],
    }),
  )
  const answers = await rpc.together([...blocks, ...requests]).catch(passing)
  const told = (answers ?? []) as readonly RpcOutcome<never>[]
  const hashAt = (i: number) => (toldIn(told[i]) as { readonly hash: Hex } | null | undefined)?.hash
  return grounds.every(({ hash }, i) => hashAt(i) === hash) && isSo(told.slice(grounds.length))
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
