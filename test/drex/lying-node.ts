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
    return { jsonrpc: '2.0', id: call.id, ...outcome }
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
