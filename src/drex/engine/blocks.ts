/** Blocks as the chain links them: each by its header's hash, and the next by its parent's. */
import { isBlockProven } from '../evm/block-proof.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Block } from '../rpc/methods.ts'
import type { EngineContext } from './context.ts'

/** Blocks in a row, as far as the node has them. */
export const fetchBlocks = async (
  { network, rpc }: EngineContext,
  from: number,
  to: number,
): Promise<readonly Block[]> => {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const outcomes = await rpc.batch(
    numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [quantity(number), false],
    })),
  )
  const blocks: Block[] = []
  for (const [i, outcome] of outcomes.entries()) {
    if ('failure' in outcome) {
      // Those before it are read now; the next look begins with it.
      if (blocks.length > 0) break
      throw outcome.failure
    }
    // Behind a load balancer the answering node may not have the newest block yet.
    const { result } = outcome
    if (result === null || result.number !== numbers[i]) break
    if (network.proofs && !isBlockProven(result)) {
      if (blocks.length > 0) break
      throw new RpcFailure('malformed', `the hash of block ${numbers[i]} is not that of its header`)
    }
    // Two nodes, or one between two chains: what follows is not of the same chain.
    const before = blocks.at(-1)
    if (before !== undefined && before.hash !== result.parentHash) break
    blocks.push(result)
  }
  return blocks
}

/** By the blocks' numbers; `none` where there is no such block. */
export const hashesOf = async (
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
    hashes.set(number, outcome.result?.hash ?? 'none')
  }
  return hashes
}

/**
 * The same, for blocks that are deep enough: where the network's blocks prove what is in them, each counts only if those
 * that confirm it are built on it.
 */
export const chainHashes = async (
  context: EngineContext,
  numbers: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Hex | 'none'>> => {
  const { network, rpc } = context
  if (!network.proofs) return hashesOf(context, numbers)
  const depths = Array.from({ length: network.confirmations }, (_, depth) => depth)
  const list = [...new Set([...numbers].flatMap((number) => depths.map((each) => number + each)))]
  const outcomes = await rpc.batch(
    list.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })),
  )
  const blocks = new Map<number, Block>()
  const hashes = new Map<number, Hex | 'none'>()
  for (const [i, number] of list.entries()) {
    const outcome = outcomes[i]!
    if ('failure' in outcome) continue
    const { result } = outcome
    if (result === null) {
      if (numbers.has(number)) hashes.set(number, 'none')
    } else if (result.number === number && isBlockProven(result)) {
      blocks.set(number, result)
    }
  }
  const isLinked = (number: number): boolean =>
    depths.every(
      (depth) =>
        depth === 0 ||
        blocks.get(number + depth)?.parentHash === blocks.get(number + depth - 1)?.hash,
    )
  for (const number of numbers) {
    const block = blocks.get(number)
    if (block !== undefined && isLinked(number)) hashes.set(number, block.hash)
  }
  return hashes
}
