import type { Queryable } from '#src/platform/database/index.ts'
import type { Traceparent } from '#src/platform/observe/index.ts'

/** A message whose effect has to be taken back, as whoever sent it knows it. */
export type NewReversal = {
  readonly transactionId: string
  /** Of configuration: `neta`. */
  readonly network: string
  /**
   * What is undone. `void`: the void itself is repeated, for nobody knows whether it was done; the original is
   * then the authorization.
   */
  readonly reverses: 'authorization' | 'capture' | 'void'
  readonly cardToken: string
  readonly amountCents: bigint
  /** ISO 4217: `BRL`. */
  readonly currency: string
  readonly originalMti: '0100' | '0200' | '0400'
  /** DE 11 of the original. */
  readonly originalStan: string
  /** DE 7 of the original, MMDDhhmmss. */
  readonly originalTransmission: string
  readonly rrn: string
  readonly authCode: string | undefined
  readonly merchantId: string
  readonly terminalId: string | undefined
  /** The trace that its attempts continue: that of the request whose message is taken back. */
  readonly traceparent: Traceparent | undefined
}

/** Commits reversals with whatever else the transaction does. */
export type InsertReversals = (tx: Queryable, rows: readonly NewReversal[]) => Promise<void>

/** A reversal as it is stored, while it is pending. */
export type Reversal = Omit<NewReversal, 'authCode' | 'terminalId' | 'traceparent'> & {
  readonly id: bigint
  readonly authCode: string | null
  readonly terminalId: string | null
  readonly traceparent: Traceparent | null
  /** Times that bytes of it may have reached the network. */
  readonly attempts: number
  /** DE 11 and DE 7 of the reversal itself; null before its first attempt. */
  readonly stan: string | null
  readonly transmission: string | null
  /** DE 39 of the last answer. */
  readonly responseCode: string | null
  readonly createdAt: Date
}

/** `expired`: no network confirmed it in time; somebody has to ask. */
export type ReversalOutcome = 'confirmed' | 'expired'
