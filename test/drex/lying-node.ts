/** A node between the gateway and a chain, which says what a test wants it to. */
import type { RpcOutcome } from '../../src/simulators/chain/engine.ts'
import type { Chain } from '../../src/simulators/chain/index.ts'

type NodeCall = { readonly method: string; readonly params: readonly unknown[] }

/** @param answer asks the chain itself @returns undefined to answer what the chain does */
export type Lie = (
  call: NodeCall,
  answer: () => Promise<RpcOutcome>,
) => RpcOutcome | undefined | Promise<RpcOutcome | undefined>

export type LyingNode = {
  readonly url: string
  /** Sets the lie about single calls; undefined ends it. */
  readonly lie: (lie: Lie | undefined) => void
  /** Sets the lie about whole exchanges: a response in place of all answers. */
  readonly refuse: (refuse: ((calls: number) => Response | undefined) | undefined) => void
  /** Puts another chain behind the same address. */
  readonly move: (chain: Pick<Chain, 'request'>) => void
  /** Calls answered so far, by method. */
  readonly asked: ReadonlyMap<string, number>
  readonly stop: () => Promise<void>
}

export const createLyingNode = (first: Pick<Chain, 'request'>): LyingNode => {
  let chain = first
  let lie: Lie | undefined
  let refuse: ((calls: number) => Response | undefined) | undefined
  const asked = new Map<string, number>()
  const perform = async (call: NodeCall & { readonly id: unknown }) => {
    asked.set(call.method, (asked.get(call.method) ?? 0) + 1)
    const answer = () => chain.request(call.method, call.params)
    const outcome = (await lie?.(call, answer)) ?? (await answer())
    return { ...outcome, jsonrpc: '2.0', id: call.id }
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as NodeCall & { id: unknown }
      const calls = Array.isArray(body) ? (body as (typeof body)[]) : [body]
      const refusal = refuse?.(calls.length)
      if (refusal !== undefined) return refusal
      const replies = await Promise.all(calls.map(perform))
      return Response.json(Array.isArray(body) ? replies : replies[0])
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    lie(next) {
      lie = next
    },
    refuse(next) {
      refuse = next
    },
    move(next) {
      chain = next
    },
    stop: () => server.stop(true),
  }
}

type Outcome = { readonly result: unknown } | { readonly error: unknown }

/** What a node can say wrong without saying that money moved which did not: nothing of it may become an end. */
const lies: Readonly<Record<string, (outcome: Outcome) => unknown>> = {
  eth_blockNumber: () => 'latest',
  eth_call: () => '0x1',
  eth_getBlockByNumber: () => ({ hash: '0x' }),
  eth_getCode: () => null,
  eth_getTransactionCount: () => '0x',
  eth_getTransactionReceipt: () => null,
}

/** A receipt whose block is not on the chain, one of another form, and a head of some blocks ago. */
const twists: Readonly<
  Record<string, (result: unknown, pick: (below: number) => number) => unknown>
> = {
  eth_blockNumber: (head, pick) => `0x${Math.max(0, Number(head) - pick(5)).toString(16)}`,
  eth_getTransactionReceipt: (receipt, pick) =>
    pick(2) === 0
      ? { ...(receipt as object), blockHash: `0x${'ab'.repeat(32)}` }
      : { ...(receipt as object), status: undefined },
}

/** Has a node lie now and then, and refuse some exchanges, until it is told otherwise. */
export const lieAtRandom = (node: LyingNode, pick: (below: number) => number): void => {
  node.refuse((calls) => {
    if (calls > 7 && pick(4) === 0) return new Response('too many', { status: 413 })
    return pick(25) === 0 ? new Response('<html>', { status: 502 }) : undefined
  })
  node.lie(async ({ method }, answer) => {
    const outcome = await answer()
    const lie = lies[method]
    if (lie !== undefined && pick(12) === 0) return { result: lie(outcome) }
    const twist = twists[method]
    if (twist === undefined || !('result' in outcome) || outcome.result === null) return outcome
    return pick(8) === 0 ? { result: twist(outcome.result, pick) } : outcome
  })
}
