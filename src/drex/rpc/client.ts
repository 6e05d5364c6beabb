/**
 * JSON-RPC 2.0 over HTTP to one network's nodes: batches of the size that each node takes, a time-out per exchange,
 * retries of transient failures, and the node with the least trouble first. A node is used only while it is on the network's
 * chain, which is asked before its first use, after each failure and every minute.
 */
import type { Hex } from '../evm/hex.ts'
import { createChoice } from './choice.ts'
import { isRetryable, passing, RpcFailure, type RpcFailureKind } from './errors.ts'
import { failing, type RpcOutcome, type RpcRequest } from './exchange.ts'
import { createFailover } from './failover.ts'
import type { Method, ResultOf } from './methods.ts'
import { type Checkpoint, createNode, type Identity, type Node, resultOf } from './node.ts'
import { createPatience } from './patience.ts'

export type { RpcOutcome } from './exchange.ts'

export type RpcClientOptions = {
  readonly urls: readonly string[]
  readonly chainId: number
  readonly timeoutMs: number
  /** Exchanges per call, over all nodes. */
  readonly attemptsMax: number
  /** Calls per HTTP exchange; a longer batch is split, and split further for a node that takes less. */
  readonly batchCallsMax: number
  /** Time between two looks at a node's chain; a minute when absent. */
  readonly identityMs?: number
  /** Called when a node is found on another chain. */
  readonly onWrongChain?: (host: string, reason: string) => void
  /** Source of jitter in [0, 1). */
  readonly random?: () => number
}

type PollPatience<T> = {
  /** Nodes that have to answer; once they have, the others get some time more. All when absent. */
  readonly enough?: number
  /** The least of that time; a tenth of a second when absent. */
  readonly graceMs?: number
  /** Whether what some nodes have answered, all requests each, is all that is wanted: then no other is waited for. */
  readonly isDone?: (answers: readonly (readonly RpcOutcome<T>[])[]) => boolean
}

export type RpcClient = {
  /** @throws RpcFailure */
  readonly call: <M extends Method>(
    method: M,
    ...params: readonly unknown[]
  ) => Promise<ResultOf<M>>
  /** One outcome per request, in order. Throws `RpcFailure` only if no node answered. */
  readonly batch: <M extends Method>(
    requests: readonly RpcRequest<M>[],
  ) => Promise<readonly RpcOutcome<ResultOf<M>>[]>
  /**
   * All of one node, each asked after the one before it, and each node once at most: a node that leaves one of them out
   * has told none. What it refuses for good is an answer.
   * @throws RpcFailure
   */
  readonly together: <M extends Method>(
    requests: readonly RpcRequest<M>[],
  ) => Promise<readonly RpcOutcome<ResultOf<M>>[]>
  /** The same question to every node of the right chain, in no order. */
  readonly poll: <M extends Method>(
    method: M,
    ...params: readonly unknown[]
  ) => Promise<readonly RpcOutcome<ResultOf<M>>[]>
  /**
   * The same questions to every node of the right chain, in the order of their URLs: for each one outcome per request.
   * Who is not waited for to the end counts as away.
   */
  readonly pollBatch: <M extends Method>(
    requests: readonly RpcRequest<M>[],
    patience?: PollPatience<ResultOf<M>>,
  ) => Promise<readonly (readonly RpcOutcome<ResultOf<M>>[])[]>
  /** The node that is asked first told what cannot be so: another comes before it, unless that had more trouble. */
  readonly turn: () => void
  /**
   * The genesis block of the network's chain: the expected one, or that of the first node that answered.
   * @throws RpcFailure if no node is on that chain
   */
  readonly genesis: () => Promise<Hex>
  /** From now on, a node must have this genesis block; undefined takes that of the first node that answers. */
  readonly expectGenesis: (genesis: Hex | undefined) => void
  /** From now on, a node must have this block. */
  readonly expectCheckpoint: (checkpoint: Checkpoint) => void
  /** How long the last exchange that was answered took; undefined before the first. */
  readonly roundTripMs: () => number | undefined
}

const backoffFirstMs = 50
const backoffMaxMs = 1_000
const identityMsDefault = 60_000
/** A node that takes longer for an exchange is not the first to be asked for the next. */
const slowMs = 500
/** Nodes that others need not wait for have this, and four times as long as those took. */
const graceMsDefault = 100
const graceTimes = 4

/** @param ask answers some of the first, or all */
const askedInTurn = async <M extends Method>(
  requests: readonly RpcRequest<M>[],
  ask: (rest: readonly RpcRequest<M>[]) => Promise<readonly RpcOutcome<ResultOf<M>>[]>,
): Promise<RpcOutcome<ResultOf<M>>[]> => {
  const outcomes: RpcOutcome<ResultOf<M>>[] = []
  while (outcomes.length < requests.length) {
    const rest = requests.slice(outcomes.length)
    try {
      outcomes.push(...(await ask(rest)))
    } catch (failure) {
      // The answers that we have are kept.
      if (!(failure instanceof RpcFailure) || outcomes.length === 0) throw failure
      outcomes.push(...rest.map(() => ({ failure })))
    }
  }
  return outcomes
}

export const createRpcClient = (options: RpcClientOptions): RpcClient => {
  const nodes = nodesOf(options)
  const random = options.random ?? Math.random
  const choice = createChoice(nodes)
  let expected: Identity | undefined
  let roundTripMs: number | undefined
  const patience = createPatience<Node>(options.batchCallsMax)
  const asked = async <M extends Method>(node: Node, requests: readonly RpcRequest<M>[]) => {
    const startMs = performance.now()
    const outcomes = await node.ask(requests)
    roundTripMs = performance.now() - startMs
    patience.took(node, roundTripMs)
    choice.went(node, roundTripMs <= slowMs && !outcomes.some(isOdd))
    return outcomes
  }

  const identified = async (node: Node): Promise<Node> => {
    const genesis = await node.identify(expected)
    // The first node that answers says which chain it is: a second of another one is found out.
    expected ??= { genesis, checkpoint: undefined }
    if (expected.genesis === genesis) return node
    node.forget()
    throw new RpcFailure('wrong_chain', 'the node has another genesis block than before')
  }

  const failoverOf = (attemptsMax: number) =>
    createFailover({
      nodes,
      choice,
      attemptsMax,
      backoffMs: (round) => backoffMs(round, random),
      onFailure: (node) => node.forget(),
    })
  const failover = failoverOf(options.attemptsMax)
  const once = failoverOf(Math.min(options.attemptsMax, nodes.length))
  const withNode = <T>(calls: number, attempt: (node: Node) => Promise<T>): Promise<T> =>
    failover(patience.forCallsMs(calls), async (node) => attempt(await identified(node)))

  const inTurn = <M extends Method>(requests: readonly RpcRequest<M>[]) =>
    askedInTurn(requests, (rest) => withNode(rest.length, (node) => asked(node, rest)))

  const pollBatch = pollAll(nodes, identified)

  return {
    async batch<M extends Method>(requests: readonly RpcRequest<M>[]) {
      const outcomes = await inTurn(requests)
      const odd = outcomes.flatMap((each, i) => (isOdd(each) ? [i] : []))
      if (odd.length === 0 || nodes.length === 1) return outcomes
      // Another node may tell what this one did not.
      const again = (await inTurn(odd.map((i) => requests[i]!)).catch(passing)) ?? []
      for (const [at, i] of odd.entries()) outcomes[i] = again[at] ?? outcomes[i]!
      return outcomes
    },
    together: (requests) =>
      once(patience.forCallsMs(requests.length), async (node) =>
        (await (await identified(node)).askTogether(requests)).map(answerIn),
      ),
    call: (method, ...params) =>
      withNode(1, async (node) => resultOf((await asked(node, [{ method, params }]))[0])),
    poll: async (method, ...params) =>
      (await pollBatch([{ method, params }])).map(([outcome]) => outcome ?? noReply()),
    pollBatch,
    turn() {
      const node = choice.best(new Set())
      if (node !== undefined) choice.went(node, false)
    },
    async genesis() {
      await withNode(1, async () => {})
      return expected!.genesis
    },
    expectGenesis(genesis) {
      expected = genesis === undefined ? undefined : { genesis, checkpoint: undefined }
      for (const node of nodes) node.forget()
    },
    expectCheckpoint(checkpoint) {
      if (expected !== undefined) expected = { ...expected, checkpoint }
    },
    roundTripMs: () => roundTripMs,
  }
}

const nodesOf = (options: RpcClientOptions): readonly Node[] =>
  options.urls.map((url) =>
    createNode(url, {
      chainId: options.chainId,
      timeoutMs: options.timeoutMs,
      batchCallsMax: options.batchCallsMax,
      identityMs: options.identityMs ?? identityMsDefault,
      onWrongChain: options.onWrongChain ?? (() => {}),
    }),
  )

/** @throws RpcFailure if it is none: asked again, another may come */
const answerIn = <T>(outcome: RpcOutcome<T>): RpcOutcome<T> => {
  if ('failure' in outcome && isRetryable(outcome.failure.kind)) throw outcome.failure
  return outcome
}

const oddKinds: ReadonlySet<RpcFailureKind> = new Set([
  'malformed',
  'too_large',
  'transient',
  'rate_limited',
  'no_state',
  'refused',
])

/** The answer says nothing, and another node's may say more. */
const isOdd = (outcome: RpcOutcome): boolean =>
  'failure' in outcome && oddKinds.has(outcome.failure.kind)

const pollAll =
  (nodes: readonly Node[], identified: (node: Node) => Promise<Node>): RpcClient['pollBatch'] =>
  async <M extends Method>(
    requests: readonly RpcRequest<M>[],
    { enough = nodes.length, graceMs = graceMsDefault, isDone }: PollPatience<ResultOf<M>> = {},
  ) => {
    const startMs = performance.now()
    const late = new AbortController()
    const isLate = new Promise<undefined>((resolve) => {
      late.signal.addEventListener('abort', () => resolve(undefined))
    })
    let timer: ReturnType<typeof setTimeout> | undefined
    const told: (readonly RpcOutcome<ResultOf<M>>[])[] = []
    const answers = await Promise.all(
      nodes.map(async (node) => {
        const outcomes = await Promise.race([
          askAll(node, identified, requests, late.signal),
          isLate,
        ])
        if (outcomes === undefined) return requests.map(away)
        if (!outcomes.some((each) => 'result' in each)) return outcomes
        told.push(outcomes)
        if (isDone?.(told) === true) late.abort()
        if (told.length === enough) {
          const tookMs = performance.now() - startMs
          timer ??= setTimeout(() => late.abort(), graceMs + graceTimes * tookMs)
        }
        return outcomes
      }),
    )
    clearTimeout(timer)
    return answers
  }

const askAll = async <M extends Method>(
  node: Node,
  identified: (node: Node) => Promise<Node>,
  requests: readonly RpcRequest<M>[],
  signal: AbortSignal,
): Promise<readonly RpcOutcome<ResultOf<M>>[]> => {
  const outcomes: RpcOutcome<ResultOf<M>>[] = []
  try {
    await identified(node)
    while (outcomes.length < requests.length) {
      outcomes.push(...(await node.ask(requests.slice(outcomes.length), signal)))
    }
  } catch (failure) {
    if (!(failure instanceof RpcFailure)) throw failure
    while (outcomes.length < requests.length) outcomes.push({ failure })
  }
  return outcomes
}

const away = () => failing('timed_out', 'the node had not answered when the others long had')
const noReply = () => failing('unreachable', 'the node sent no reply')

/** Full jitter under a cap. */
const backoffMs = (round: number, random: () => number): number =>
  random() * Math.min(backoffMaxMs, backoffFirstMs * 2 ** round)
