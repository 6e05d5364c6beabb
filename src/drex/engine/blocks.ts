/** Blocks as the chain links them: each by its header's hash, and the next by its parent's. */
import { isBlockProven } from '../evm/block-proof.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import type { Network } from '../networks.ts'
import type { RpcClient, RpcOutcome } from '../rpc/client.ts'
import { RpcFailure } from '../rpc/errors.ts'
import { failing, toldIn } from '../rpc/exchange.ts'
import type { Block } from '../rpc/methods.ts'
import type { EngineContext } from './context.ts'

/** A caller waits for the head, so once a node has told it, the others have only this long. */
const headGraceMs = 1_000

/** Where several tell a head, one alone is not believed: it may lie, and what is remembered by it would never come. */
const toldMin = 2

/**
 * The head that so many nodes have reached, at least two where two tell one, and all where fewer tell one: neither a node
 * that is far ahead nor one that lags behind decides alone.
 * @param least nodes that have to tell one
 * @throws RpcFailure if fewer do
 */
export const commonHead = async (
  { pollBatch }: Pick<RpcClient, 'pollBatch'>,
  nodesNeeded: number,
  least = 1,
): Promise<number> => {
  const answers = await pollBatch([{ method: 'eth_blockNumber', params: [] }], {
    enough: least,
    graceMs: headGraceMs,
  })
  const heads = answers.flatMap(([head]) => toldIn(head) ?? [])
  const place = Math.min(heads.length, Math.max(toldMin, nodesNeeded))
  const head = heads.toSorted((a, b) => b - a)[place - 1]
  if (head !== undefined && heads.length >= least) return head
  throw new RpcFailure('unreachable', 'too few nodes tell a head')
}

/** What blocks are asked for by. */
export type BlockContext = {
  readonly network: Pick<Network, 'proofs' | 'validators'>
  readonly rpc: Pick<RpcClient, 'batch'>
}

/**
 * What is told of each height; null where the chain has no block yet. A block of another height, or one whose hash is not
 * that of its header where the network's blocks prove it, is no answer.
 * @throws RpcFailure if no node answers at all
 */
export const blocksAt = async (
  { network, rpc }: BlockContext,
  numbers: Iterable<number>,
): Promise<ReadonlyMap<number, RpcOutcome<Block | null>>> => {
  const list = [...new Set(numbers)]
  const outcomes = await rpc.batch(
    list.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })),
  )
  return new Map(list.map((number, i) => [number, checked(network, number, outcomes[i]!)]))
}

const checked = (
  { proofs, validators }: Pick<Network, 'proofs' | 'validators'>,
  number: number,
  outcome: RpcOutcome<Block | null>,
): RpcOutcome<Block | null> => {
  if ('failure' in outcome || outcome.result === null) return outcome
  if (outcome.result.number !== number)
    return failing('malformed', `another block than ${number} was told`)
  return proofs && !isBlockProven(outcome.result, validators)
    ? failing('malformed', `the hash of block ${number} is not that of its header`)
    : outcome
}

/**
 * The blocks of these heights, up to the first that is not told or not built on the one before.
 * @param numbers in a row
 * @throws RpcFailure if nothing is told of the first
 */
export const linkedBlocks = async (
  context: BlockContext,
  numbers: readonly number[],
): Promise<readonly Block[]> => {
  const outcomes = await blocksAt(context, numbers)
  const blocks: Block[] = []
  for (const number of numbers) {
    const outcome = outcomes.get(number)!
    if ('failure' in outcome) {
      // We read the blocks before it now; the next look begins with it.
      if (blocks.length > 0) break
      throw outcome.failure
    }
    // Behind a load balancer the answering node may not have the newest block yet, or be between two chains.
    const { result } = outcome
    const before = blocks.at(-1)
    if (result === null || (before !== undefined && before.hash !== result.parentHash)) break
    blocks.push(result)
  }
  return blocks
}

/** Hashes by block number; `none` where the chain has no such block. Heights that no node tells are left out. */
export const hashesOf = async (
  context: BlockContext,
  numbers: Iterable<number>,
): Promise<ReadonlyMap<number, Hex | 'none'>> => hashesIn(await blocksAt(context, numbers))

const hashesIn = (
  blocks: ReadonlyMap<number, RpcOutcome<Block | null>>,
): ReadonlyMap<number, Hex | 'none'> =>
  new Map(
    [...blocks].flatMap(([number, outcome]): [number, Hex | 'none'][] =>
      'failure' in outcome ? [] : [[number, outcome.result?.hash ?? 'none']],
    ),
  )

/**
 * The same, for blocks that are deep enough: where the network's blocks prove what is in them, each counts only if those
 * that confirm it are built on it.
 */
export const chainHashes = async (
  context: EngineContext,
  numbers: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Hex | 'none'>> => {
  const { network } = context
  if (!network.proofs) return hashesOf(context, numbers)
  const depths = Array.from({ length: network.confirmations }, (_, depth) => depth)
  const blocks = await blocksAt(
    context,
    [...numbers].flatMap((number) => depths.map((each) => number + each)),
  )
  const blockAt = (number: number) => toldIn(blocks.get(number))
  const isLinked = (number: number): boolean =>
    depths.every(
      (depth) =>
        depth === 0 || blockAt(number + depth)?.parentHash === blockAt(number + depth - 1)?.hash,
    )
  return new Map(
    [...hashesIn(blocks)].filter(
      ([number, hash]) => numbers.has(number) && (hash === 'none' || isLinked(number)),
    ),
  )
}
