/**
 * From sent to settled. New blocks are read one by one and compared with what is in flight; a
 * receipt counts once its block is deep enough and, by hash, still on the chain. A transaction without a receipt is
 * asked for by hash and sent again, and never fails by age.
 */
import { transition } from '../domain.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import type { RpcRequest } from '../rpc/client.ts'
import { RpcFailure } from '../rpc/errors.ts'
import { endSagas } from '../sagas.ts'
import * as attemptStore from './attempt-store.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import * as store from './store.ts'
import type { OpenTransaction, TransactionError } from './transaction.ts'

/** Blocks per look; after a longer pause, the sweep finds the rest. */
const blocksMax = 64
/** How far back a look goes when the chain it followed has changed. */
const reorgBlocks = 16
const settleMax = 2_000

type Receipt = {
  readonly transactionHash: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly status: Hex
  readonly gasUsed: Hex
}

type Block = {
  readonly hash: Hex
  readonly parentHash: Hex
  readonly number: Hex
  readonly transactions: readonly Hex[]
}

export type Follower = {
  /** Reads new blocks and settles what is deep enough. @returns how many were mined or settled */
  readonly followOnce: () => Promise<number>
  /** Forgets where it was: the next look starts at the head. */
  readonly restart: () => void
}

export const createFollower = (context: EngineContext): Follower => {
  let next: number | undefined
  let lastHash: Hex | undefined

  const readBlocks = async (head: number): Promise<number> => {
    next ??= head
    if (head < next) return 0
    const from = Math.max(next, head - blocksMax + 1)
    const blocks = await fetchBlocks(context, from, head)
    const first = blocks[0]
    if (first === undefined) return 0
    if (lastHash !== undefined && from === next && first.parentHash !== lastHash) {
      context.logger.warn({ network: context.network.id, block: from }, 'the chain changed')
      next = Math.max(0, from - reorgBlocks)
      lastHash = undefined
      return readBlocks(head)
    }
    const mined = await mineFrom(context, blocks)
    next = head + 1
    lastHash = blocks.at(-1)?.hash
    return mined
  }

  return {
    restart() {
      next = undefined
      lastHash = undefined
    },
    async followOnce() {
      const head = Number(await context.rpc.call('eth_blockNumber'))
      const mined = await readBlocks(head)
      return mined + (await settleDeep(context, head))
    },
  }
}

const fetchBlocks = async (context: EngineContext, from: number, to: number): Promise<Block[]> => {
  const requests: RpcRequest[] = []
  for (let number = from; number <= to; number++) {
    requests.push({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })
  }
  const outcomes = await context.rpc.batch(requests)
  const blocks: Block[] = []
  for (const outcome of outcomes) {
    if ('failure' in outcome) throw outcome.failure
    // Behind a load balancer the answering node may not have the newest block yet.
    if (outcome.result === null) break
    blocks.push(outcome.result as Block)
  }
  return blocks
}

const mineFrom = async (context: EngineContext, blocks: readonly Block[]): Promise<number> => {
  const hashes = blocks.flatMap((block) => block.transactions)
  if (hashes.length === 0) return 0
  const ours = await store.findByHash(context.sql, context.network.id, hashes)
  return mineByReceipt(context, ours)
}

/**
 * Asks for receipts by hash and records those that exist.
 * @returns how many there were
 */
const mineByReceipt = async (
  context: EngineContext,
  byHash: ReadonlyMap<Hex, string>,
): Promise<number> => {
  if (byHash.size === 0) return 0
  const hashes = [...byHash.keys()]
  const outcomes = await context.rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const mined: store.MinedRow[] = []
  for (const [i, hash] of hashes.entries()) {
    const outcome = outcomes[i]!
    if ('failure' in outcome || outcome.result === null) continue
    const receipt = outcome.result as Receipt
    mined.push({
      id: byHash.get(hash)!,
      minedHash: hash,
      blockNumber: Number(receipt.blockNumber),
      blockHash: receipt.blockHash,
      succeeded: receipt.status === '0x1',
      gasUsed: Number(receipt.gasUsed),
    })
  }
  if (mined.length > 0) await store.markMined(context.sql, mined)
  return mined.length
}

/** Settles transactions with enough confirmations, and puts back those that lost their block. */
const settleDeep = async (context: EngineContext, head: number): Promise<number> => {
  const { network, sql } = context
  const deepest = head - network.confirmations + 1
  const mined = await store.minedUpTo(sql, network.id, deepest, settleMax)
  if (mined.length === 0) return 0
  const canonical = await hashesOf(
    context,
    new Set(mined.map((each) => each.blockNumber).filter((number) => number !== undefined)),
  )
  const gone: string[] = []
  const done: OpenTransaction[] = []
  for (const transaction of mined) {
    const hash = canonical.get(transaction.blockNumber!)
    if (hash === undefined) continue
    if (hash === transaction.blockHash) done.push(transaction)
    else gone.push(transaction.id)
  }
  if (gone.length > 0) {
    context.logger.warn({ network: network.id, count: gone.length }, 'blocks were reorganised')
    await store.unmine(sql, gone)
  }
  if (done.length > 0) await settle(context, done)
  return done.length + gone.length
}

const settle = async (context: EngineContext, done: readonly OpenTransaction[]): Promise<void> => {
  const cancels = await cancelHashes(context, done)
  const rows = await Promise.all(
    done.map(async (transaction) => {
      const isCancel = cancels.has(transaction.minedHash ?? '0x')
      const event = isCancel
        ? 'settled_cancel'
        : transaction.succeeded === true
          ? 'settled_success'
          : 'settled_revert'
      const error = event === 'settled_revert' ? await revertError(context, transaction) : undefined
      return { id: transaction.id, status: transition('mined', event)!, error }
    }),
  )
  await context.sql.begin(async (sql) => {
    await endSagas(context, sql, await endings.settle(sql, rows))
  })
}

/** Only transactions mined under another hash than their first can be cancellations. */
const cancelHashes = async (
  context: EngineContext,
  done: readonly OpenTransaction[],
): Promise<ReadonlySet<string>> => {
  const replaced = done.filter((each) => each.minedHash !== each.hash).map((each) => each.id)
  if (replaced.length === 0) return new Set()
  const attempts = await attemptStore.attemptsOf(context.sql, replaced)
  return new Set(attempts.filter((each) => each.kind === 'cancel').map((each) => each.hash))
}

/** A receipt does not say why, so we repeat the call on the state that it met. */
const revertError = async (
  context: EngineContext,
  transaction: OpenTransaction,
): Promise<TransactionError> => {
  let data: string | undefined
  try {
    const call = {
      from: transaction.sender,
      ...(transaction.recipient === undefined ? {} : { to: transaction.recipient }),
      data: transaction.data,
    }
    await context.rpc.call('eth_call', call, quantity(transaction.blockNumber ?? 0))
  } catch (error) {
    if (error instanceof RpcFailure) data = error.data
  }
  const revert = await context.explainRevert(data)
  return {
    code: 'REVERTED',
    message:
      revert === undefined ? 'The contract refused.' : `The contract refused: ${revert.name}.`,
    ...(revert === undefined ? {} : { revert }),
  }
}

const hashesOf = async (
  context: EngineContext,
  numbers: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Hex | 'none'>> => {
  const list = [...numbers]
  const outcomes = await context.rpc.batch(
    list.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })),
  )
  const hashes = new Map<number, Hex | 'none'>()
  for (const [i, number] of list.entries()) {
    const outcome = outcomes[i]!
    if ('failure' in outcome) continue
    hashes.set(number, outcome.result === null ? 'none' : (outcome.result as Block).hash)
  }
  return hashes
}

/**
 * Asks for receipts of every hash of these transactions.
 * @returns those without any
 */
export const collectReceipts = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
  attempts: readonly attemptStore.Attempt[],
): Promise<readonly OpenTransaction[]> => {
  const byHash = new Map<Hex, string>()
  for (const each of transactions) if (each.hash !== undefined) byHash.set(each.hash, each.id)
  for (const each of attempts) byHash.set(each.hash, each.transactionId)
  const found = new Set<string>()
  const hashes = [...byHash.keys()]
  const outcomes = await context.rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const mined = new Map<Hex, string>()
  for (const [i, hash] of hashes.entries()) {
    const outcome = outcomes[i]!
    // Without an answer we know nothing: it counts as found, so that it is not sent again now.
    if ('failure' in outcome) found.add(byHash.get(hash)!)
    else if (outcome.result !== null) mined.set(hash, byHash.get(hash)!)
  }
  await mineByReceipt(context, mined)
  for (const id of mined.values()) found.add(id)
  return transactions.filter((each) => !found.has(each.id))
}
