/**
 * From sent to settled. New blocks are read one by one and compared with what is in flight; a
 * receipt counts once its block is deep enough and, by hash, still on the chain. A transaction without a receipt is
 * asked for by hash and sent again, and never fails by age.
 */
import { type Hex, quantity } from '../evm/hex.ts'
import type { RpcOutcome } from '../rpc/client.ts'
import type { Block, Receipt } from '../rpc/methods.ts'
import { agreementOn, nodesNeeded, provenOf } from './agreement.ts'
import * as attemptStore from './attempt-store.ts'
import { chainHashes, hashesOf, linkedBlocks } from './blocks.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import { type Judged, mismatchOf } from './evidence.ts'
import { createFinalityWatch } from './finality.ts'
import { createCheckpoints } from './identity.ts'
import { inParts, storeEnds } from './parts.ts'
import type { Unconfirmed } from './silence.ts'
import * as store from './store.ts'
import type { OpenTransaction, TransactionError } from './transaction.ts'

/** Blocks per look; after a longer pause, the sweep finds the rest. */
const blocksMax = 64
/** Blocks whose hashes are remembered, to find out where the chain has changed. */
const knownMax = 256
const settleMax = 2_000
/** The least time between two looks at a block that was read already. */
const againMinMs = 250

export const createFollower = (context: EngineContext) => {
  const { logger, network, rpc } = context
  const checkpoint = createCheckpoints(context)
  const finality = createFinalityWatch(context)
  /** Hashes of the blocks that were read last, by their numbers. */
  const known = new Map<number, Hex>()
  let next: number | undefined
  let againMs = 0

  const remember = ({ number, hash }: Block): void => {
    known.set(number, hash)
    known.delete(number - knownMax)
    next = number + 1
  }

  const changed = (from: number): void => {
    finality.changed(from)
    context.knownCode.clear()
  }

  /** The last block that was read and is still on the chain. */
  const ancestor = async (head: number): Promise<number> => {
    const numbers = [...known.keys()].filter((number) => number <= head).sort((a, b) => b - a)
    const hashes = await hashesOf(context, numbers)
    return numbers.find((number) => hashes.get(number) === known.get(number)) ?? 0
  }

  const goBack = async (head: number): Promise<void> => {
    const last = Math.max(...known.keys())
    const common = await ancestor(head)
    logger.warn({ network: network.id, from: common + 1, to: last }, 'the chain changed')
    for (const number of known.keys()) if (number > common) known.delete(number)
    changed(common + 1)
    next = common + 1
  }

  const readBlocks = async (head: number): Promise<number> => {
    // A head so far behind is another chain's, or the one before was false: begin there.
    if (next === undefined || head < next - knownMax) next = head
    // Without a new block we look now and then at the last one, which may be another by now.
    if (head < next && performance.now() < againMs) return 0
    againMs = performance.now() + Math.max(againMinMs, network.blockTimeMs)
    const from = Math.max(Math.min(next, head), head - blocksMax + 1, 0)
    // We do not know what happened in the blocks that we skip.
    if (from > next) changed(0)
    const numbers = Array.from({ length: head - from + 1 }, (_, i) => from + i)
    const blocks = await linkedBlocks(context, numbers)
    const isOther = (number: number, hash: Hex) => (known.get(number) ?? hash) !== hash
    const [first] = blocks
    const isCut = first !== undefined && isOther(first.number - 1, first.parentHash)
    if (isCut || blocks.some(({ number, hash }) => isOther(number, hash))) {
      await goBack(head)
      return 1
    }
    const fresh = blocks.filter(({ number }) => !known.has(number))
    const mined = await mineFrom(context, fresh, deepestAt(context, head))
    for (const block of fresh) remember(block)
    return mined
  }

  return {
    /** Reads new blocks and settles what is deep enough. @returns how many were mined or settled */
    async followOnce(): Promise<number> {
      const head = await rpc.call('eth_blockNumber')
      context.heads.told(head)
      await checkpoint(head)
      try {
        const mined = await readBlocks(head)
        return mined + (await finality.look()) + (await settleDeep(context, head))
      } catch (error) {
        // A block that cannot be read keeps nothing from its end that was read before.
        await settleDeep(context, head)
        throw error
      }
    },
  }
}

/** The last block with enough confirmations. */
const deepestAt = ({ network }: EngineContext, head: number): number =>
  head - network.confirmations + 1

const mineFrom = async (
  context: EngineContext,
  blocks: readonly Block[],
  deepest: number,
): Promise<number> => {
  const hashes = blocks.flatMap((block) =>
    block.transactions.map((each) => (typeof each === 'string' ? each : each.hash)),
  )
  if (hashes.length === 0) return 0
  const ours = await store.findByHash(context.sql, context.network.id, hashes)
  const byHash = blockOf(blocks)
  const rows = await minedRows(context, ours, byHash)
  const isEnd = (row: store.MinedRow): boolean =>
    isPlain(row, ours.get(row.minedHash)) &&
    row.blockNumber <= deepest &&
    row.blockHash === byHash.get(row.minedHash) &&
    nodesNeeded(context) < 2
  await storeMined(
    context,
    rows.filter((row) => !isEnd(row)),
  )
  await storeEnds(context, rows.filter(isEnd), endings.settleMined)
  return rows.length
}

/** Whether it did what was asked under its first hash, so that nothing about its end is left to find out. */
const isPlain = (row: store.MinedRow, found: store.Found | undefined): boolean =>
  row.succeeded && row.mismatch === undefined && found?.isFirst === true

/** By the transactions' hashes. */
const blockOf = (blocks: readonly Block[]): ReadonlyMap<Hex, Hex> =>
  new Map(
    blocks.flatMap(({ hash, transactions }) =>
      transactions.map((each): [Hex, Hex] => [typeof each === 'string' ? each : each.hash, hash]),
    ),
  )

/**
 * Looks for receipts by hash.
 * @param blocks that have them, by the transactions' hashes, as the node tells
 */
const minedRows = async (
  context: EngineContext,
  byHash: ReadonlyMap<Hex, Judged>,
  blocks: ReadonlyMap<Hex, Hex>,
): Promise<readonly store.MinedRow[]> => {
  if (byHash.size === 0) return []
  const { accepted } = context
  const receipts = await receiptsOf(context, [...byHash.keys()], blocks)
  const mined: store.MinedRow[] = []
  for (const [hash, receipt] of receipts) {
    const { blockNumber, blockHash, succeeded, gasUsed } = receipt
    const judged = byHash.get(hash)!
    const mismatch = mismatchOf(judged, receipt)
    const { id } = judged
    accepted.drop(id)
    mined.push({ id, minedHash: hash, blockNumber, blockHash, succeeded, mismatch, gasUsed })
  }
  return mined
}

const storeMined = (
  { network, logger, sql }: EngineContext,
  mined: readonly store.MinedRow[],
): Promise<void> =>
  inParts(
    mined,
    (rows) => store.markMined(sql, rows),
    ({ id }, error) => {
      logger.error({ network: network.id, transaction: id, err: error }, 'receipt not stored')
    },
  )

/** Proven ones, where the network's blocks prove them. */
const receiptsOf = async (
  { network, prover, rpc }: EngineContext,
  hashes: readonly Hex[],
  blocks: ReadonlyMap<Hex, Hex>,
): Promise<ReadonlyMap<Hex, Receipt>> => {
  const receipts = new Map<Hex, Receipt>()
  if (network.proofs) {
    for (const [block, own] of Map.groupBy(hashes, (hash) => blocks.get(hash))) {
      const proven = block && (await prover.prove(block))
      for (const hash of own) {
        const receipt = proven?.receipts.get(hash)
        if (receipt !== undefined) receipts.set(hash, receipt)
      }
    }
    return receipts
  }
  const outcomes = await rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  for (const [i, hash] of hashes.entries()) {
    const receipt = receiptOf(outcomes[i]!, hash)
    if (receipt !== undefined) receipts.set(hash, receipt)
  }
  return receipts
}

/** Ignores a receipt of another transaction. */
const receiptOf = (outcome: RpcOutcome<Receipt | null>, hash: Hex): Receipt | undefined =>
  'result' in outcome && outcome.result?.transactionHash === hash ? outcome.result : undefined

/** Settles transactions with enough confirmations, and puts back those that lost their block. */
const settleDeep = async (context: EngineContext, head: number): Promise<number> => {
  const { network, sql } = context
  const deepest = deepestAt(context, head)
  let count = 0
  const waiting: Unconfirmed[] = []
  let afterId: string | undefined = ''
  while (afterId !== undefined) {
    const mined = await store.minedUpTo(sql, network.id, deepest, { afterId, limit: settleMax })
    const settled = await settlePage(context, mined)
    count += settled.count
    waiting.push(...settled.waiting)
    // Transactions whose block no node tells stay as they are, and do not hold up the others.
    afterId = mined.length < settleMax ? undefined : mined.at(-1)?.id
  }
  context.silence.look(context, waiting)
  return count
}

const settlePage = async (
  context: EngineContext,
  mined: readonly OpenTransaction[],
): Promise<{ readonly count: number; readonly waiting: readonly Unconfirmed[] }> => {
  if (mined.length === 0) return { count: 0, waiting: [] }
  const canonical = await chainHashes(
    context,
    new Set(mined.map((each) => each.blockNumber).filter((number) => number !== undefined)),
  )
  const gone: OpenTransaction[] = []
  const done: OpenTransaction[] = []
  for (const transaction of mined) {
    const hash = canonical.get(transaction.blockNumber!)
    if (hash === undefined) continue
    if (hash === transaction.blockHash) done.push(transaction)
    else gone.push(transaction)
  }
  const { logger, network, sql } = context
  if (gone.length > 0) {
    logger.warn({ network: network.id, count: gone.length }, 'blocks were reorganised')
    await store.unmine(sql, gone)
  }
  const proven = await provenOf(context, done)
  const { agreed, disputed, waiting } = await agreementOn(context, proven.agreed, proven.disputed)
  if (disputed.length > 0) {
    const ids = disputed.map(({ id }) => id)
    logger.error(
      { network: network.id, transactions: ids.slice(0, 8), count: ids.length },
      'a receipt is not what a node or the block tells',
    )
    await store.unmine(sql, disputed)
  }
  if (agreed.length > 0) await settle(context, agreed)
  return { count: agreed.length + gone.length, waiting }
}

const settle = async (context: EngineContext, done: readonly OpenTransaction[]): Promise<void> => {
  const cancels = await cancelHashes(context, done)
  const isCancel = ({ minedHash }: OpenTransaction) => cancels.has(minedHash ?? '0x')
  const reverts = await revertErrors(
    context,
    done.filter((each) => !isCancel(each) && each.succeeded !== true),
  )
  const rows = done.map((transaction): endings.Settlement => {
    const { id, blockHash, minedHash } = transaction
    const judged = { id, blockHash, minedHash }
    if (isCancel(transaction)) return { ...judged, event: 'settled_cancel' }
    if (transaction.mismatch !== undefined) {
      const error = { code: 'TRANSFER_MISMATCH', message: transaction.mismatch } as const
      return { ...judged, event: 'settled_mismatch', error }
    }
    if (transaction.succeeded === true) return { ...judged, event: 'settled_success' }
    return { ...judged, event: 'settled_revert', error: reverts.get(id) }
  })
  await storeEnds(context, rows, endings.settle)
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

/** A receipt does not say why, so we repeat the calls on the states that they met. */
const revertErrors = async (
  { rpc, explainRevert }: EngineContext,
  reverted: readonly OpenTransaction[],
): Promise<ReadonlyMap<string, TransactionError>> => {
  const outcomes = await rpc
    .batch(
      reverted.map(({ sender, recipient, data, blockNumber = 0 }) => ({
        method: 'eth_call',
        params: [
          { from: sender, ...(recipient === undefined ? {} : { to: recipient }), data },
          quantity(blockNumber),
        ],
      })),
    )
    // The end is certain without the reason.
    .catch(() => [])
  const errors = new Map<string, TransactionError>()
  for (const [i, transaction] of reverted.entries()) {
    const outcome = outcomes[i]
    const data = outcome !== undefined && 'failure' in outcome ? outcome.failure.data : undefined
    const revert = await explainRevert(data)
    errors.set(transaction.id, {
      code: 'REVERTED',
      message:
        revert === undefined ? unexplained(transaction) : `The contract refused: ${revert.name}.`,
      ...(revert === undefined ? {} : { revert }),
    })
  }
  return errors
}

/** A call keeps a sixty-fourth of its gas from what it calls (EIP-150): used to that, it ran out. */
const unexplained = ({ gasUsed = 0, gasLimit = 0n }: OpenTransaction): string =>
  BigInt(gasUsed) * 64n >= gasLimit * 63n
    ? 'It ran out of gas: it met another state than its simulation.'
    : 'The contract refused.'

/**
 * Asks for receipts of every hash of these transactions.
 * @returns those without any
 */
export const collectReceipts = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
  attempts: readonly attemptStore.Attempt[],
): Promise<readonly OpenTransaction[]> => {
  const byId = new Map(transactions.map((each) => [each.id, each]))
  const byHash = new Map<Hex, OpenTransaction>()
  for (const each of transactions) if (each.hash !== undefined) byHash.set(each.hash, each)
  for (const each of attempts) byHash.set(each.hash, byId.get(each.transactionId)!)
  const found = new Set<string>()
  const hashes = [...byHash.keys()]
  const outcomes = await context.rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const mined = new Map<Hex, OpenTransaction>()
  const blocks = new Map<Hex, Hex>()
  for (const [i, hash] of hashes.entries()) {
    const outcome = outcomes[i]!
    const transaction = byHash.get(hash)!
    // Without an answer we know nothing, and treat it as found, so that we do not send it again now.
    if ('failure' in outcome) found.add(transaction.id)
    if (!('result' in outcome) || outcome.result === null) continue
    mined.set(hash, transaction)
    blocks.set(hash, outcome.result.blockHash)
  }
  await storeMined(context, await minedRows(context, mined, blocks))
  for (const { id } of mined.values()) found.add(id)
  return transactions.filter((each) => !found.has(each.id))
}
