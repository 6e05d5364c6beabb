import { dayMs } from '#src/platform/runtime/index.ts'
import { type CounterpartyOptions, type Resolved, withDefaults } from '../counterparty.ts'
import type { FindTransaction } from './transactions.ts'

/** A participant's category, by which it may look up more or less: `A` the most. */
export const categories = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const
export type Category = (typeof categories)[number]

export type ClaimPeriods = {
  /** The time in which the donor answers. */
  readonly resolutionMs: number
  /** The time after it, in which the possession of a key is proven again. */
  readonly completionMs: number
  /** How late a list knows what was changed. */
  readonly listLagMs: number
}

const claimPeriods: ClaimPeriods = {
  resolutionMs: 7 * dayMs,
  completionMs: 7 * dayMs,
  listLagMs: 5_000,
}

export type DirectoryOptions = CounterpartyOptions & {
  /** The category of every participant; `H` when absent. */
  readonly category?: Category | undefined
  /** How long an answer to a lookup may be used again, in seconds. */
  readonly cacheSeconds?: number
  /** Finds further payments, beside those that the simulator is told of. */
  readonly transactions?: FindTransaction | undefined
  /** The periods of a claim, and how late a list knows of it; the real directory's when absent. */
  readonly claimPeriods?: ClaimPeriods
  /** How long an institution that the simulator plays thinks about a claim, in milliseconds. */
  readonly claimAnswerMs?: number
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

export type ResolvedOptions = Resolved<DirectoryOptions, typeof defaults>

export const resolveOptions = (options: DirectoryOptions): ResolvedOptions =>
  withDefaults(defaults, options)

/** Entries that it keeps at most; tests of size stay below. */
export const entriesMax = 2_000_000
export const bodyBytesMax = 256 * 1024
