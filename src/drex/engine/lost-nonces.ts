/**
 * A nonce that is used although none of our hashes has a receipt: receipts may lag behind, or a transaction that is not
 * ours has it. Only that transaction itself, signed by the wallet and found in a block that is deep enough, twice, and on
 * every node that answers, says that ours can never be mined. A node may invent blocks; it cannot sign.
 */
import { type Hex, quantity } from '../evm/hex.ts'
import { bytesSignedBy, isSignedBy } from '../evm/signed-by.ts'
import { passing } from '../rpc/errors.ts'
import type { Block } from '../rpc/methods.ts'
import { nodesNeeded } from './agreement.ts'
import { type Attempt, insertAttempt } from './attempt-store.ts'
import type { EngineContext } from './context.ts'
import * as corrections from './correction-store.ts'
import { firstWhere } from './first-where.ts'
import * as lanes from './lane-store.ts'
import { storeEnds } from './parts.ts'
import { paidFees } from './sent.ts'
import type { OpenTransaction, TransactionError } from './transaction.ts'

const nonceTaken: TransactionError = {
  code: 'NONCE_TAKEN',
  message: 'A transaction that is not of this gateway used the wallet’s nonce; it is signed again.',
}

/** Suspects looked into at one time; the others come next. */
const suspectsMax = 32
const rememberedMax = 10_000

/** @param attempts of these transactions */
export type LostNonces = (
  suspects: readonly OpenTransaction[],
  attempts: readonly Attempt[],
) => Promise<void>

export const createLostNonces = (context: EngineContext): LostNonces => {
  /** The other's transaction by ours, as the last look found it. */
  const seen = new Map<string, Hex>()
  return async (suspects, attempts) => {
    const lost: OpenTransaction[] = []
    for (const suspect of suspects.slice(0, suspectsMax)) {
      const hashes = hashesOf(suspect, attempts)
      const taker = await takerOf(context, suspect, hashes).catch(passing)
      // Another signature for the same call: a fee that was raised after a copy of this book was made.
      if (taker !== undefined && (await isOurs(context, suspect, taker.hash))) continue
      const isSecond = taker !== undefined && seen.get(suspect.id) === taker.hash
      if (seen.size >= rememberedMax) seen.clear()
      if (taker === undefined) seen.delete(suspect.id)
      else seen.set(suspect.id, taker.hash)
      if (taker === undefined || !isSecond || !(await isProven(context, suspect, taker.hash)))
        continue
      if (!(await isAgreed(context, taker.block, hashes))) continue
      seen.delete(suspect.id)
      lost.push(suspect)
    }
    if (lost.length > 0) await giveUp(context, lost, attempts)
  }
}

const hashesOf = (
  { id, hash }: OpenTransaction,
  attempts: readonly Attempt[],
): ReadonlySet<Hex> => {
  const own = attempts.filter((each) => each.transactionId === id).map((each) => each.hash)
  return new Set(hash === undefined ? own : [hash, ...own])
}

type Taker = { readonly hash: Hex; readonly block: Block }

/** @returns undefined while the nonce is not used deep enough, or our own transaction has it */
const takerOf = async (
  context: EngineContext,
  { sender, nonce }: OpenTransaction,
  hashes: ReadonlySet<Hex>,
): Promise<Taker | undefined> => {
  const { network, prover, rpc } = context
  if (nonce === undefined) return undefined
  const head = await rpc.call('eth_blockNumber')
  const isUsedBy = async (number: number): Promise<boolean> =>
    (await rpc.call('eth_getTransactionCount', sender, quantity(number))) > nonce
  const number = await firstWhere(head - network.confirmations + 1, isUsedBy)
  if (number === undefined) return undefined
  const block = await rpc.call('eth_getBlockByNumber', quantity(number), true)
  if (block?.number !== number) return undefined
  if (network.proofs && (await prover.prove(block.hash)) === undefined) return undefined
  for (const each of block.transactions) {
    if (typeof each === 'string' || each.from !== sender || each.nonce !== nonce) continue
    return hashes.has(each.hash) ? undefined : { hash: each.hash, block }
  }
  return undefined
}

/** The other's transaction is one that the wallet has signed, with this nonce. */
const isProven = async (
  { network, rpc }: EngineContext,
  { sender, nonce }: OpenTransaction,
  hash: Hex,
): Promise<boolean> => {
  if (nonce === undefined) return false
  const transaction = await rpc.call('eth_getTransactionByHash', hash).catch(passing)
  if (transaction?.hash !== hash) return false
  return isSignedBy(transaction, { sender, nonce, chainId: network.chainId })
}

/** Keeps the bytes of the wallet that do what ours were to do, so that their receipt is known for ours. */
const isOurs = async (
  { network, rpc, sql }: EngineContext,
  { id, sender, nonce, recipient, data, value }: OpenTransaction,
  hash: Hex,
): Promise<boolean> => {
  if (nonce === undefined) return false
  const sent = await rpc.call('eth_getTransactionByHash', hash).catch(passing)
  if (!sent || sent.hash !== hash || (sent.to ?? undefined) !== recipient) return false
  if (sent.input !== data || sent.value !== value) return false
  const raw = await bytesSignedBy(sent, { sender, nonce, chainId: network.chainId })
  if (raw === undefined) return false
  const attempt = { transactionId: id, kind: 'bump', hash, raw, ...paidFees(sent) } as const
  await insertAttempt(sql, network.id, attempt)
  return true
}

/** Every node that answers has the other's block, and none has a receipt of ours. */
const isAgreed = async (
  context: EngineContext,
  { hash, number }: Block,
  hashes: ReadonlySet<Hex>,
): Promise<boolean> => {
  const { rpc } = context
  const blocks = await rpc.poll('eth_getBlockByNumber', quantity(number), false)
  const answered = blocks.flatMap((each) => ('result' in each ? [each.result] : []))
  if (answered.length < nodesNeeded(context) || answered.some((each) => each?.hash !== hash))
    return false
  for (const own of hashes) {
    const receipts = await rpc.poll('eth_getTransactionReceipt', own)
    if (receipts.some((each) => 'failure' in each || each.result !== null)) return false
  }
  return true
}

/** Has the lost transactions signed again; those that were only to use the nonce end. */
const giveUp = async (
  context: EngineContext,
  lost: readonly OpenTransaction[],
  attempts: readonly Attempt[],
): Promise<void> => {
  const { logger, network } = context
  logger.error({ network: network.id, count: lost.length }, 'nonces used by others')
  const withdrawn = new Set(
    attempts.filter(({ kind }) => kind === 'cancel').map(({ transactionId }) => transactionId),
  )
  const isOver = ({ id, kind }: OpenTransaction) => kind === 'gap_fill' || withdrawn.has(id)
  const idsOf = (all: readonly OpenTransaction[]) => all.map(({ id }) => id)
  await storeEnds(context, lost, async (tx, part) => {
    // Another program that used one nonce may have used more.
    await lanes.doubt(
      tx,
      network.id,
      part.map(({ sender }) => sender),
    )
    const again = part.filter((each) => !isOver(each))
    await corrections.loseNonces(tx, idsOf(again), nonceTaken)
    return corrections.nonceUsed(tx, idsOf(part.filter(isOver)))
  })
}
