/**
 * From pending to sent. Simulation first, without a nonce; then nonce, signed bytes and hash in one database transaction;
 * only then the network. One batch is simulated while others are signed and sent. A crash at any point leaves either
 * nothing or everything that is needed to go on.
 */
import type { Hex } from '../evm/hex.ts'
import type { RpcFailure } from '../rpc/errors.ts'
import { type RpcOutcome, toldIn } from '../rpc/exchange.ts'
import { afford } from './afford.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import * as heldStore from './held-store.ts'
import * as lanes from './lane-store.ts'
import { storeEnds } from './parts.ts'
import { createReckoner, type Reckoner } from './reckoning.ts'
import { idsOf, type Offer, type Signed, sendersOf, signLocally, signRemotely } from './sign.ts'
import { createSimulator, type Passed } from './simulate.ts'
import * as store from './store.ts'
import type { OpenTransaction, TransactionError } from './transaction.ts'

const batchMax = 250
/** How long other processes leave alone what a process has claimed. */
const claimMs = 10_000
/** The time between two looks for expired transactions. */
const expiryMs = 1_000
/** Wallets that one other program signs for at the same time: each program has room of its own. */
const remoteSendersMax = 32

/** @param onRoom called when something can be taken up that had to wait */
export const createSubmitter = (context: EngineContext, onRoom: () => void) => {
  const { looks, sql, network, settings, signers } = context
  const simulate = createSimulator(context)
  const remote = createRemote(context, onRoom)
  const reckoner = createReckoner(context, onRoom)
  const signing = createStage(context)
  const sending = createStage(context)
  const expire = createExpiry(context, reckoner)
  let expiryAtMs = 0

  const sign = async (passed: readonly Passed[]): Promise<readonly Signed[]> => {
    const offers = await afford(context, passed)
    const local: Offer[] = []
    for (const sender of sendersOf(offers)) {
      const own = offers.filter(({ transaction }) => transaction.sender === sender)
      if ((await signers.local(sender)) === undefined) await remote.start(sender, own)
      else local.push(...own)
    }
    return signLocally(context, inOrder(local))
  }

  const takeUp = async (): Promise<readonly store.Taken[]> => {
    const [told, stuck] = await Promise.all([
      store.countInFlight(sql, network.id),
      lanes.stuck(sql, network.id),
    ])
    const inFlight = told + context.accepted.count() + signing.count() + sending.count()
    if (inFlight > 0) looks.often()
    const limit = Math.min(batchMax, settings.inFlightMax - inFlight)
    if (limit <= 0) return []
    const except = [...remote.busy(), ...reckoner.busy(), ...signers.resting(), ...stuck]
    const taken = await store.takePending(sql, network.id, { limit, claimMs, except })
    if (taken.length > 0) looks.often()
    return taken
  }

  return {
    /** @returns how many were taken up; zero if there is nothing to do now */
    async submitOnce(): Promise<number> {
      signing.check()
      sending.check()
      if (performance.now() >= expiryAtMs) {
        expiryAtMs = performance.now() + expiryMs
        await expire()
      }
      await tellAccepted(context)
      const taken = await takeUp()
      if (taken.length > 0) {
        const passed = await orDefer(context, taken, async () =>
          simulate(await unsent(context, reckoner, taken)),
        )
        await signing.enter(taken, async () => {
          const signed = await sign(passed)
          await sending.enter(taken, () => sendFresh(context, signed))
        })
      }
      return taken.length
    },
    /** Waits for the signatures under way, and writes down what was taken. */
    async settle(): Promise<void> {
      await signing.done()
      await sending.done()
      await remote.settle()
      await reckoner.settle()
      await tellAccepted(context, 'all')
    },
  }
}

/**
 * One batch is signed, and one sent, while the next is simulated: one at a time each, so that a sender's transactions
 * reach the node in the order of their nonces.
 */
const createStage = (context: EngineContext) => {
  let work: Promise<unknown> = Promise.resolve()
  let count = 0
  let failed: { readonly error: unknown } | undefined
  return {
    /** How many the batch under way has. */
    count: () => count,
    /** Begins once the batch before is through. */
    async enter(taken: readonly OpenTransaction[], run: () => Promise<unknown>): Promise<void> {
      await work
      count = taken.length
      work = orDefer(context, taken, run)
        .catch((error: unknown) => {
          failed = { error }
        })
        .finally(() => {
          count = 0
        })
    },
    /** @throws what a batch failed with, once */
    check(): void {
      const last = failed
      failed = undefined
      if (last !== undefined) throw last.error
    },
    done: () => work,
  }
}

/** Leaves to a later turn what came of nothing. */
const orDefer = async <T>(
  { sql }: EngineContext,
  taken: readonly OpenTransaction[],
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await store.defer(
      sql,
      taken.map(({ id }) => id),
      store.retryMs,
    )
    throw error
  }
}

const inOrder = (offers: readonly Offer[]): readonly Offer[] =>
  offers.toSorted((a, b) => (a.transaction.id < b.transaction.id ? -1 : 1))

/** Signatures of other programs: each wallet's come in their own time, and the others do not wait for them. */
const createRemote = (context: EngineContext, onRoom: () => void) => {
  const running = new Map<
    Hex,
    { readonly kind: string | undefined; readonly work: Promise<void> }
  >()
  const countOf = (wanted: string | undefined) =>
    [...running.values()].filter(({ kind }) => kind === wanted).length
  const run = async (sender: Hex, offers: readonly Offer[]): Promise<void> => {
    try {
      await sendFresh(context, await signRemotely(context, sender, offers))
    } catch (error) {
      context.knownNonces.delete(sender)
      context.logger.warn({ sender, err: error }, 'not signed')
    } finally {
      running.delete(sender)
      onRoom()
    }
  }
  return {
    busy: () => [...running.keys()],
    async start(sender: Hex, offers: readonly Offer[]) {
      const kind = await context.signers.kind(sender)
      if (running.has(sender) || countOf(kind) >= remoteSendersMax) {
        await store.defer(context.sql, idsOf(offers), store.retryMs)
        return
      }
      running.set(sender, { kind, work: run(sender, offers) })
    },
    settle: async () => {
      await Promise.all([...running.values()].map(({ work }) => work))
    },
  }
}

/**
 * The transactions that are certainly not on the chain yet. We ask this first, because what has moved already looks as
 * if it could no longer be paid.
 */
const unsent = async (
  context: EngineContext,
  reckoner: Reckoner,
  taken: readonly store.Taken[],
): Promise<readonly OpenTransaction[]> => {
  const fresh = taken.filter(({ sender, server }) => context.knownNonces.get(sender) !== server)
  if (fresh.length === 0) return taken
  const waiting = await reckonedAmong(context, reckoner, fresh)
  const unknown = fresh.filter(({ sender }) => !context.knownNonces.has(sender))
  await store.defer(
    context.sql,
    unknown.map(({ id }) => id),
    store.retryMs,
  )
  const isFresh = new Set(fresh)
  return taken.filter((each) => !isFresh.has(each) || waiting.has(each.id))
}

/** @returns those of them whose sender's nonces are known, and that still wait then */
const reckonedAmong = async (
  context: EngineContext,
  { reckon }: Reckoner,
  all: readonly { readonly id: string; readonly sender: Hex }[],
): Promise<ReadonlySet<string>> => {
  const known = await reckon([...new Set(all.map(({ sender }) => sender))])
  const ids = all.flatMap(({ id, sender }) => (known.has(sender) ? [id] : []))
  return heldStore.unsentAmong(context.sql, ids)
}

/** One part after another: what cannot end now, as that of a wallet that no node tells of, keeps no other from it. */
const createExpiry = (context: EngineContext, reckoner: Reckoner) => {
  let afterId = ''
  return async (): Promise<void> => {
    const part = { afterId, except: reckoner.busy() }
    const due = await endings.expired(context.sql, context.network.id, part)
    afterId = due.length < endings.expiredMax ? '' : due.at(-1)!.id
    await failExpired(context, reckoner, due)
  }
}

const failExpired = async (
  context: EngineContext,
  reckoner: Reckoner,
  due: Awaited<ReturnType<typeof endings.expired>>,
): Promise<void> => {
  if (due.length === 0) return
  const ids = [...(await reckonedAmong(context, reckoner, due))]
  const error: TransactionError = {
    code: 'EXPIRED',
    message: 'The time to sign it ran out; nothing was sent.',
  }
  await storeEnds(
    context,
    ids.map((id) => ({ id, error })),
    endings.refuse,
  )
}

const tellAccepted = async ({ accepted, sql }: EngineContext, all?: 'all'): Promise<void> => {
  const due = accepted.takeDue(all)
  if (due.length > 0) await store.markBroadcast(sql, due)
}

export type Sendable = { readonly id: string; readonly raw: Hex }

const unpaid: TransactionError = {
  code: 'INSUFFICIENT_FUNDS',
  message: 'It is signed, but the wallet has not enough of the network’s coin to pay for the gas.',
}

/**
 * Sends what was signed just now. Whatever has used a nonce of it is not of this database, which may lack more: its sender
 * is compared with the chain before anything else of it is looked at.
 */
const sendFresh = async (context: EngineContext, signed: readonly Signed[]): Promise<void> => {
  const refused = await send(context, signed)
  const used = signed.filter(({ id }) => refused.get(id)?.kind === 'nonce_too_low')
  if (used.length === 0) return
  const own = await foundAmong(context, used)
  noteAccepted(context, [...own])
  const senders = used.flatMap(({ id, sender }) => (own.has(id) ? [] : [sender]))
  if (senders.length === 0) return
  for (const sender of senders) context.knownNonces.delete(sender)
  await context.sql.begin((tx) => lanes.doubt(tx, context.network.id, senders))
}

/** The transactions that a node has: they were sent before, the answer was lost, and they are mined. */
const foundAmong = async (
  { rpc }: EngineContext,
  signed: readonly Signed[],
): Promise<ReadonlySet<string>> => {
  const answers = await rpc.pollBatch(
    signed.map(({ hash }) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
    { enough: 1 },
  )
  const isFound = ({ hash }: Signed, i: number): boolean =>
    answers.some((node) => toldIn(node[i])?.hash === hash)
  return new Set(signed.filter(isFound).map(({ id }) => id))
}

/** Whether the node's answer means that it has the transaction. */
export const isTaken = (outcome: RpcOutcome): boolean =>
  'result' in outcome || outcome.failure.kind === 'known_transaction'

/**
 * Sends signed transactions, and records which of them a node took. All others stay as they are: the follower asks for
 * their receipts and sends them again.
 */
export const send = async (
  context: EngineContext,
  sendables: readonly Sendable[],
): Promise<ReadonlyMap<string, RpcFailure>> => {
  if (sendables.length === 0) return new Map()
  const { sql, rpc, logger } = context
  const refused = new Map<string, RpcFailure>()
  const outcomes = await rpc.batch(
    sendables.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [raw] })),
  )
  const accepted: string[] = []
  for (const [i, { id }] of sendables.entries()) {
    const outcome = outcomes[i]!
    if ('failure' in outcome && !isTaken(outcome)) refused.set(id, outcome.failure)
    else accepted.push(id)
  }
  noteAccepted(context, accepted)
  if (refused.size > 0) {
    const kinds = [...new Set([...refused.values()].map((failure) => failure.kind))]
    logger.warn(
      { network: context.network.id, count: refused.size, kinds },
      'not taken by the node',
    )
    const poor = [...refused].flatMap(([id, { kind }]) =>
      kind === 'insufficient_funds' ? [id] : [],
    )
    await store.defer(sql, poor, context.settings.resendMs, unpaid)
  }
  return refused
}

/** We write this down only when it is due: the receipt may come first. */
export const noteAccepted = (
  { accepted, heads, network }: EngineContext,
  ids: readonly string[],
): void => {
  if (ids.length === 0) return
  accepted.add(ids)
  if (network.gasPolicy !== 'zero') heads.sent(ids)
}
