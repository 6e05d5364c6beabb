/**
 * What contracts told, block after block, in pages that are certainly of one chain. Near the head each block is
 * asked for by its hash, so that a node which lags behind has an error to tell and not an empty list; below that,
 * ranges are, and of the same node their last block: one that has it not yet would tell a part as if it were all.
 */

import { blocksAt, linkedBlocks } from '../engine/blocks.ts'
import type { Prover } from '../engine/prover.ts'
import type { ProvenBlock } from '../evm/block-proof.ts'
import { bloomBits, mayHold } from '../evm/bloom.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import type { Network } from '../networks.ts'
import type { RpcClient, RpcOutcome } from '../rpc/client.ts'
import { RpcFailure, type RpcFailureKind } from '../rpc/errors.ts'
import { failing } from '../rpc/exchange.ts'
import type { Block, Log } from '../rpc/methods.ts'
import { resultOf } from '../rpc/node.ts'
import type { Anchor, Place } from './place.ts'

/** The newest blocks, which are asked for one by one; those before them in ranges. */
const nearBlocksMax = 64
/** Blocks of the first range; nodes that take fewer are found out. */
const rangeFirst = 2_000
const rangeMax = 10_000
/** Pages after which a range is doubled. */
const growAfter = 8
/** How long we prove blocks before we write down what they told: a look has to end. */
export const proofsMs = 1_000
/** A range that is refused later than this is followed by a smaller one at the next look only: a look has to end. */
const smallerWithinMs = 5_000

export type Page = {
  /** The block that it begins after. */
  readonly before: Anchor
  readonly last: Anchor
  /** In order, from the blocks after the asked place up to `last`. */
  readonly logs: readonly Log[]
  /** The blocks that were read on the way. */
  readonly blocks: ReadonlyMap<number, Block>
}

/** Events that have one of these first topics; of all contracts if none are named. */
type Wanted = { readonly addresses?: readonly Hex[]; readonly topics: readonly Hex[] }

export type Source = {
  /**
   * @param after the last block that was read
   * @param to the last block to be read
   * @returns undefined if the chain does not go on from `after`
   * @throws RpcFailure
   */
  readonly read: (after: Place, to: number, wanted: Wanted) => Promise<Page | undefined>
  /** Says that only so many blocks of a range were of use. */
  readonly shorten: (blocks: number) => void
  /** @throws RpcFailure also if a block is missing */
  readonly blocks: (numbers: readonly number[]) => Promise<ReadonlyMap<number, Block>>
}

/** What reading the pages needs. */
export type SourceContext = {
  readonly network: Pick<Network, 'proofs' | 'validators'>
  readonly rpc: RpcClient
  readonly prover: Prover
}

export const createSource = (context: SourceContext): Source => {
  const range = createRange()
  return {
    shorten: range.shorten,
    blocks: (numbers) => headers(context, numbers),
    async read(after, to, wanted) {
      if (to - after.number <= nearBlocksMax) return near(context, after, to, wanted)
      const untilMs = performance.now() + smallerWithinMs
      for (;;) {
        const end = Math.min(to - nearBlocksMax, after.number + range.size())
        const page = await far(context, after, end, wanted)
        if (!(page instanceof RpcFailure)) {
          range.worked()
          return page
        }
        const isSmaller = range.shrink(page, { from: after.number + 1, to: end })
        if (!isSmaller || performance.now() >= untilMs) throw page
      }
    },
  }
}

/** Failures that asking for fewer blocks does not avoid. */
const isAway: ReadonlySet<RpcFailureKind> = new Set([
  'unreachable',
  'wrong_chain',
  'method_not_found',
])

/** How many blocks a node takes at once. */
const createRange = () => {
  let size = rangeFirst
  let worked = 0
  return {
    size: () => size,
    worked() {
      if (++worked < growAfter) return
      worked = 0
      size = Math.min(rangeMax, size * 2)
    },
    /** The next may have twice as many. */
    shorten(blocks: number): void {
      worked = 0
      size = Math.min(size, 2 * blocks)
    },
    /** @returns false if it is no use */
    shrink(
      { kind, message }: RpcFailure,
      { from, to }: { readonly from: number; readonly to: number },
    ): boolean {
      worked = 0
      const before = to - from + 1
      if (before === 1 || isAway.has(kind)) return false
      const named = advised(message, from)
      size = named !== undefined && named < before ? named : before >> 1
      return true
    },
  }
}

/** Some nodes name a range that they would take, from the same block on. */
const advised = (message: string, from: number): number | undefined => {
  const named = /\[(0x[0-9a-f]{1,13}), ?(0x[0-9a-f]{1,13})\]/i.exec(message)
  if (named === null || Number(named[1]) !== from) return undefined
  const size = Number(named[2]) - from + 1
  return size >= 1 ? size : undefined
}

/**
 * @returns why the events of so many blocks are not told
 * @throws RpcFailure what has to do with no range
 */
const far = async (
  context: SourceContext,
  after: Place,
  to: number,
  wanted: Wanted,
): Promise<Page | RpcFailure | undefined> => {
  const from = after.number + 1
  const ends = await headers(context, [from, to])
  const first = ends.get(from)!
  if (isParted(first, after)) return undefined
  const last = ends.get(to)!
  const filter = { fromBlock: quantity(from), toBlock: quantity(to), ...filterOf(wanted) }
  const told = await rangeOf(context, filter).catch(failureOf)
  if (told instanceof RpcFailure) return told
  const [logs, hash] = told
  if (hash !== last.hash) {
    throw new RpcFailure('transient', `who tells of the events has another block ${to}, or none`)
  }
  return {
    before: beforeOf(first),
    last,
    logs: resultOf(
      inOrder(logs, wanted, (log) => log.blockNumber >= from && log.blockNumber <= to),
    ),
    blocks: ends,
  }
}

/**
 * We ask one node for the range's last block before the events: a node that has it can tell them all.
 * @throws RpcFailure
 */
const rangeOf = async (
  { rpc }: SourceContext,
  filter: { readonly toBlock: Hex },
): Promise<readonly [readonly Log[], Hex | undefined]> => {
  const [block, logs] = await rpc.together<'eth_getBlockByNumber' | 'eth_getLogs'>([
    { method: 'eth_getBlockByNumber', params: [filter.toBlock, false] },
    { method: 'eth_getLogs', params: [filter] },
  ])
  const last = resultOf(block) as Block | null
  return [resultOf(logs) as readonly Log[], last?.hash]
}

const failureOf = (error: unknown): RpcFailure => {
  if (error instanceof RpcFailure) return error
  throw error
}

const near = async (
  context: SourceContext,
  after: Place,
  to: number,
  wanted: Wanted,
): Promise<Page | undefined> => {
  const numbers = Array.from({ length: to - after.number }, (_, i) => after.number + 1 + i)
  const chain = await linkedBlocks(context, numbers)
  const [first] = chain
  if (first === undefined) throw new RpcFailure('transient', `no node has block ${numbers[0]}`)
  if (isParted(first, after)) return undefined
  const topicBits = wanted.topics.map(bloomBits)
  const bits =
    wanted.addresses?.flatMap((address) => {
      const addressBits = bloomBits(address)
      return topicBits.map((each) => [...addressBits, ...each])
    }) ?? topicBits
  const asked = chain.filter(({ logsBloom }) => logsBloom === undefined || mayHold(logsBloom, bits))
  const told = await logsOf(context, asked, wanted)
  const logs: Log[] = []
  let last: Block | undefined
  for (const block of chain) {
    const outcome = told.get(block.hash) ?? { result: [] }
    if ('failure' in outcome) {
      // The page ends before it; the next begins with it.
      if (last === undefined) throw outcome.failure
      break
    }
    logs.push(...outcome.result)
    last = block
  }
  const blocks = new Map(chain.map((block) => [block.number, block]))
  return { before: beforeOf(first), last: last!, logs, blocks }
}

const beforeOf = ({ number, parentHash: hash }: Block): Anchor => ({ number: number - 1, hash })

/**
 * By the blocks' hashes. Where the blocks prove them, they are read from all their receipts, so that a node can leave out
 * none either.
 */
const logsOf = async (
  { network, prover, rpc }: SourceContext,
  blocks: readonly Block[],
  wanted: Wanted,
): Promise<ReadonlyMap<Hex, RpcOutcome<readonly Log[]>>> => {
  if (network.proofs) {
    const told = new Map<Hex, RpcOutcome<readonly Log[]>>()
    const endMs = performance.now() + proofsMs
    let isGoingOn = true
    for (const { hash, number } of blocks) {
      const proven: ProvenBlock | undefined = isGoingOn ? await prover.prove(hash) : undefined
      isGoingOn = proven !== undefined && performance.now() < endMs
      told.set(
        hash,
        proven === undefined
          ? failing('transient', `block ${number} is not proven`)
          : { result: logsIn(proven).filter(isOf(wanted)) },
      )
    }
    return told
  }
  const outcomes = await rpc.batch(
    blocks.map(({ hash }) => ({
      method: 'eth_getLogs',
      params: [{ blockHash: hash, ...filterOf(wanted) }],
    })),
  )
  return new Map(
    blocks.map(({ hash, number }, i): [Hex, RpcOutcome<readonly Log[]>] => {
      const outcome = outcomes[i]!
      if ('failure' in outcome) return [hash, outcome]
      const isAsked = (log: Log) => log.blockHash === hash && log.blockNumber === number
      return [hash, inOrder(outcome.result, wanted, isAsked)]
    }),
  )
}

export const logsIn = ({ receipts }: ProvenBlock): readonly Log[] =>
  [...receipts.values()].flatMap(({ logs }) => logs)

const isOf =
  (wanted: Wanted) =>
  ({ address, topics: [topic] }: Log): boolean =>
    topic !== undefined &&
    wanted.topics.includes(topic) &&
    (wanted.addresses === undefined || wanted.addresses.includes(address))

const filterOf = ({ addresses, topics }: Wanted) => ({
  ...(addresses && { address: addresses }),
  topics: topics.length === 1 ? topics : [topics],
})

const isParted = (first: Block, after: Place): boolean =>
  after.hash !== undefined && first.parentHash !== after.hash

/** A failure if the node tells what was not asked for, or something twice. */
const inOrder = (
  logs: readonly Log[],
  wanted: Wanted,
  isAsked: (log: Log) => boolean,
): RpcOutcome<readonly Log[]> => {
  const isWanted = isOf(wanted)
  const places = new Set<string>()
  for (const log of logs) {
    const place = `${log.blockNumber} ${log.logIndex}`
    if (!isAsked(log) || log.removed || !isWanted(log) || places.has(place)) {
      return failing('malformed', 'the node tells of events that were not asked for')
    }
    places.add(place)
  }
  return {
    result: logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex),
  }
}

/** @throws RpcFailure also if a block is missing */
const headers = async (
  context: SourceContext,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Block>> => {
  const outcomes = await blocksAt(context, numbers)
  return new Map(
    [...outcomes].map(([number, outcome]) => {
      const block = resultOf(outcome)
      if (block === null) throw new RpcFailure('transient', `no node has block ${number}`)
      return [number, block]
    }),
  )
}
