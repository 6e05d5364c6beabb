import type { Revision } from '#codecs/iso20022'

/** The two redundant ways to the message interface. */
export type Channel = 'primary' | 'secondary'

type Limits = {
  /** Messages that wait to be taken or delivered; at this number the bank refuses to receive more (503). */
  readonly waitingMessagesMax: number
  /** Messages whose BizMsgIdr the bank remembers, to recognise a repetition. */
  readonly rememberedMessagesMax: number
  /** Operations in the book; the oldest finished ones leave it. */
  readonly bookOperationsMax: number
}

export type CentralBankOptions = {
  /** Loopback when absent. */
  readonly hostname?: string | undefined
  /** 0 or absent picks a free one. */
  readonly port?: number
  readonly secondaryPort?: number
  /** PEM. With `clientCa`, clients must show a certificate of that authority. */
  readonly tls?:
    | { readonly cert: string; readonly key: string; readonly clientCa?: string | undefined }
    | undefined
  /** The bank writes its own messages in the versions of this revision; it reads every known version. */
  readonly revision?: Revision
  /** The directory that payers' institutions ask whose key it is, with the version of its API. */
  readonly directory?: string | undefined
  /** Checks messages against their schema; on when absent. */
  readonly validate?: boolean
  /** PEM of the RSA certificate and key with which the bank signs what it sends. */
  readonly signing?: { readonly certificate: string; readonly key: string } | undefined
  /** PEM, one certificate each, by ISPB. With it, a sender must sign with one of its certificates. */
  readonly participantCertificates?: Readonly<Record<string, readonly string[]>> | undefined
  /** The bank rejects a payment with AB03 so long after it came. */
  readonly settlementLimitMs?: number | undefined
  /** The same for scheduled payments (PAGAGD). */
  readonly scheduledLimitMs?: number | undefined
  /** Counts the time of priority payments from their AccptncDtTm, as the real one does; old samples are late then. */
  readonly fromAcceptance?: boolean
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
  /** What the bank keeps at most; tests set less. */
  readonly limits?: Partial<Limits>
  /** Chance in [0, 1) for faults. */
  readonly random?: () => number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
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
    rememberedMessagesMax: 50_000,
    bookOperationsMax: 1_000_000,
  },
} satisfies CentralBankOptions

type Defaulted = Exclude<keyof typeof defaults, 'limits'>

export type ResolvedOptions = Omit<CentralBankOptions, keyof typeof defaults> & {
  readonly [Name in Defaulted]-?: NonNullable<CentralBankOptions[Name]>
} & { readonly limits: Limits }

/** An option that is absent or undefined has its default. */
export const resolveOptions = (options: CentralBankOptions): ResolvedOptions => {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const resolved = { ...defaults, ...Object.fromEntries(given) }
  return { ...resolved, limits: { ...defaults.limits, ...options.limits } }
}
