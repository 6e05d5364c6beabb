/** Faults that a test asks the directory for. */
import { createStrikes, type Strike } from '../strikes.ts'

export const faultKinds = [
  /** Answers `delayMs` later. */
  'latency',
  /** Does what was asked, then answers 500. */
  'error_after_storing',
  /** Answers 503 with Retry-After and does nothing. */
  'unavailable',
  /** Answers 429 and does nothing. */
  'rate_limited',
  /** Answers 409, as while something else is done with what was asked about, and does nothing. */
  'conflict',
  /** Answers 403 with a page instead of a problem, as a proxy in front would, and does nothing. */
  'proxy_refusal',
  /** Changes a value of an answer after it was signed. */
  'wrong_signature',
  /** Leaves the signature out. */
  'no_signature',
  /** Answers with the entry of another key. */
  'other_key',
  /** Answers with another claim, or a list of others. */
  'other_claim',
  /** Shows claims as they were when they were opened. */
  'stale_claim',
  /** Says of a list that there is more. */
  'endless_list',
  /** Answers with what is no XML. */
  'garbage',
  /** Leaves out of a list what happened within the last minute. */
  'late_list',
  /** Says of a list that it goes on, and gives the same page again. */
  'repeated_list',
  /** Says of a file of CIDs that it could not be made. */
  'failed_file',
  /** Leaves a CID out of a file of CIDs. */
  'lost_cid',
  /** Changes a file of CIDs on its way. */
  'damaged_file',
] as const

type FaultKind = (typeof faultKinds)[number]

/** The operations that a kind strikes in, where it does not in all. */
export const struckOperations: Partial<Record<FaultKind, readonly string[]>> = {
  late_list: ['lookup', 'claim'],
  repeated_list: ['lookup', 'claim'],
  failed_file: ['lookup'],
  lost_cid: ['lookup'],
  damaged_file: ['lookup'],
}

export type Fault = Strike & {
  readonly kind: FaultKind
  /** Only lookups, only changes of entries, or only operations on claims. */
  readonly operation?: 'lookup' | 'write' | 'claim'
  /** For `latency`. */
  readonly delayMs?: number
}

/** @param random source of chance in [0, 1), so that a run can be repeated */
export const createFaultPlan = (random: () => number) => {
  const strikes = createStrikes<Fault>(random)
  return {
    ...strikes,
    /** The fault of one of these kinds that strikes now, or undefined. */
    strike: (kinds: readonly FaultKind[], operation: Fault['operation']): Fault | undefined =>
      strikes.strike(kinds, (fault) => (fault.operation ?? operation) === operation),
  }
}

export type FaultPlan = ReturnType<typeof createFaultPlan>
