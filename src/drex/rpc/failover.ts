/** One attempt at one node after another, until one succeeds or one fails for good. */
import { inTimeOr } from '#src/platform/runtime/index.ts'
import type { Choice } from './choice.ts'
import { isOfNode, isRetryable, RpcFailure } from './errors.ts'

export type FailoverOptions<Node> = {
  readonly nodes: readonly Node[]
  readonly choice: Choice<Node>
  /** Over all nodes. */
  readonly attemptsMax: number
  /** The pause before a node is tried again. @param round from 0 */
  readonly backoffMs: (round: number) => number
  /** Called for a node that failed for now. */
  readonly onFailure: (node: Node) => void
}

type Told<Node, T> = { readonly node: Node } & ({ readonly value: T } | { readonly error: unknown })

/**
 * The first round tries each node without a pause, and does not wait for one that hangs: what is asked changes nothing
 * twice, so that the next is asked beside it, and whoever succeeds first decides.
 * @param patienceMs how long one is waited for before the next is asked beside it
 * @throws RpcFailure the worst of all, or the first that no other node would answer otherwise; that no node takes the
 * question only where each has said so
 */
export const createFailover = <Node>({
  nodes,
  choice,
  attemptsMax,
  backoffMs,
  onFailure,
}: FailoverOptions<Node>) => {
  const tell = async <T>(
    node: Node,
    attempt: (node: Node) => Promise<T>,
  ): Promise<Told<Node, T>> => {
    try {
      return { node, value: await attempt(node) }
    } catch (error) {
      if (error instanceof RpcFailure && isRetryable(error.kind)) {
        choice.went(node, false)
        onFailure(node)
      }
      return { node, error }
    }
  }

  return async <T>(patienceMs: number, attempt: (node: Node) => Promise<T>): Promise<T> => {
    let last: RpcFailure | undefined
    let latest: Node | undefined
    const running = new Map<Node, Promise<Told<Node, T>>>()
    const tried = new Set<Node>()
    /** Nodes that do not take the question: we do not ask them again, and they cost no attempt. */
    const unable = new Set<Node>()
    for (let attempts = 0; ; ) {
      const allowed = attemptsMax + unable.size
      const isFirstRound = attempts < nodes.length
      if (attempts < allowed && (isFirstRound || running.size === 0)) {
        if (!isFirstRound) {
          await Bun.sleep(backoffMs(attempts - nodes.length))
          if (tried.size === nodes.length) {
            tried.clear()
            for (const node of unable) tried.add(node)
          }
        }
        latest = choice.best(tried)
        if (latest !== undefined) {
          attempts++
          tried.add(latest)
          running.set(latest, tell(latest, attempt))
        }
      }
      if (running.size === 0) {
        throw last ?? new RpcFailure('unreachable', 'no node is configured')
      }
      const hasNext = attempts < Math.min(allowed, nodes.length)
      const told = await firstOf([...running.values()], hasNext ? patienceMs : undefined)
      if (told === undefined) {
        if (latest !== undefined) choice.went(latest, false)
        continue
      }
      running.delete(told.node)
      if ('value' in told) return told.value
      const { error } = told
      if (!(error instanceof RpcFailure)) throw error
      if (isOfNode(error.kind)) unable.add(told.node)
      else if (!isRetryable(error.kind)) throw error
      last = worse(last, error)
      if (unable.size === nodes.length) throw last
    }
  }
}

/** @returns undefined if none has come in this time */
const firstOf = <T>(
  promises: readonly Promise<T>[],
  withinMs: number | undefined,
): Promise<T | undefined> => {
  const first = Promise.race(promises)
  return withinMs === undefined ? first : inTimeOr(first, withinMs, undefined)
}

/**
 * That a node is on another chain says more than that the others were away. That one has no state, or does not take the
 * question, says nothing of those that were away, which may have it, or take it.
 */
const worse = (last: RpcFailure | undefined, next: RpcFailure): RpcFailure =>
  last?.kind === 'wrong_chain' ||
  (last !== undefined && (next.kind === 'no_state' || isOfNode(next.kind)))
    ? last
    : next
