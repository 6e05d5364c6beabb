/** What all that follow a chain share: their turns, and where they go back to when it changes. */
import type { AppEvent, Emit } from '#src/events/index.ts'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { type BlockContext, blocksAt } from '../engine/blocks.ts'
import type { Looks } from '../engine/looks.ts'
import type { Prover } from '../engine/prover.ts'
import { quantity } from '../evm/hex.ts'
import type { Network } from '../networks.ts'
import type { RpcClient } from '../rpc/client.ts'
import { RpcFailure } from '../rpc/errors.ts'
import { toldIn } from '../rpc/exchange.ts'
import type { Anchor, Place } from './place.ts'

export type Follower = Pick<Job, 'start' | 'stop'>

/** How long a process that died keeps the others from following. */
const leaseMs = 10_000
/** How long one process follows before another may. */
const turnMs = 30_000
const lookMs = 1_000
/** On a fast chain, several blocks are read at once: each look costs a transaction and the comparison of balances. */
const pauseMinMs = 100

/** What a follower of contract events needs. */
export type FollowerContext = {
  readonly network: Network
  readonly rpc: RpcClient
  readonly prover: Prover
  readonly sql: Client
  readonly logger: Logger
  readonly emitEvents: Emit
  readonly looks: Looks
  /** Blocks below the confirmations in which what was told is still compared with the chain. */
  readonly watchBlocks: number
}

/** @param look reads on. @returns whether there is more to read at once */
export const createFollower = (
  name: string,
  { sql, logger, looks }: Pick<FollowerContext, 'sql' | 'logger' | 'looks'>,
  look: (round: Round) => Promise<boolean>,
): Follower =>
  createJob({
    name,
    everyMs: lookMs,
    fleet: { sql, leaseMs },
    logger,
    async run(round) {
      const endMs = performance.now() + turnMs
      while (!round.signal.aborted && performance.now() < endMs) {
        if (!(await look(round))) await looks.pause(round.signal, pauseMinMs)
        round.advance()
      }
    },
  })

/** Events that one statement writes. */
const eventsMax = 500

/** @param eventsOf the events of a part */
export const emitInParts = async <T>(
  tx: Transaction,
  emitEvents: Emit,
  all: readonly T[],
  eventsOf: (part: readonly T[]) => readonly AppEvent[],
): Promise<void> => {
  for (let start = 0; start < all.length; start += eventsMax) {
    await emitEvents(tx, eventsOf(all.slice(start, start + eventsMax)))
  }
}

type ChainContext = Omit<BlockContext, 'rpc'> & { readonly rpc: Pick<RpcClient, 'batch' | 'poll'> }

/** @throws RpcFailure if a node still has the block: then the chain has not changed, the nodes differ */
const demandGone = async ({ rpc }: ChainContext, { number, hash }: Place): Promise<void> => {
  const there = await rpc.poll('eth_getBlockByNumber', quantity(number), false)
  if (there.some((each) => toldIn(each)?.hash === hash)) {
    throw new RpcFailure('transient', `the nodes differ about block ${number}`)
  }
}

/**
 * The newest of these blocks that is still on the chain.
 * @param anchors in order, oldest first
 * @throws RpcFailure if the chain does not tell of a newer one: it is not taken for gone
 */
export const lastOnChain = async (
  context: BlockContext,
  anchors: readonly Anchor[],
): Promise<Anchor | undefined> => {
  const blocks = await blocksAt(
    context,
    anchors.map(({ number }) => number),
  )
  for (const anchor of anchors.toReversed()) {
    const outcome = blocks.get(anchor.number)!
    if ('failure' in outcome) throw outcome.failure
    if (outcome.result?.hash === anchor.hash) return anchor
  }
  return undefined
}

/** Where to go back to, and the anchors that are left. */
export type Back = { readonly place: Place; readonly anchors: readonly Anchor[] }

/**
 * Where to go back to from a place that is gone: to where it was begun, if no block that was read is left.
 * @param start the block after which reading began, where that is known for certain
 * @param booked blocks above an anchor that tell more closely where the chain parts
 * @throws RpcFailure as the two above
 */
export const placeBefore = async (
  context: ChainContext,
  place: Place,
  anchors: readonly Anchor[],
  start: number | undefined = undefined,
  booked: (above: number) => Promise<readonly Anchor[]> = async () => [],
): Promise<Back> => {
  await demandGone(context, place)
  // No block is before the first.
  const asked = anchors.filter(({ number }) => number >= 0)
  const anchor = await lastOnChain(context, asked)
  const [oldest] = anchors
  const begun = oldest === undefined ? place.number : oldest.number - (oldest.isBefore ? 0 : 1)
  const back = anchor ?? { number: start ?? begun, hash: undefined }
  return {
    place: (await lastOnChain(context, await booked(back.number))) ?? back,
    anchors: anchor === undefined ? [] : anchors.slice(0, anchors.indexOf(anchor) + 1),
  }
}
