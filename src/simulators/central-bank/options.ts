import type { Revision } from '#codecs/iso20022'
import { type CounterpartyOptions, type Resolved, withDefaults } from '../counterparty.ts'

/** The two redundant ways to the message interface. */
export type Channel = 'primary' | 'secondary'

type Limits = {
  /** Messages that may wait in all. At the limit, unread mailboxes make room, or the bank receives no more (503). */
  readonly waitingMessagesMax: number
  /** The same for one participant on one channel. At the limit it gets no more, or loses the oldest if nobody reads. */
  readonly mailboxMessagesMax: number
  /** Messages whose BizMsgIdr the bank remembers, to recognise a repetition. */
  readonly rememberedMessagesMax: number
  /** Operations in the book; the oldest finished ones leave it. */
  readonly bookOperationsMax: number
}

export type CentralBankOptions = CounterpartyOptions & {
  /** As `port`. */
  readonly secondaryPort?: number
  /** The bank writes its own messages in the versions of this revision; it reads every known version. */
  readonly revision?: Revision
  /** The directory that payers' institutions ask whose key it is, with the version of its API. */
  readonly directory?: string | undefined
  /** Checks messages against their schema; on when absent. */
  readonly validate?: boolean
  /** The bank rejects a payment with AB03 so long after it came. */
  readonly settlementLimitMs?: number | undefined
  /** The same for scheduled payments (PAGAGD). */
  readonly scheduledLimitMs?: number | undefined
  /** Counts the time of priority payments from their AccptncDtTm, as the real one does; old samples are late then. */
  readonly fromAcceptance?: boolean
  /** Takes EndToEndIds and RtrIds of any institution and any time, as old samples have them; else rejects them with FF08. */
  readonly anyIds?: boolean
  /** How long a read waits for a message. */
  readonly longPollMs?: number | undefined
  /** The bank ends a read stream after so long without a request (410), and delivers its batch again. */
  readonly streamIdleMs?: number
  /** What an account holds when a participant is first seen. */
  readonly openingBalanceCents?: bigint | undefined
  /** Resets connections whose Host header has a port, as the real one does. */
  readonly hostWithoutPort?: boolean
  /** Token buckets per participant and channel. */
  readonly rateLimits?: boolean
  /** Payments of {@link payingPsp} per second, for load. */
  readonly payIn?: {
    readonly to: string
    readonly perSecond: number
    readonly amountCents?: bigint
  }
  /** The bounds of what the bank keeps; tests set less. */
  readonly limits?: Partial<Limits>
}

/** Accepts every payment sent to it. */
export const acceptingPsp = '99999A04'
/** Pays participants on demand. */
export const payingPsp = '99999A03'

export const isVirtual = (ispb: string): boolean => ispb === acceptingPsp || ispb === payingPsp

/** Messages of one request or one delivery. */
export const batchMessagesMax = 10
/** Read streams of one participant on one channel. */
export const streamsMax = 6
/** Participants that can be opened; the SPI has fewer than a thousand. */
export const participantsMax = 10_000
export const bodyBytesMax = 16 * 1024 * 1024

const defaults = {
  hostname: '127.0.0.1',
  port: 0,
  secondaryPort: 0,
  revision: '5.11.1',
  validate: true,
  settlementLimitMs: 40_000,
  scheduledLimitMs: 45 * 60_000,
  fromAcceptance: false,
  anyIds: false,
  longPollMs: 5_000,
  streamIdleMs: 60_000,
  /** R$ 1 000 000 000.00 */
  openingBalanceCents: 100_000_000_000n,
  hostWithoutPort: false,
  rateLimits: false,
  random: Math.random,
  now: Date.now,
  limits: {
    waitingMessagesMax: 1_000_000,
    mailboxMessagesMax: 100_000,
    rememberedMessagesMax: 50_000,
    bookOperationsMax: 200_000,
  },
} satisfies CentralBankOptions

export type ResolvedOptions = Omit<Resolved<CentralBankOptions, typeof defaults>, 'limits'> & {
  readonly limits: Limits
}

export const resolveOptions = (options: CentralBankOptions): ResolvedOptions => ({
  ...withDefaults(defaults, options),
  limits: { ...defaults.limits, ...options.limits },
})
