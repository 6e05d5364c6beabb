/**
 * The nonces that the chain has seen and this book has not. A copy of the book, restored or promoted after its original
 * went on, holds transactions as unsigned that are mined. So before this process first signs for a sender whose nonces
 * are ahead, it reads what was mined under them. A waiting transaction whose very call is there is that transaction, if
 * there are as many of the one as of the other, and is held if that is not clear. What another program sent with the
 * wallet's key holds up nothing else, and neither is anything held that was accepted after it. What such an original
 * sent may still be in a pool: as long as a block has it not, nothing of that wallet is judged, signed or ended, until it
 * has waited for so long that all of it is held.
 */

import type { Transaction } from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'
import { isRetryable, RpcFailure } from '../rpc/errors.ts'
import { toldIn } from '../rpc/exchange.ts'
import type { EngineContext } from './context.ts'
import * as heldStore from './held-store.ts'
import * as lanes from './lane-store.ts'
import { forgetPool, highestOf, poolsOf, poolUntold, stuckMeaning } from './pools.ts'
import { createRests } from './rests.ts'
import { type Sent, type SentCall, sentSince } from './sent.ts'
import { save } from './sign.ts'
import * as store from './store.ts'
import { type TransactionError, withCall } from './transaction.ts'

/** How far the clocks of the chain and of the database may differ. */
const clockSkewMs = 60_000
/** The clock of a block has whole seconds. */
const blockClockMs = 1_000

const foundOnChain: TransactionError = {
  code: 'FOUND_ON_CHAIN',
  message: 'It was on the chain already when this database knew nothing of its signature.',
}

const mayBeSent: TransactionError = {
  code: 'MAY_BE_SENT',
  message:
    'The wallet may have sent on the chain what this database does not know, and this may be it: it waits for a decision.',
}

/** A sender whose nonce no node told, or a pool is ahead with, or whose comparison failed, is left alone for so long. */
const restMs = 2_000

/** @param onCompared called after each comparison, whatever came of it */
export const createReckoner = (context: EngineContext, onCompared: () => void) => {
  const { network, knownNonces, rpc, sql } = context
  const rests = createRests(restMs)
  const comparisons = createComparisons(context, { onCompared, onFailed: rests.begin })
  return {
    /**
     * Takes the nonces that neither the chain nor a pool is ahead with for known. The chain's are compared beside it; a
     * pool's wait until they are the chain's, or until all that may be among them is held.
     * @returns those whose nonces are known now: a sender whose nonce no node tells holds up no other
     * @throws RpcFailure if no node answers at all
     */
    async reckon(senders: readonly Hex[]): Promise<ReadonlySet<Hex>> {
      const known = await lanes.lanesOf(sql, network.id, senders)
      for (const sender of senders)
        if (!isStillKnown(context, sender, known.get(sender)!)) knownNonces.delete(sender)
      const fresh = senders.filter((each) => !knownNonces.has(each) && !comparisons.has(each))
      if (fresh.length > 0) {
        const [counts, pools] = await Promise.all([
          rpc.batch(
            fresh.map((sender) => ({
              method: 'eth_getTransactionCount',
              params: [sender, 'latest'],
            })),
          ),
          poolsOf(context, fresh),
        ])
        const even = new Map<Hex, number>()
        for (const [i, sender] of fresh.entries()) {
          const count = toldIn(counts[i])
          const { next = 0, doubt } = known.get(sender)!
          const pool = pools.get(sender)
          if (count === undefined || pool === 'untold') rests.begin(sender)
          else if (count > next || doubt !== undefined) comparisons.ask(sender)
          else if (pool === 'ahead') rests.begin(sender)
          else {
            const why = stuckMeaning(pool)
            if (why !== undefined) await holdAll(context, sender, why)
            even.set(sender, count)
          }
        }
        await lanes.seedLanes(sql, network.id, even)
        for (const sender of even.keys()) {
          knownNonces.set(sender, known.get(sender)!.server)
          forgetPool(context, sender)
        }
      }
      return new Set(senders.filter((each) => knownNonces.has(each)))
    },
    /** Senders whose nonces are being compared, or that no node told a moment ago: we sign nothing for them now. */
    busy: () => [...comparisons.senders(), ...rests.senders()],
    /** Waits for the comparisons under way, and begins no other. */
    settle: comparisons.settle,
  }
}

export type Reckoner = ReturnType<typeof createReckoner>

/** This process has compared its nonces, and the database is not an older one than then. */
const isStillKnown = ({ knownNonces }: EngineContext, sender: Hex, lane: lanes.Lane): boolean =>
  lane.next !== undefined && lane.doubt === undefined && knownNonces.get(sender) === lane.server

/**
 * Holds all that a sender has waiting, for a person to decide: a pool may have any of it, and no block has it.
 */
const holdAll = async (context: EngineContext, sender: Hex, why: string): Promise<void> => {
  const { network, logger, sql } = context
  const all = { until: undefined, isWanted: () => true }
  const unsent = await heldStore.unsentOf(sql, network.id, sender, all)
  const rows = new Map(unsent.map(({ id }) => [id, []]))
  await sql.begin(async (tx) => context.onHeld(tx, await heldStore.hold(tx, rows, mayBeSent)))
  logger.error({ network: network.id, sender, held: rows.size }, why)
}

/** Comparisons under way at once: each asks one question after another. */
const comparedMax = 4

/** Compares senders in the order of asking. A slow node holds up only the wallets for which we ask it. */
const createComparisons = (
  context: EngineContext,
  on: { readonly onCompared: () => void; readonly onFailed: (sender: Hex) => void },
) => {
  const waiting = new Set<Hex>()
  const running = new Map<Hex, Promise<void>>()
  const run = async (sender: Hex): Promise<void> => {
    try {
      await compareOnce(context, sender)
    } catch (err) {
      const { logger, network } = context
      logger.warn({ network: network.id, sender, err }, 'nonces not compared with the chain')
      on.onFailed(sender)
    } finally {
      running.delete(sender)
      on.onCompared()
      begin()
    }
  }
  const begin = (): void => {
    for (const sender of waiting) {
      if (running.size >= comparedMax) return
      waiting.delete(sender)
      running.set(sender, run(sender))
    }
  }
  return {
    has: (sender: Hex): boolean => waiting.has(sender) || running.has(sender),
    senders: (): readonly Hex[] => [...waiting, ...running.keys()],
    ask(sender: Hex): void {
      waiting.add(sender)
      begin()
    },
    async settle(): Promise<void> {
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}

const laneOf = async ({ network, sql }: EngineContext, sender: Hex): Promise<lanes.Lane> =>
  (await lanes.lanesOf(sql, network.id, [sender])).get(sender)!

const underWay = new WeakMap<EngineContext, Map<Hex, Promise<void>>>()

/** Two that ask for the same sender at once wait for one comparison: the second would find taken what the first took. */
const compareOnce = (context: EngineContext, sender: Hex): Promise<void> => {
  const all = underWay.get(context) ?? new Map<Hex, Promise<void>>()
  underWay.set(context, all)
  const present = all.get(sender)
  if (present !== undefined) return present
  const comparison = compare(context, sender).finally(() => all.delete(sender))
  all.set(sender, comparison)
  return comparison
}

/** Reads what was mined under nonces that this book does not know, and moves the lane behind it. */
const compare = async (context: EngineContext, sender: Hex): Promise<void> => {
  const { network, knownNonces, logger, rpc, sql } = context
  // The doubt that this comparison ends; one that came since needs another.
  const { next = 0, doubt, server } = await laneOf(context, sender)
  const pooled = await highestOf(context, sender)
  const count = await rpc.call('eth_getTransactionCount', sender, 'latest')
  const since = await heldStore.unsentSince(sql, network.id, sender)
  const sinceMs = (since?.getTime() ?? 0) - clockSkewMs
  const sent =
    since === undefined ? [] : await sentSince(context, sender, { count, sinceMs }).catch(untold)
  const unsent = await unsentBefore(context, sender, sent)
  const { adopted, held } =
    sent === undefined
      ? { adopted: new Map<string, Sent>(), held: new Map(unsent.map(({ id }) => [id, []])) }
      : matchAll(unsent, sent, sender)
  const isKnown = await sql.begin(async (tx) => {
    await lanes.seedLanes(tx, network.id, new Map([[sender, count]]))
    const isKnown = await lanes.clearDoubt(tx, network.id, sender, doubt)
    await context.onHeld(tx, await heldStore.hold(tx, held, mayBeSent))
    // A transaction of ours that can never be mined keeps its nonce until the sweeper finds out.
    if (!(await takeFromChain(tx, { network: network.id, sender }, unsent, adopted)))
      throw new RpcFailure('transient', 'another transaction has the nonce of one that was found')
    return isKnown
  })
  // If a pool has more of it, we look at it again, as at a sender whose nonces are even.
  if (isKnown && pooled <= Math.max(next, count)) knownNonces.set(sender, server)
  if (adopted.size + held.size === 0) return
  const told = { network: network.id, sender, found: adopted.size, held: held.size }
  logger.error(told, 'transactions were sent that this database did not know of')
}

/**
 * For whoever ends what waits without signing: compares a sender's nonces at once, unless the chain is not ahead.
 * @returns false if they are to be compared once more
 * @throws RpcFailure if no node tells them
 */
export const compareNow = async (context: EngineContext, sender: Hex): Promise<boolean> => {
  const { knownNonces, rpc } = context
  const lane = await laneOf(context, sender)
  if (isStillKnown(context, sender, lane)) return true
  const count = await rpc.call('eth_getTransactionCount', sender, 'latest')
  if (lane.doubt === undefined && count <= (lane.next ?? 0)) {
    const pool = (await poolsOf(context, [sender])).get(sender)
    if (pool === 'untold') throw poolUntold()
    const why = stuckMeaning(pool)
    if (why !== undefined) await holdAll(context, sender, why)
    return pool !== 'ahead'
  }
  knownNonces.delete(sender)
  await compareOnce(context, sender)
  return knownNonces.has(sender)
}

/** Waiting transactions that may be one of `sent`, mined after we accepted them. @param sent undefined: not told */
const unsentBefore = async (
  { network, sql }: EngineContext,
  sender: Hex,
  sent: readonly Sent[] | undefined,
): Promise<readonly heldStore.Unsent[]> => {
  if (sent?.length === 0) return []
  const until = sent && new Date(Math.max(...sent.map(({ minedMs }) => minedMs)) + clockSkewMs)
  return heldStore.unsentOf(sql, network.id, sender, { until, isWanted: alikeTo(sent) })
}

/** Undefined if no node can tell any more: none has the states of these blocks, or none takes the question. */
const untold = (error: unknown): undefined => {
  if (!(error instanceof RpcFailure)) throw error
  if (error.kind !== 'no_state' && isRetryable(error.kind)) throw error
}

/**
 * Takes what is on the chain for the signatures of these transactions; the follower finds their receipts.
 * @returns false if another transaction has a nonce or a hash of them
 */
export const takeFromChain = async (
  tx: Transaction,
  { network, sender }: { readonly network: string; readonly sender: Hex },
  unsent: readonly Pick<heldStore.Unsent, 'id' | 'kind'>[],
  adopted: ReadonlyMap<string, SentCall>,
): Promise<boolean> => {
  if (adopted.size === 0) return true
  const all = [...adopted.values()]
  const next = Math.max(...all.map(({ nonce }) => nonce)) + 1
  await lanes.seedLanes(tx, network, new Map([[sender, next]]))
  if (await lanes.isTaken(tx, network, sender, all)) return false
  const open = await store.lockPending(tx, [...adopted.keys()])
  const rows = unsent.flatMap(({ id, kind }) => {
    const sent = adopted.get(id)
    return sent === undefined || !open.has(id) ? [] : [{ ...sent, id, kind, sender }]
  })
  await save(tx, rows, 0)
  const hashes = new Map(rows.map(({ id, hash }) => [id, hash]))
  await heldStore.noteFound(tx, hashes, foundOnChain)
  return true
}

/** Matches the permits of deployments found now, too: before, nobody knew which contracts they name. */
const matchAll = (
  unsent: readonly heldStore.Unsent[],
  sent: readonly Sent[],
  sender: Hex,
): ReturnType<typeof match> => {
  const first = match(unsent, sent)
  const permits = unsent.flatMap((each) => {
    const found = each.kind === 'permit' && first.adopted.get(each.afterId ?? '')
    return found ? [withCall({ ...each, deployment: { sender, nonce: found.nonce } })] : []
  })
  const second = match(permits, sent)
  return {
    adopted: new Map([...first.adopted, ...second.adopted]),
    held: new Map([...first.held, ...second.held]),
  }
}

type Call = { readonly value: bigint; readonly data: Hex }

/** Whether a transaction may be one of these; nobody knows yet what a permit calls. */
const alikeTo = (sent: readonly Sent[] | undefined): ((each: heldStore.Unsent) => boolean) => {
  if (sent === undefined) return () => true
  const calls = new Set(sent.map((each) => keyOf(each.to, each)))
  return (each) => each.kind === 'permit' || calls.has(keyOf(each.recipient ?? null, each))
}

const keyOf = (to: Hex | null, { value, data }: Call): string => `${to} ${value} ${data}`

/** Pairs what waits with what was sent, call by call. */
export const match = (
  unsent: readonly heldStore.Unsent[],
  sent: readonly Sent[],
): {
  readonly adopted: ReadonlyMap<string, Sent>
  readonly held: ReadonlyMap<string, readonly Hex[]>
} => {
  const adopted = new Map<string, Sent>()
  const held = new Map<string, readonly Hex[]>()
  const waiting = Map.groupBy(unsent, (each) => keyOf(each.recipient ?? null, each))
  const mined = Map.groupBy(sent, (each) => keyOf(each.to, each))
  for (const [key, alike] of waiting) {
    const all = mined.get(key) ?? []
    const last = Math.max(...all.map(({ minedMs }) => minedMs))
    const rows = alike.filter(({ createdAt }) => createdAt.getTime() - clockSkewMs <= last)
    if (rows.length === 0) continue
    const acceptedMs = rows.map(({ createdAt }) => createdAt.getTime())
    const those = all.filter(({ minedMs }) => minedMs >= Math.min(...acceptedMs) - clockSkewMs)
    const isAfter = those.every(({ minedMs }) => minedMs > Math.max(...acceptedMs) - blockClockMs)
    if (those.length === rows.length && isAfter)
      for (const [i, { id }] of rows.entries()) adopted.set(id, those[i]!)
    else
      for (const { id } of rows)
        held.set(
          id,
          those.map(({ hash }) => hash),
        )
  }
  return { adopted, held }
}
