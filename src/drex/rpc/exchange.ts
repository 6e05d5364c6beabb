/** One HTTP exchange of JSON-RPC 2.0 with one node, bounded in time and bytes. */
import { inSpan, isTracing, type SpanOptions, serverOf } from '#src/platform/observe/index.ts'
import { readUnzipped } from '#src/platform/runtime/index.ts'
import { quantity } from '../evm/hex.ts'
import {
  classifyBatchError,
  classifyHttpStatus,
  classifyRpcError,
  RpcFailure,
  type RpcFailureKind,
} from './errors.ts'
import { type Method, type ResultOf, readResult } from './methods.ts'

export type RpcRequest<M extends Method = Method> = {
  readonly method: M
  readonly params: readonly unknown[]
}

export type RpcOutcome<T = unknown> = { readonly result: T } | { readonly failure: RpcFailure }

/** @returns undefined if nothing is told */
export const toldIn = <T>(outcome: RpcOutcome<T> | undefined): T | undefined =>
  outcome !== undefined && 'result' in outcome ? outcome.result : undefined

export const failing = (kind: RpcFailureKind, message: string) => ({
  failure: new RpcFailure(kind, message),
})

/**
 * A block of 100 000 transfers, or the receipts of a full batch, are a fraction of it, and so is what a transaction of
 * {@link transactionGasMax} can tell: its least event costs 375 units and takes some 450 characters.
 */
export const replyBytesMax = 32 * 1024 * 1024
/** The most that Ethereum allows a transaction (EIP-7825), so that we can read the receipts of all that we send. */
export const transactionGasMax = 1n << 24n
/** A number or a hash, or the refusal of one. */
const shortBytesMax = 64 * 1024
/** The memory that the gas of a call can pay for, in hexadecimal digits. */
const callBytesMax = 24 * 1024 * 1024
/** Code, or the hashes of a block's transactions. */
const longBytesMax = 8 * 1024 * 1024

const bytesMaxFor = ({ method, params }: RpcRequest): number => {
  switch (method) {
    case 'eth_blockNumber':
    case 'eth_chainId':
    case 'eth_gasPrice':
    case 'eth_getBalance':
    case 'eth_getTransactionCount':
    case 'eth_maxPriorityFeePerGas':
    case 'eth_sendRawTransaction':
      return shortBytesMax
    case 'eth_call':
      return callBytesMax
    case 'eth_estimateGas':
    case 'eth_getCode':
      return longBytesMax
    case 'eth_getBlockByNumber':
      return params[1] === true ? replyBytesMax : longBytesMax
    case 'eth_getBlockByHash':
    case 'eth_getBlockReceipts':
    case 'eth_getLogs':
    case 'eth_getTransactionByHash':
    case 'eth_getTransactionReceipt':
      return replyBytesMax
  }
}

/** No more is read than what was asked can need: what a node sends beyond that costs everybody time. */
const bytesMaxOf = (requests: readonly RpcRequest[]): number =>
  Math.min(
    replyBytesMax,
    requests.reduce((sum, each) => sum + bytesMaxFor(each), 0),
  )

/**
 * More than a transaction of a private network needs, whose blocks may be larger than public ones and which need not know
 * the limit of one transaction (EIP-7825). At 100 to 200 million units a second, a node has used it up in one to three.
 */
const callGasMax = quantity(1n << 28n)

/** A contract that goes round for ever ends at its gas, before the time that its node has. */
const paramsOf = ({ method, params }: RpcRequest): readonly unknown[] => {
  if (method !== 'eth_call' && method !== 'eth_estimateGas') return params
  const [call, ...rest] = params
  return [{ gas: callGasMax, ...(call as object) }, ...rest]
}

export type Limits = {
  readonly timeoutMs: number
  /** Ends the exchange when nobody wants its answer any more. */
  readonly signal?: AbortSignal | undefined
}

type Reply = Readonly<Record<string, unknown>>

/**
 * Outcomes by the place of their requests; those that the node left unanswered are missing.
 *
 * @throws RpcFailure `too_large` if the node refuses so many calls at once, or tells too much; `unreachable`,
 * `rate_limited`; `malformed` if what it answers to one call is no JSON; another if it refuses all of them for that
 */
export const exchange = async <M extends Method>(
  url: string,
  requests: readonly RpcRequest<M>[],
  limits: Limits,
): Promise<ReadonlyMap<number, RpcOutcome<ResultOf<M>>>> => {
  const calls = requests.map((request, id) => ({
    jsonrpc: '2.0',
    id,
    ...request,
    params: paramsOf(request),
  }))
  const body = JSON.stringify(calls.length === 1 ? calls[0] : calls)
  const text = await inSpan(`rpc ${methodsOf(requests)}`, spanOptions(url, requests), () =>
    post(url, body, { ...limits, bytesMax: bytesMaxOf(requests) }),
  )
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    const kind = requests.length === 1 ? 'malformed' : 'unreachable'
    throw new RpcFailure(kind, 'the node did not answer JSON')
  }
  const replies = repliesById(Array.isArray(reply) ? reply : [reply])
  refuseWhole(requests.length, Array.isArray(reply), replies)
  const outcomes = new Map<number, RpcOutcome<ResultOf<M>>>()
  for (const [id, { method }] of requests.entries()) {
    const each = replies.get(id)
    if (each !== undefined) outcomes.set(id, outcomeOf(method, each))
  }
  return outcomes
}

/** Replies may come in any order. */
const repliesById = (replies: readonly unknown[]): ReadonlyMap<unknown, Reply> => {
  const byId = new Map<unknown, Reply>()
  for (const reply of replies) {
    if (typeof reply === 'object' && reply !== null)
      byId.set((reply as Reply)['id'], reply as Reply)
  }
  return byId
}

/**
 * One error in answer to many calls concerns the batch: nodes that refuse it answer an object, or an array of one with
 * the id of the first call.
 */
const refuseWhole = (
  count: number,
  isArray: boolean,
  replies: ReadonlyMap<unknown, Reply>,
): void => {
  const [only] = replies.values()
  const error = replies.size === 1 ? only?.['error'] : undefined
  if (error === undefined || error === null) return
  if (count > 1) throw classifyBatchError(error)
  if (!isArray && !replies.has(0)) throw classifyRpcError(error)
}

const outcomeOf = <M extends Method>(method: M, reply: Reply): RpcOutcome<ResultOf<M>> => {
  const { error, result } = reply
  if (error !== undefined && error !== null) return { failure: classifyRpcError(error) }
  try {
    return { result: readResult(method, result ?? null) }
  } catch (failure) {
    if (failure instanceof RpcFailure) return { failure }
    throw failure
  }
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

const post = async (
  url: string,
  body: string,
  { timeoutMs, signal, bytesMax }: Limits & { readonly bytesMax: number },
): Promise<string> => {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' },
      body,
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      redirect: 'error',
      // The runtime would inflate a reply as a whole: a few bytes may stand for gigabytes.
      decompress: false,
    })
    const text = await boundedText(response, bytesMax)
    // Some nodes answer a JSON-RPC error with status 400 or 500: then the body counts, unless they did not look at it.
    const isJson = text.startsWith('{') || text.startsWith('[')
    if (!response.ok && (!isJson || response.status === 429)) {
      throw classifyHttpStatus(response.status)
    }
    return text
  } catch (error) {
    if (error instanceof RpcFailure) throw error
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    throw isTimeout
      ? new RpcFailure('timed_out', `the node did not answer in ${timeoutMs} ms`)
      : new RpcFailure('unreachable', 'the node cannot be reached')
  }
}

/** Counts while reading: a length that is told may be absent, or wrong where the body is compressed. */
const boundedText = async (response: Response, bytesMax: number): Promise<string> => {
  const { bytes, isWhole } = await readUnzipped(response.body, bytesMax)
  if (!isWhole) throw new RpcFailure('too_large', 'the node’s reply is too large')
  return new TextDecoder().decode(bytes)
}
