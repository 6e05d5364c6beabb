/**
 * JSON-RPC 2.0 over HTTP to one network's nodes: batches, a time-out per exchange, retries of transient failures,
 * failover to the next node, and a check of each node's chain before its first use.
 */
import { inSpan, isTracing, type SpanOptions, serverOf } from '#src/platform/observe/index.ts'
import { classifyHttpStatus, classifyRpcError, isRetryable, RpcFailure } from './errors.ts'

export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] }

export type RpcOutcome = { readonly result: unknown } | { readonly failure: RpcFailure }

export type RpcClientOptions = {
  readonly urls: readonly string[]
  readonly chainId: number
  readonly timeoutMs: number
  /** Exchanges per call, over all nodes. */
  readonly attemptsMax: number
  /** Calls per HTTP exchange; a longer batch is split. */
  readonly batchCallsMax: number
  /** Source of jitter in [0, 1). */
  readonly random?: () => number
}

export type RpcClient = {
  /** @throws RpcFailure */
  readonly call: (method: string, ...params: readonly unknown[]) => Promise<unknown>
  /** One outcome per request, in order. Throws `RpcFailure` only if no node answered. */
  readonly batch: (requests: readonly RpcRequest[]) => Promise<readonly RpcOutcome[]>
  /** @throws RpcFailure if no node answers with the network's chain id */
  readonly checkChain: () => Promise<void>
}

const backoffFirstMs = 50
const backoffMaxMs = 1_000
const replyBytesMax = 64 * 1024 * 1024

type Node = { readonly url: string; isChecked: boolean }

export const createRpcClient = (options: RpcClientOptions): RpcClient => {
  const nodes: Node[] = options.urls.map((url) => ({ url, isChecked: false }))
  const random = options.random ?? Math.random
  let preferred = 0

  /** Runs `attempt` at one node after another until it succeeds or fails for good. */
  const withNode = async <T>(attempt: (node: Node) => Promise<T>): Promise<T> => {
    let last = new RpcFailure('unreachable', 'no node is configured')
    for (let tried = 0; tried < options.attemptsMax; tried++) {
      // The first round tries each node without a pause; later rounds wait.
      if (tried >= nodes.length) await Bun.sleep(backoffMs(tried - nodes.length, random))
      const node = nodes[preferred % nodes.length]
      if (node === undefined) break
      try {
        if (!node.isChecked) await checkNode(node, options)
        return await attempt(node)
      } catch (error) {
        if (!(error instanceof RpcFailure) || !isRetryable(error.kind)) throw error
        last = error
        preferred = (preferred + 1) % nodes.length
      }
    }
    throw last
  }

  const batch = async (requests: readonly RpcRequest[]): Promise<readonly RpcOutcome[]> => {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < requests.length; start += options.batchCallsMax) {
      const part = requests.slice(start, start + options.batchCallsMax)
      outcomes.push(...(await withNode((node) => exchange(node.url, part, options.timeoutMs))))
    }
    return outcomes
  }

  return {
    batch,
    call: (method, ...params) =>
      withNode(async (node) => {
        const [outcome] = await exchange(node.url, [{ method, params }], options.timeoutMs)
        if (outcome === undefined) throw new RpcFailure('unreachable', 'the node sent no reply')
        if ('failure' in outcome) throw outcome.failure
        return outcome.result
      }),
    checkChain: () =>
      withNode(async (node) => {
        await checkNode(node, options)
      }),
  }
}

/** Full jitter under a cap. */
const backoffMs = (round: number, random: () => number): number =>
  random() * Math.min(backoffMaxMs, backoffFirstMs * 2 ** round)

const checkNode = async (node: Node, options: RpcClientOptions): Promise<void> => {
  const [outcome] = await exchange(
    node.url,
    [{ method: 'eth_chainId', params: [] }],
    options.timeoutMs,
  )
  if (outcome === undefined || 'failure' in outcome) {
    throw new RpcFailure('unreachable', 'the node does not tell its chain id')
  }
  const chainId = Number(outcome.result)
  if (chainId !== options.chainId) {
    // Another node may be right, so the search goes on.
    throw new RpcFailure(
      'unreachable',
      `the node is on chain ${chainId}, the network is ${options.chainId}`,
    )
  }
  node.isChecked = true
}

/** One HTTP exchange. @throws RpcFailure `unreachable` or `rate_limited` */
const exchange = async (
  url: string,
  requests: readonly RpcRequest[],
  timeoutMs: number,
): Promise<readonly RpcOutcome[]> => {
  const calls = requests.map((request, id) => ({ jsonrpc: '2.0', id, ...request }))
  const body = JSON.stringify(calls.length === 1 ? calls[0] : calls)
  const text = await inSpan(`rpc ${methodsOf(requests)}`, spanOptions(url, requests), () =>
    post(url, body, timeoutMs),
  )
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    throw new RpcFailure('unreachable', 'the node did not answer JSON')
  }
  return inOrder(requests.length, Array.isArray(reply) ? reply : [reply])
}

/** `eth_call`, or `batch` for several methods at once. */
const methodsOf = (requests: readonly RpcRequest[]): string => {
  const methods = new Set(requests.map(({ method }) => method))
  const [first = ''] = methods
  return methods.size === 1 ? first : 'batch'
}

const spanOptions = (url: string, requests: readonly RpcRequest[]): SpanOptions =>
  isTracing()
    ? {
        kind: 'client',
        attributes: {
          'rpc.system.name': 'jsonrpc',
          'rpc.method': methodsOf(requests),
          'rpc.batch.size': requests.length,
          ...serverOf(url),
        },
      }
    : {}

const post = async (url: string, body: string, timeoutMs: number): Promise<string> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    })
    if (Number(response.headers.get('content-length') ?? 0) > replyBytesMax) {
      throw new RpcFailure('unreachable', 'the node’s reply is too large')
    }
    // Some nodes answer a JSON-RPC error with status 400 or 500; only the body counts.
    const text = await response.text()
    if (!response.ok && !text.startsWith('{') && !text.startsWith('[')) {
      throw classifyHttpStatus(response.status)
    }
    return text
  } catch (error) {
    if (error instanceof RpcFailure) throw error
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    throw new RpcFailure(
      'unreachable',
      isTimeout ? `the node did not answer in ${timeoutMs} ms` : 'the node cannot be reached',
    )
  }
}

/** Replies may come in any order; a missing reply counts as not answered. */
const inOrder = (count: number, replies: readonly unknown[]): readonly RpcOutcome[] => {
  const byId = new Map<unknown, Readonly<Record<string, unknown>>>()
  for (const reply of replies) {
    if (typeof reply === 'object' && reply !== null) {
      byId.set((reply as { id?: unknown }).id, reply as Record<string, unknown>)
    }
  }
  const whole = byId.get(null)
  if (whole?.['error'] !== undefined && !byId.has(0)) throw classifyRpcError(whole['error'])
  return Array.from({ length: count }, (_, id): RpcOutcome => {
    const reply = byId.get(id)
    if (reply === undefined) {
      return { failure: new RpcFailure('unreachable', 'the node left a call unanswered') }
    }
    return reply['error'] === undefined || reply['error'] === null
      ? { result: reply['result'] ?? null }
      : { failure: classifyRpcError(reply['error']) }
  })
}
