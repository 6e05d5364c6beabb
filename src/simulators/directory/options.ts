import { dayMs } from '#src/platform/runtime/index.ts'
import type { FindTransaction } from './transactions.ts'

/** A participant's category, by which it may look up more or less: `A` the most. */
export const categories = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const
export type Category = (typeof categories)[number]

export type ClaimPeriods = {
  /** In which the donor answers. */
  readonly resolutionMs: number
  /** After it, in which the possession of a key is proven again. */
  readonly completionMs: number
  /** How late a list knows what was changed. */
  readonly listLagMs: number
}

const claimPeriods: ClaimPeriods = {
  resolutionMs: 7 * dayMs,
  completionMs: 7 * dayMs,
  listLagMs: 5_000,
}

export type DirectoryOptions = {
  /** Loopback when absent. */
  readonly hostname?: string | undefined
  /** 0 or absent picks a free one. */
  readonly port?: number | undefined
  /** PEM. With `clientCa`, clients must show a certificate of that authority. */
  readonly tls?:
    | { readonly cert: string; readonly key: string; readonly clientCa?: string | undefined }
    | undefined
  /** PEM of the RSA certificate and key with which the directory signs its answers; unsigned when absent. */
  readonly signing?: { readonly certificate: string; readonly key: string } | undefined
  /** PEM, one certificate each, by ISPB. With it, a participant must sign what it changes. */
  readonly participantCertificates?: Readonly<Record<string, readonly string[]>> | undefined
  /** The category of every participant; `H` when absent. */
  readonly category?: Category | undefined
  /** How long an answer to a lookup may be used again, in seconds. */
  readonly cacheSeconds?: number
  /** Who knows payments beside those that the simulator is told of. */
  readonly transactions?: FindTransaction | undefined
  /** How long those of a claim are, and how late a list knows of it; those of the real one when absent. */
  readonly claimPeriods?: ClaimPeriods
  /** How long an institution that the simulator plays thinks about a claim, in milliseconds. */
  readonly claimAnswerMs?: number
  /** Chance in [0, 1) for faults. */
  readonly random?: () => number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

const defaults = {
  hostname: '127.0.0.1',
  port: 0,
  category: 'H',
  cacheSeconds: 60,
  claimPeriods,
  claimAnswerMs: 2_000,
  random: Math.random,
  now: Date.now,
} satisfies DirectoryOptions

export type ResolvedOptions = Omit<DirectoryOptions, keyof typeof defaults> & {
  readonly [Name in keyof typeof defaults]-?: NonNullable<DirectoryOptions[Name]>
}

/** An option that is absent or undefined has its default. */
export const resolveOptions = (options: DirectoryOptions): ResolvedOptions => {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(given) }
}

/** Entries that it keeps at most; tests of size stay below. */
export const entriesMax = 2_000_000
export const bodyBytesMax = 256 * 1024
