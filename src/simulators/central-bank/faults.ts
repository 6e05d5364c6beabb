/** Faults that a test asks the bank for. */

import { createStrikes, type Strike } from '../strikes.ts'
import type { MailboxFaults } from './mailbox.ts'
import type { Channel } from './options.ts'

export const faultKinds = [
  /** Answers `delayMs` later. */
  'latency',
  /** Handles the request, then answers 500: a sent message is stored, a read batch is on its way. */
  'error_after_storing',
  /** Answers 503 and does nothing. */
  'unavailable',
  /** Handles the request, and cuts the connection in the middle of the answer. */
  'cut',
  /** Answers 429 with Retry-After and does nothing. */
  'rate_limited',
  /** Delivers a message once more. */
  'duplicate',
  /** Delivers waiting messages in another order. */
  'reorder',
  /** Reports an entry with a cent more than its book has. */
  'entry_amount',
  /** Reports that there is no entry, though its book has it. */
  'entry_missing',
  /** A payer refuses a mandate, or what ends one. */
  'mandate_refused',
  /** A payer says nothing to a mandate but that it was received. */
  'mandate_pending',
  /** A payer's institution answers nothing to a mandate, or to what ends one. */
  'mandate_unanswered',
  /** A payer's institution refuses to schedule a charge. */
  'charge_refused',
  /** The payer's institution answers nothing to a pain.013. */
  'charge_unanswered',
  /** The payer's institution does not pay a charge that it has scheduled. */
  'charge_unpaid',
  /** The payer's institution does not take a charge back. */
  'cancellation_refused',
  /** Closes the connection of a request and does nothing. */
  'refuse_connections',
] as const

type FaultKind = (typeof faultKinds)[number]

/** The operations that a kind strikes in, where it does not in all. */
export const struckOperations: Partial<Record<FaultKind, readonly string[]>> = {
  duplicate: ['read'],
  reorder: ['read'],
  entry_amount: [],
  entry_missing: [],
  mandate_refused: [],
  mandate_pending: [],
  mandate_unanswered: [],
  charge_refused: [],
  charge_unanswered: [],
  charge_unpaid: [],
  cancellation_refused: [],
}

export type Fault = Strike & {
  readonly kind: FaultKind
  /** Both channels when absent. */
  readonly channel?: Channel
  /** Only requests of this kind. */
  readonly operation?: 'send' | 'read'
  /** Reason of a refusal, one of the codes of the message that tells it; each kind has a default. */
  readonly code?: string
  /** For `latency`. */
  readonly delayMs?: number
}

/** @param random source of chance in [0, 1), so that a run can be repeated */
export const createFaultPlan = (random: () => number) => {
  const strikes = createStrikes<Fault>(random)

  /** The fault of one of these kinds that strikes now, or undefined. */
  const strike = (
    kinds: readonly FaultKind[],
    channel: Channel,
    operation?: 'send' | 'read',
  ): Fault | undefined =>
    strikes.strike(
      kinds,
      (fault) =>
        (fault.channel ?? channel) === channel && (fault.operation ?? operation) === operation,
    )

  const shuffle = <T>(items: T[]): void => {
    for (let i = items.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1))
      const kept = items[i] as T
      items[i] = items[j] as T
      items[j] = kept
    }
  }

  return {
    set: strikes.set,
    active: strikes.active,
    strike,
    entry: <O extends { readonly cents: bigint }>(
      operation: O,
      channel: Channel,
    ): O | undefined => {
      if (strike(['entry_missing'], channel) !== undefined) return undefined
      if (strike(['entry_amount'], channel) === undefined) return operation
      return { ...operation, cents: operation.cents + 1n }
    },
    mailbox: (channel: Channel): MailboxFaults => ({
      duplicates: () => strike(['duplicate'], channel, 'read') !== undefined,
      reorders: () => (strike(['reorder'], channel, 'read') === undefined ? undefined : shuffle),
    }),
  }
}

export type FaultPlan = ReturnType<typeof createFaultPlan>
