/** One node: how much it takes at once, and which chain it is on. */
import type { Hex } from '../evm/hex.ts'
import { quantity } from '../evm/hex.ts'
import { isRetryable, RpcFailure, type RpcFailureKind } from './errors.ts'
import { exchange, failing, type Limits, type RpcOutcome, type RpcRequest } from './exchange.ts'
import type { Method, ResultOf } from './methods.ts'

/** What distinguishes a chain from another with the same chain id. */
export type Identity = {
  readonly genesis: Hex
  /** A block that is final: a chain that began anew from the same genesis block does not have it. */
  readonly checkpoint: Checkpoint | undefined
}

export type Checkpoint = { readonly number: number; readonly hash: Hex }

export type NodeOptions = {
  readonly chainId: number
  readonly timeoutMs: number
  /** Calls per exchange to begin with; halved for a node that takes fewer. */
  readonly batchCallsMax: number
  /** How long a node counts as being on the right chain before it is asked again. */
  readonly identityMs: number
  /** Called when a node is found on another chain. */
  readonly onWrongChain: (host: string, reason: string) => void
}

export type Node = {
  /**
   * Asks as many as the node takes at once, at least one.
   * @param signal that nobody wants the answers any more
   * @returns one outcome for each of these first requests, in order
   * @throws RpcFailure if the node answers none
   */
  readonly ask: <M extends Method>(
    requests: readonly RpcRequest<M>[],
    signal?: AbortSignal,
  ) => Promise<readonly RpcOutcome<ResultOf<M>>[]>
  /**
   * Asks all in this order, in one exchange if the node takes that many. What one of them costs says nothing of how much
   * the node takes at once of others.
   * @returns one outcome for each
   * @throws RpcFailure if the node is away
   */
  readonly askTogether: <M extends Method>(
    requests: readonly RpcRequest<M>[],
  ) => Promise<readonly RpcOutcome<ResultOf<M>>[]>
  /**
   * Compares the node's chain with the network's, if that was not done just now.
   * @returns its genesis block
   * @throws RpcFailure `wrong_chain`, or `unreachable` while it lags behind the checkpoint
   */
  readonly identify: (expected: Identity | undefined) => Promise<Hex>
  /** Says that the node was away: it may come back as another. */
  readonly forget: () => void
}

/** Calls at once to a node that takes no batches. */
const singlesMax = 8
/** Full batches after which a node that was given fewer calls is given twice as many again. */
const growAfter = 256
/** Calls of one batch that are asked for again alone, because the node left them unanswered. */
const unansweredMax = 32

export const createNode = (url: string, options: NodeOptions): Node => {
  const asker = createAsker(url, options)
  const { ask } = asker
  let identified: { readonly genesis: Hex; readonly untilMs: number } | undefined
  let wrong: { readonly failure: RpcFailure; readonly untilMs: number } | undefined
  return {
    ...asker,
    forget() {
      identified = undefined
    },
    async identify(expected) {
      const nowMs = performance.now()
      if (wrong !== undefined && wrong.untilMs > nowMs) throw wrong.failure
      if (identified !== undefined && identified.untilMs > nowMs) return identified.genesis
      const untilMs = nowMs + options.identityMs
      try {
        const genesis = await identify(ask, options.chainId, expected)
        identified = { genesis, untilMs }
        wrong = undefined
        return genesis
      } catch (error) {
        identified = undefined
        if (error instanceof RpcFailure && error.kind === 'wrong_chain') {
          wrong = { failure: error, untilMs: nowMs + wrongMs }
          options.onWrongChain(new URL(url).host, error.message)
        }
        throw error
      }
    },
  }
}

/** How long a node on another chain is left alone. */
const wrongMs = 1_000

const identify = async (
  ask: Node['ask'],
  expectedId: number,
  expected: Identity | undefined,
): Promise<Hex> => {
  const [id] = await ask([{ method: 'eth_chainId', params: [] }])
  const chainId = resultOf(id)
  if (chainId !== expectedId) {
    throw wrongChain(`the node is on chain ${chainId}, the network is ${expectedId}`)
  }
  const hashAt = async (number: number): Promise<Hex | undefined> => {
    const params = [quantity(number), false]
    const [block] = await ask([{ method: 'eth_getBlockByNumber', params }])
    return resultOf(block)?.hash
  }
  const genesis = await hashAt(0)
  if (genesis === undefined) throw new RpcFailure('malformed', 'the node has no genesis block')
  if (expected !== undefined && genesis !== expected.genesis) {
    throw wrongChain('the node has another genesis block than before')
  }
  const checkpoint = expected?.checkpoint
  if (checkpoint !== undefined) {
    await checkCheckpoint(ask, checkpoint, await hashAt(checkpoint.number))
  }
  return genesis
}

/** Without that block, a node that is further on is on another chain; one that is not yet there lags behind. */
const checkCheckpoint = async (
  ask: Node['ask'],
  { number, hash }: Checkpoint,
  found: Hex | undefined,
): Promise<void> => {
  if (found === hash) return
  if (found !== undefined) throw wrongChain(`the node has another block ${number} than before`)
  const [head] = await ask([{ method: 'eth_blockNumber', params: [] }])
  if (resultOf(head) >= number) throw wrongChain(`the node has no block ${number} below its head`)
  throw new RpcFailure('unreachable', `the node lags behind block ${number}`)
}

const wrongChain = (message: string): RpcFailure => new RpcFailure('wrong_chain', message)

export const resultOf = <T>(outcome: RpcOutcome<T> | undefined): T => {
  if (outcome === undefined) throw new RpcFailure('unreachable', 'the node sent no reply')
  if ('failure' in outcome) throw outcome.failure
  return outcome.result
}

/** A node that works answers in this time which chain it is on, or in half of its own where that is longer. */
const aliveMs = 1_000

/** Failures that fewer calls at once may avoid. */
const isLess: ReadonlySet<RpcFailureKind> = new Set(['too_large', 'rate_limited', 'unreachable'])

const createAsker = (url: string, options: NodeOptions): Pick<Node, 'ask' | 'askTogether'> => {
  let callsMax = options.batchCallsMax
  let full = 0

  const shrink = (size: number): void => {
    callsMax = Math.max(1, Math.min(callsMax, size >> 1))
    full = 0
  }
  const grow = (size: number): void => {
    if (size < callsMax || callsMax >= options.batchCallsMax || ++full < growAfter) return
    callsMax = Math.min(options.batchCallsMax, callsMax * 2)
    full = 0
  }

  const ask: Node['ask'] = async (requests, signal) => {
    const limits = { timeoutMs: options.timeoutMs, signal }
    for (;;) {
      const part = requests.slice(0, callsMax === 1 ? singlesMax : callsMax)
      if (callsMax === 1) {
        const outcomes = await singles(url, part, limits)
        grow(1)
        return orUnasked(outcomes, requests.length)
      }
      try {
        const answered = await exchange(url, part, limits)
        grow(part.length)
        return await completed(url, part, answered, limits)
      } catch (error) {
        if (!(error instanceof RpcFailure) || signal?.aborted) throw error
        if (error.kind === 'timed_out') {
          const outcomes = await apart(url, part, limits, error).catch((failure: unknown) => {
            // The node may still be busy with calls that nobody waits for any more.
            if (part.length > 1) shrink(part.length)
            throw failure
          })
          // Either no call takes long by itself, or more than were asked at once alone do: they are too many.
          const isTooMany = !outcomes.some(isHung) || outcomes.every(isUntold)
          if (isTooMany && part.length > singlesMax) shrink(part.length)
          return orUnasked(outcomes, requests.length)
        }
        if (part.length === 1 && isOwn(error)) return [{ failure: error }]
        if (part.length === 1) throw error
        if (isLess.has(error.kind)) shrink(part.length)
        // A refusal of the size is followed by a smaller one at once; the rest is the caller's to repeat.
        if (error.kind === 'too_large') continue
        if (isLess.has(error.kind)) throw error
        // The node may say of all what is true of one call.
        const outcomes = await inGroups(url, part, limits, error.kind)
        if (outcomes.every(isUnknown)) throw error
        return outcomes
      }
    }
  }
  const askTogether: Node['askTogether'] = (requests) =>
    together(url, requests, { timeoutMs: options.timeoutMs }, callsMax)
  return { ask, askTogether }
}

/** @throws RpcFailure also if the node is away */
const together = async <M extends Method>(
  url: string,
  requests: readonly RpcRequest<M>[],
  limits: Limits,
  callsMax: number,
): Promise<readonly RpcOutcome<ResultOf<M>>[]> => {
  try {
    const whole =
      requests.length <= callsMax
        ? await exchange(url, requests, limits).catch(refusedWhole)
        : undefined
    if (whole?.size === requests.length) return requests.map((_, i) => whole.get(i)!)
    const outcomes: RpcOutcome<ResultOf<M>>[] = []
    for (const each of requests)
      outcomes.push((await exchange(url, [each], limits)).get(0) ?? unanswered())
    return outcomes
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'timed_out') await alive(url, limits)
    throw error
  }
}

/** What the node says of all together may be the fault of one. */
const refusedWhole = (error: unknown): undefined => {
  const isOne = error instanceof RpcFailure && error.kind !== 'timed_out'
  if (!isOne || (error.kind !== 'too_large' && isLess.has(error.kind))) throw error
}

/** If a call was asked alone, such a refusal concerns that call only, not those asked after it. */
const isOwn = ({ kind }: RpcFailure): boolean => kind === 'too_large' || kind === 'malformed'

const unanswered = () => failing('unreachable', 'the node left a call unanswered')

const isHung = (outcome: RpcOutcome): boolean =>
  'failure' in outcome && outcome.failure.kind === 'timed_out'

/** Asked again, it may be told. */
const isUnknown = (outcome: RpcOutcome): boolean =>
  'failure' in outcome && isRetryable(outcome.failure.kind)

const isUntold = (outcome: RpcOutcome): boolean =>
  isHung(outcome) || ('failure' in outcome && outcome.failure.kind === 'unreachable')

const unasked = (count: number): readonly RpcOutcome<never>[] => {
  const failed = failing('unreachable', 'the node was not asked: it left others unanswered')
  return Array.from({ length: count }, () => failed)
}

/** A node that answered nothing is asked for nothing more: each further part would cost as long again. */
const orUnasked = <T>(
  outcomes: readonly RpcOutcome<T>[],
  count: number,
): readonly RpcOutcome<T>[] =>
  outcomes.every(isUntold) ? [...outcomes, ...unasked(count - outcomes.length)] : outcomes

/**
 * Asks each call alone, so that one that takes for ever does not harm the others.
 * @throws RpcFailure if the node answers none
 */
const singles = async <M extends Method>(
  url: string,
  requests: readonly RpcRequest<M>[],
  limits: Limits,
): Promise<readonly RpcOutcome<ResultOf<M>>[]> => {
  const failures: RpcFailure[] = []
  const outcomes = await Promise.all(
    requests.map(async (each): Promise<RpcOutcome<ResultOf<M>>> => {
      try {
        return (await exchange(url, [each], limits)).get(0) ?? unanswered()
      } catch (failure) {
        if (!(failure instanceof RpcFailure)) throw failure
        failures.push(failure)
        return { failure }
      }
    }),
  )
  if (failures.length === requests.length && failures[0] !== undefined) {
    if (failures.some(isOwn)) return outcomes
    if (!outcomes.every(isHung)) throw failures[0]
    await alive(url, limits)
  }
  return outcomes
}

/** @throws RpcFailure if the node is away */
const alive = async (url: string, { timeoutMs, signal }: Limits): Promise<void> => {
  const limits = { timeoutMs: Math.min(timeoutMs, Math.max(aliveMs, timeoutMs / 2)), signal }
  await exchange(url, [{ method: 'eth_chainId', params: [] }], limits)
}

/**
 * Asks again what got no answer together: the node may be away, or one of the calls may take for ever.
 * @throws RpcFailure if the node is away
 */
const apart = async <M extends Method>(
  url: string,
  requests: readonly RpcRequest<M>[],
  limits: Limits,
  failure: RpcFailure,
): Promise<readonly RpcOutcome<ResultOf<M>>[]> => {
  await alive(url, limits)
  return requests.length === 1 ? [{ failure }] : inGroups(url, requests, limits)
}

/**
 * A group that is answered in no part ends it, and so does twice the time of an exchange: the rest is not asked.
 * @param same what was said of all together: if it is said of each of a group, it is no single call's
 */
const inGroups = async <M extends Method>(
  url: string,
  requests: readonly RpcRequest<M>[],
  limits: Limits,
  same?: RpcFailureKind,
): Promise<readonly RpcOutcome<ResultOf<M>>[]> => {
  const outcomes: RpcOutcome<ResultOf<M>>[] = []
  const untilMs = performance.now() + 2 * limits.timeoutMs
  while (outcomes.length < requests.length && performance.now() < untilMs) {
    const group = requests.slice(outcomes.length, outcomes.length + singlesMax)
    const told = await singles(url, group, limits)
    outcomes.push(...told)
    if (told.every(isUntold)) break
    if (told.every((each) => 'failure' in each && each.failure.kind === same)) break
  }
  return [...outcomes, ...unasked(requests.length - outcomes.length)]
}

/** All outcomes in order; asks alone for those that a batch left out. */
const completed = async <M extends Method>(
  url: string,
  requests: readonly RpcRequest<M>[],
  answered: ReadonlyMap<number, RpcOutcome<ResultOf<M>>>,
  limits: Limits,
): Promise<readonly RpcOutcome<ResultOf<M>>[]> => {
  if (answered.size === requests.length) return requests.map((_, i) => answered.get(i)!)
  const missing = requests.flatMap((_, i) => (answered.has(i) ? [] : [i])).slice(0, unansweredMax)
  const found = new Map(answered)
  const outcomes = await inGroups(
    url,
    missing.map((place) => requests[place]!),
    limits,
  )
  for (const [i, place] of missing.entries()) found.set(place, outcomes[i]!)
  return requests.map((_, i) => found.get(i) ?? unanswered())
}
