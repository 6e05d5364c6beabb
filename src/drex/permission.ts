/** Asks a permissioned network's account rules before anything is signed for it. */
import type { Hex } from './evm/hex.ts'
import { encodeTransactionAllowed } from './evm/token-call.ts'
import type { RpcClient, RpcOutcome } from './rpc/client.ts'
import { isRetryable } from './rpc/errors.ts'
import type { RpcRequest } from './rpc/exchange.ts'

export type Asked = {
  readonly sender: Hex
  /** Undefined creates a contract. */
  readonly target: Hex | undefined
  readonly payload: Hex
}

/** `unknown`: no node answered, so nothing is decided. */
export type Verdict = 'allowed' | 'refused' | 'unknown'

export type Permission = {
  /** The question about one transaction, for a caller that asks it in a batch of its own. */
  readonly question: (asked: Asked) => RpcRequest<'eth_call'>
  /** One verdict per question, in order; immediate if the network has no rules. */
  readonly ask: (asked: readonly Asked[]) => Promise<readonly Verdict[]>
}

/** How long a permission holds without asking again. Refusals are not kept: they end with one entry. */
export const allowedMs = 10_000
const keptMax = 10_000
const none: Hex = `0x${'0'.repeat(40)}`
const refused = /^0x0{64}$/

/** @param rules address of the account rules, if the network has them */
export const createPermission = (
  rules: Hex | undefined,
  rpc: RpcClient,
  nowMs: () => number = () => performance.now(),
): Permission => {
  const allowedUntilMs = new Map<string, number>()
  const isKnown = (each: Asked): boolean => {
    // The rules decide for themselves who may change them.
    if (rules === undefined || each.target === rules) return true
    return (allowedUntilMs.get(nameOf(each)) ?? 0) > nowMs()
  }
  const keep = (name: string): void => {
    allowedUntilMs.delete(name)
    if (allowedUntilMs.size >= keptMax) {
      const oldest = allowedUntilMs.keys().next().value
      if (oldest !== undefined) allowedUntilMs.delete(oldest)
    }
    allowedUntilMs.set(name, nowMs() + allowedMs)
  }
  const questionOf = ({ sender, target, payload }: Asked): RpcRequest<'eth_call'> => ({
    method: 'eth_call',
    params: [
      { to: rules, data: encodeTransactionAllowed(sender, target ?? none, payload) },
      'latest',
    ],
  })
  return {
    question: questionOf,
    async ask(asked) {
      const open = new Map(
        asked.filter((each) => !isKnown(each)).map((each) => [nameOf(each), each]),
      )
      if (open.size === 0) return asked.map(() => 'allowed')
      const names = [...open.keys()]
      const outcomes = await rpc.batch([...open.values()].map(questionOf))
      const verdicts = new Map<string, Verdict>()
      for (const [i, name] of names.entries()) {
        const outcome = outcomes[i]
        const verdict = outcome === undefined ? 'unknown' : verdictOf(outcome)
        verdicts.set(name, verdict)
        if (verdict === 'allowed') keep(name)
      }
      return asked.map((each) => verdicts.get(nameOf(each)) ?? 'allowed')
    },
  }
}

const nameOf = ({ sender, target }: Asked): string => `${sender}${target ?? ''}`

/** Only a plain no refuses. Rules without this question leave the decision to the node. */
export const verdictOf = (outcome: RpcOutcome<Hex>): Verdict => {
  if ('failure' in outcome) return isRetryable(outcome.failure.kind) ? 'unknown' : 'allowed'
  return refused.test(outcome.result) ? 'refused' : 'allowed'
}
