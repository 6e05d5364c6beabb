/** Faults that a test asks the simulated node for. */
import { createStrikes, type Strike } from '../strikes.ts'
import { type RpcError, sendMethod } from './engine.ts'

export const faultKinds = [
  /** Answers HTTP 503 and does nothing. */
  'unavailable',
  /** Handles the call, then answers 504: the caller cannot know. */
  'lost_reply',
  /** Answers 429. */
  'rate_limited',
  /** Answers a JSON-RPC internal error and does nothing. */
  'internal_error',
  /** Answers what is sent with the transaction's hash, and forgets the transaction. */
  'dropped',
  /** Answers what is sent that the transaction is already known, after accepting it. */
  'known',
  /** Answers text that is not JSON. */
  'garbage',
] as const

export type FaultKind = (typeof faultKinds)[number]

type Fault = Strike & {
  readonly kind: FaultKind
  /** The fault concerns only this method; any method when absent. */
  readonly method?: string
}

/** Say something of a transaction, and leave other calls alone. */
const ofTransactions: ReadonlySet<FaultKind> = new Set(['dropped', 'known'])

/** @param random source of chance in [0, 1), so that a run can be repeated */
export const createFaultPlan = (random: () => number) => {
  const strikes = createStrikes<Fault>(random)
  return {
    set: strikes.set,
    /** @returns the fault that strikes this call, or undefined */
    strike: (method: string): FaultKind | undefined =>
      strikes.strike(
        faultKinds,
        (fault) =>
          (fault.method ?? method) === method &&
          (method === sendMethod || !ofTransactions.has(fault.kind)),
      )?.kind,
  }
}

export type FaultPlan = ReturnType<typeof createFaultPlan>

export const internalError: RpcError = { code: -32603, message: 'Internal error' }
export const knownTransaction: RpcError = { code: -32000, message: 'Known transaction' }
