/** Reads a wallet's signed transactions on the chain under nonces that our book does not know. */
import type { AttemptFees } from '../domain.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import { bytesSignedBy } from '../evm/signed-by.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Block, SignedTransaction } from '../rpc/methods.ts'
import type { EngineContext } from './context.ts'
import { firstWhere } from './first-where.ts'
import * as lanes from './lane-store.ts'

/** How many nonces we read one by one; with more unknown ones a wallet counts as unreadable. */
const readMax = 256

/** A transaction of the wallet that is on the chain. */
export type Sent = SentCall & {
  /** When its block says that it was made. */
  readonly minedMs: number
}

export type SentCall = AttemptFees & {
  readonly nonce: number
  readonly hash: Hex
  readonly raw: Hex
  readonly gasLimit: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Hex
}

/**
 * @param sinceMs what was mined before is not read
 * @returns undefined if the nodes no longer tell all of it
 * @throws RpcFailure that may pass
 */
export const sentSince = async (
  context: EngineContext,
  sender: Hex,
  { count, sinceMs }: { readonly count: number; readonly sinceMs: number },
): Promise<readonly Sent[] | undefined> => {
  const { network, rpc, sql } = context
  const head = await rpc.call('eth_blockNumber')
  const first = await firstWhere(
    head,
    async (number) => minedMs(await blockAt(context, number)) >= sinceMs,
  )
  if (first === undefined) return []
  const from =
    first === 0 ? 0 : await rpc.call('eth_getTransactionCount', sender, quantity(first - 1))
  const known = await lanes.sentBetween(sql, network.id, sender, from, count)
  if (count - from - known.size > readMax) return undefined
  // Bytes of ours that wait for their receipt do not say whose transaction is on the chain under their nonce.
  const waiting = [...known.values()].filter(({ isMined }) => !isMined).length
  if (waiting > readMax) throw new RpcFailure('transient', 'receipts lag behind the nonces')
  const sent: Sent[] = []
  for (let nonce = from; nonce < count; nonce++) {
    if (known.get(nonce)?.isMined) continue
    const each = await sentUnder(context, sender, nonce, head)
    if (each === undefined) return undefined
    sent.push(each)
  }
  const own = await lanes.ownHashes(
    sql,
    network.id,
    sent.map(({ hash }) => hash),
  )
  return sent.filter(({ hash }) => !own.has(hash))
}

/**
 * One transaction of the wallet, by its hash.
 * @returns undefined if there is none of this wallet on the network's chain
 */
export const signedTransactionOf = async (
  { network, rpc }: Pick<EngineContext, 'network' | 'rpc'>,
  sender: Hex,
  hash: Hex,
): Promise<SentCall | undefined> => {
  const transaction = await rpc.call('eth_getTransactionByHash', hash)
  if (transaction?.hash !== hash) return undefined
  const { nonce } = transaction
  const raw = await bytesSignedBy(transaction, { sender, nonce, chainId: network.chainId })
  return raw && { ...shown(transaction), nonce, raw }
}

const sentUnder = async (
  context: EngineContext,
  sender: Hex,
  nonce: number,
  head: number,
): Promise<Sent | undefined> => {
  const { network, rpc } = context
  const number = await firstWhere(
    head,
    async (block) => (await rpc.call('eth_getTransactionCount', sender, quantity(block))) > nonce,
  )
  // The node that told of the nonce is ahead of the one that was asked now.
  if (number === undefined) throw new RpcFailure('transient', 'the node lags behind')
  const block = await blockAt(context, number, true)
  const entry = block.transactions.find(
    (each) => typeof each !== 'string' && each.from === sender && each.nonce === nonce,
  )
  if (entry === undefined || typeof entry === 'string') return undefined
  const transaction = entry.signed ?? (await rpc.call('eth_getTransactionByHash', entry.hash))
  if (transaction === null) return undefined
  const raw = await bytesSignedBy(transaction, { sender, nonce, chainId: network.chainId })
  return raw && { ...shown(transaction), nonce, raw, minedMs: minedMs(block) }
}

const shown = (transaction: SignedTransaction) => {
  const { hash, gas, to, value, input } = transaction
  return { hash, gasLimit: gas, to, value, data: input, ...paidFees(transaction) }
}

/** The most that a transaction offers; one of the older kind offers one price for fee and tip. */
export const paidFees = ({
  gasPrice = 0n,
  maxFeePerGas = gasPrice,
  maxPriorityFeePerGas = gasPrice,
}: SignedTransaction): AttemptFees => ({ maxFee: maxFeePerGas, tip: maxPriorityFeePerGas })

const blockAt = async ({ rpc }: EngineContext, number: number, isFull = false): Promise<Block> => {
  const block = await rpc.call('eth_getBlockByNumber', quantity(number), isFull)
  if (block?.number === number) return block
  throw new RpcFailure('transient', 'the node does not have the block')
}

const minedMs = ({ timestamp }: Block): number => Number(timestamp) * 1_000
