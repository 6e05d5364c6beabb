/**
 * What a copy of the book does not know of may still be in a node's pool: as long as one is ahead, its wallet waits. But
 * one node may lie, a stranger's transaction may never be mined, and nodes may never tell. So after a while, sooner where
 * one of several nodes is alone, what waits is held until somebody decides, and the wallet goes on.
 */
import type { Hex } from '../evm/hex.ts'
import { isRetryable, RpcFailure } from '../rpc/errors.ts'
import { toldIn } from '../rpc/exchange.ts'
import { nodesNeeded } from './agreement.ts'
import type { EngineContext } from './context.ts'
import * as lanes from './lane-store.ts'

/** How long a wallet waits when only one of several nodes says so. */
const aloneMs = 60_000
/** After so long, nobody waits for a block any more. A look that comes so long after the last one begins anew. */
const waitMs = 600_000
/** The time between two warnings about a wallet. */
const warnedMs = 60_000
/** A single node may lie, as with heads. */
const toldMin = 2

/** What we tell of a wallet whose pool has been ahead for too long. */
const stuckMeanings = {
  stays_ahead: 'a pool stays ahead: what waits is held',
  stays_alone: 'the pool of one node alone stays ahead: what waits is held',
  stays_untold: 'no node tells what its pool has: what waits is held',
}
type Stuck = keyof typeof stuckMeanings

/** `untold`: no node says, and one may say later. */
type Pool = 'even' | 'untold' | 'ahead' | Stuck

/** @returns undefined for a pool that is not to be waited for, or not for too long yet */
export const stuckMeaning = (pool: Pool | undefined): string | undefined =>
  pool !== undefined && pool in stuckMeanings ? stuckMeanings[pool as Stuck] : undefined

type Ahead = { readonly sinceMs: number; readonly seenMs: number; readonly warnMs: number }

const seen = new WeakMap<EngineContext, Map<Hex, Ahead>>()

const seenOf = (context: EngineContext): Map<Hex, Ahead> => {
  const all = seen.get(context) ?? new Map<Hex, Ahead>()
  seen.set(context, all)
  return all
}

/**
 * The first nonce of each that no pool has, as each node says that tells one, the highest first. None where all refuse
 * for good: they have no such answer.
 * @returns without those of whom nothing is told that may be told later
 */
const countsOf = async (
  { rpc }: EngineContext,
  senders: readonly Hex[],
): Promise<ReadonlyMap<Hex, readonly number[]>> => {
  const answers = await rpc.pollBatch(
    senders.map((sender) => ({ method: 'eth_getTransactionCount', params: [sender, 'pending'] })),
    { enough: 1 },
  )
  const all = new Map<Hex, readonly number[]>()
  for (const [i, sender] of senders.entries()) {
    const told = answers.flatMap((node) => toldIn(node[i]) ?? [])
    const isFinal = answers.every((node) => {
      const outcome = node[i]
      return outcome !== undefined && 'failure' in outcome && !isRetryable(outcome.failure.kind)
    })
    if (told.length > 0 || isFinal)
      all.set(
        sender,
        told.toSorted((a, b) => b - a),
      )
  }
  return all
}

/** Beyond any nonce where no node says. */
export const highestOf = async (context: EngineContext, sender: Hex): Promise<number> => {
  const counts = (await countsOf(context, [sender])).get(sender)
  return counts === undefined ? Number.POSITIVE_INFINITY : (counts[0] ?? 0)
}

export const poolUntold = () => new RpcFailure('transient', 'no node tells what its pool has')

/** Lanes are asked after the pools, for what was sent from here was committed before. */
export const poolsOf = async (
  context: EngineContext,
  senders: readonly Hex[],
): Promise<ReadonlyMap<Hex, Pool>> => {
  const counts = await countsOf(context, senders)
  const known = await lanes.lanesOf(context.sql, context.network.id, [...counts.keys()])
  return new Map(
    senders.map((sender) => [
      sender,
      judged(context, sender, counts.get(sender), known.get(sender)?.next ?? 0),
    ]),
  )
}

/** How long the wallet's pool has not been even, and whether to tell it again now. */
const waitOf = (context: EngineContext, sender: Hex) => {
  const all = seenOf(context)
  const nowMs = performance.now()
  const last = all.get(sender)
  const isSame = last !== undefined && nowMs - last.seenMs < waitMs
  const { sinceMs, warnMs } = isSame ? last : { sinceMs: nowMs, warnMs: nowMs }
  const isTold = nowMs >= warnMs
  all.set(sender, { sinceMs, seenMs: nowMs, warnMs: isTold ? nowMs + warnedMs : warnMs })
  return { waitedMs: nowMs - sinceMs, isTold }
}

/** @param counts undefined if no node says */
const judged = (
  context: EngineContext,
  sender: Hex,
  counts: readonly number[] | undefined,
  next: number,
): Pool => {
  const isBeyond = (count = 0): boolean => count > next
  if (counts !== undefined && !isBeyond(counts[0])) {
    forgetPool(context, sender)
    return 'even'
  }
  const { waitedMs, isTold } = waitOf(context, sender)
  const told = { network: context.network.id, sender, counts, next }
  if (counts === undefined) {
    if (isTold) context.logger.warn(told, 'no node tells what its pool has')
    return waitedMs < waitMs ? 'untold' : 'stays_untold'
  }
  const place = Math.min(counts.length, Math.max(toldMin, nodesNeeded(context)))
  const isAgreed = isBeyond(counts[place - 1])
  if (isTold)
    context.logger.warn(
      told,
      isAgreed
        ? 'a pool has what this database has not'
        : 'one node has in its pool what this database and other nodes have not',
    )
  if (waitedMs < (isAgreed ? waitMs : aloneMs)) return 'ahead'
  return isAgreed ? 'stays_ahead' : 'stays_alone'
}

/** The next time that a pool is ahead of it is the first. */
export const forgetPool = (context: EngineContext, sender: Hex): void => {
  seenOf(context).delete(sender)
}
