/** What the bank can be told to do wrong, so that a participant meets it on purpose. */
import type { MailboxFaults } from './mailbox.ts'
import type { Channel } from './options.ts'

export const FAULT_KINDS = [
  /** Answers `delayMs` later. */
  'latency',
  /** Does what was asked, then answers 500: a message sent is stored, a batch read is on its way. */
  'error_after_storing',
  /** Answers 503 and does nothing. */
  'unavailable',
  /** Does what was asked, and cuts the connection in the middle of the answer. */
  'cut',
  /** Answers 429 with Retry-After and does nothing. */
  'rate_limited',
  /** Delivers a message once more. */
  'duplicate',
  /** Delivers waiting messages in another order. */
  'reorder',
  /** Closes the connection of a request and does nothing. */
  'refuse_connections',
] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

export type Fault = {
  readonly kind: FaultKind
  /** Only there; on both when absent. */
  readonly channel?: Channel
  /** Only requests of this kind. */
  readonly operation?: 'send' | 'read'
  /** Chance per request or message, 0 to 1; certain when absent. */
  readonly probability?: number
  /** Times left to strike; unlimited when absent. */
  readonly times?: number
  /** Of `latency`. */
  readonly delayMs?: number
}

export type FaultPlan = {
  /** Replaces all faults. */
  readonly set: (faults: readonly Fault[]) => void
  readonly active: () => readonly Fault[]
  /** The fault of one of these kinds that strikes now, or undefined. */
  readonly strike: (
    kinds: readonly FaultKind[],
    channel: Channel,
    operation?: 'send' | 'read',
  ) => Fault | undefined
  readonly mailbox: (channel: Channel) => MailboxFaults
}

/** @param random source of chance in [0, 1), so that a run can be repeated */
export const createFaultPlan = (random: () => number): FaultPlan => {
  let entries: { readonly fault: Fault; left: number }[] = []

  const strike: FaultPlan['strike'] = (kinds, channel, operation) => {
    for (const entry of entries) {
      const { fault } = entry
      if (entry.left <= 0 || !kinds.includes(fault.kind)) continue
      if (fault.channel !== undefined && fault.channel !== channel) continue
      if (fault.operation !== undefined && fault.operation !== operation) continue
      if (fault.probability !== undefined && random() >= fault.probability) continue
      entry.left--
      return fault
    }
    return undefined
  }

  const shuffle = <T>(items: T[]): void => {
    for (let i = items.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1))
      const kept = items[i] as T
      items[i] = items[j] as T
      items[j] = kept
    }
  }

  return {
    set: (faults) => {
      entries = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }))
    },
    active: () => entries.filter(({ left }) => left > 0).map(({ fault }) => fault),
    strike,
    mailbox: (channel) => ({
      duplicates: () => strike(['duplicate'], channel, 'read') !== undefined,
      reorders: () => (strike(['reorder'], channel, 'read') === undefined ? undefined : shuffle),
    }),
  }
}
