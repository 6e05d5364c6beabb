/** JSON-RPC 2.0 over HTTP, single calls and batches, in front of one engine. */
import { neverIdle, urlHost } from '../counterparty.ts'
import {
  type Engine,
  type EngineCall,
  hashOfRaw,
  type RpcError,
  type RpcOutcome,
  sendMethod,
} from './engine.ts'
import {
  createFaultPlan,
  type FaultKind,
  type FaultPlan,
  internalError,
  knownTransaction,
} from './faults.ts'

/** Besu's default for `rpc-http-max-batch-size`. */
export const batchCallsMax = 1024
const bodyBytesMax = 8 * 1024 * 1024

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }
type Reply = { readonly jsonrpc: '2.0'; readonly id: unknown } & RpcOutcome

/** A call, and the fault that strikes it. */
type Drawn = { readonly call: Call | undefined; readonly fault: FaultKind | undefined }

/** Faults that end the whole HTTP exchange, before anything of it is done. */
const refusing: ReadonlySet<FaultKind | undefined> = new Set(['unavailable', 'rate_limited'])
/** And after all of it. */
const losing: ReadonlySet<FaultKind | undefined> = new Set(['lost_reply', 'garbage'])

export type ChainServer = {
  /** `http://host:port` */
  readonly url: string
  readonly faults: FaultPlan
  /** Calls so far, by method; `refused`: of methods that it does not have. */
  readonly calls: () => Readonly<Record<string, number>>
  readonly stop: () => Promise<void>
}

/** The address where a chain is served. */
export type ChainPlace = {
  /** 127.0.0.1 when absent. */
  readonly host?: string | undefined
  /** 0, or absent: a free one. */
  readonly port?: number
}

/** Errors of methods that do not exist, or that we do not let through. */
const missing: ReadonlySet<number> = new Set([-32601, -32604])

/** @param options.random chance for faults; `Math.random` when absent */
export const serveChain = (
  engine: Engine,
  options: ChainPlace & { readonly random?: () => number } = {},
): ChainServer => {
  const faults = createFaultPlan(options.random ?? Math.random)
  const hostname = options.host ?? '127.0.0.1'
  const calls: Record<string, number> = {}
  const count = (method: string, by = 1): void => {
    calls[method] = (calls[method] ?? 0) + by
  }
  const counting: Engine = {
    ...engine,
    async request(method, params) {
      const outcome = await engine.request(method, params)
      // Names that callers make up would be kept for ever.
      count('error' in outcome && missing.has(outcome.error.code) ? 'refused' : method)
      return outcome
    },
    ask: (asked) => {
      for (const { method } of asked) count(method)
      return engine.ask(asked)
    },
    send: (raws) => {
      count(sendMethod, raws.length)
      return engine.send(raws)
    },
  }
  const server = Bun.serve({
    idleTimeout: neverIdle,
    hostname,
    port: options.port ?? 0,
    maxRequestBodySize: bodyBytesMax,
    fetch: (request) => answer(counting, faults, request),
  })
  return {
    url: `http://${urlHost(hostname)}:${server.port}`,
    faults,
    calls: () => calls,
    stop: () => server.stop(true),
  }
}

const answer = async (engine: Engine, faults: FaultPlan, request: Request): Promise<Response> => {
  if (request.method !== 'POST') return new Response('POST only', { status: 405 })
  let body: unknown
  try {
    body = await request.json()
  } catch {
    return Response.json(failure(null, { code: -32700, message: 'Parse error' }))
  }
  const batch = Array.isArray(body)
  const items: readonly unknown[] = Array.isArray(body) ? body : [body]
  if (items.length === 0 || items.length > batchCallsMax) {
    return Response.json(failure(null, { code: -32005, message: 'Batch size exceeds limit' }))
  }
  const drawn = items.map((item): Drawn => {
    const call = readCall(item)
    return { call, fault: call && faults.strike(call.method) }
  })
  const refusal = drawn.find(({ fault }) => refusing.has(fault))
  if (refusal !== undefined) return end(refusal.fault)
  const together = gathering(engine)
  const replies = drawn.map((each) => perform(together.engine, each))
  together.ask()
  const answered = await Promise.all(replies)
  const loss = drawn.find(({ fault }) => losing.has(fault))
  return loss === undefined ? Response.json(batch ? answered : answered[0]) : end(loss.fault)
}

/** These change nothing, so the moment of the question does not matter. */
const questions: ReadonlySet<string> = new Set([
  ...['eth_call', 'eth_getBalance', 'eth_getBlockByHash', 'eth_getBlockByNumber', 'eth_getCode'],
  ...['eth_getTransactionCount', 'eth_getTransactionReceipt'],
])

/** An engine that gathers questions, and transactions, until `ask`: together, each costs it less. */
const gathering = (engine: Engine): { readonly engine: Engine; readonly ask: () => void } => {
  const calls: EngineCall[] = []
  const raws: string[] = []
  const asked = Promise.withResolvers<readonly RpcOutcome[]>()
  const sent = Promise.withResolvers<readonly RpcOutcome[]>()
  return {
    engine: {
      ...engine,
      request(method, params = []) {
        const [raw] = params
        if (method === sendMethod && typeof raw === 'string') {
          const at = raws.push(raw) - 1
          return sent.promise.then((outcomes) => outcomes[at]!)
        }
        if (!questions.has(method)) return engine.request(method, params)
        const at = calls.push({ method, params }) - 1
        return asked.promise.then((outcomes) => outcomes[at]!)
      },
    },
    ask() {
      if (raws.length > 0) sent.resolve(engine.send(raws))
      if (calls.length > 0) asked.resolve(engine.ask(calls))
    },
  }
}

const end = (fault: FaultKind | undefined): Response => {
  switch (fault) {
    case 'unavailable':
      return new Response('unavailable', { status: 503 })
    case 'rate_limited':
      return new Response('slow down', { status: 429, headers: { 'retry-after': '0' } })
    case 'lost_reply':
      return new Response('gateway timeout', { status: 504 })
    default:
      return new Response('<html>Bad gateway</html>')
  }
}

const perform = async (engine: Engine, { call, fault }: Drawn): Promise<Reply> => {
  if (call === undefined) return failure(null, { code: -32600, message: 'Invalid Request' })
  switch (fault) {
    case 'internal_error':
      return failure(call.id, internalError)
    case 'dropped':
      return { jsonrpc: '2.0', id: call.id, result: hashOf(call.params[0]) }
    case 'known':
      await run(engine, call)
      return failure(call.id, knownTransaction)
    default:
      return { jsonrpc: '2.0', id: call.id, ...(await run(engine, call)) }
  }
}

const run = (engine: Engine, call: Call): Promise<RpcOutcome> =>
  call.method === 'eth_getBlockReceipts'
    ? blockReceipts(engine, call.params[0])
    : engine.request(call.method, call.params)

/** The engine lacks this method, which the real network's client has. */
const blockReceipts = async (engine: Engine, tag: unknown): Promise<RpcOutcome> => {
  const isHash = typeof tag === 'string' && tag.length === 66
  const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  const block = await engine.request(method, [tag, false])
  if ('error' in block) return block
  if (block.result === null) return { result: null }
  const { transactions } = block.result as { readonly transactions: readonly string[] }
  const receipts = await engine.ask(
    transactions.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  return { result: receipts.map((each) => ('result' in each ? each.result : null)) }
}

const hashOf = (raw: unknown): string => hashOfRaw(typeof raw === 'string' ? raw : '0x')

const readCall = (item: unknown): Call | undefined => {
  if (typeof item !== 'object' || item === null) return undefined
  const { id, method, params } = item as Readonly<Record<string, unknown>>
  if (typeof method !== 'string') return undefined
  return { id: id ?? null, method, params: Array.isArray(params) ? params : [] }
}

const failure = (id: unknown, error: RpcError): Reply => ({ jsonrpc: '2.0', id, error })
