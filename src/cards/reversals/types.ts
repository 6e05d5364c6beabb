import type { Queryable } from '#src/platform/database/index.ts'
import type { RecordOf } from '../columns.ts'
import type { cardReversals } from './schema.ts'

/** What only the table and its engine know of a reversal. */
type Engine =
  | 'status'
  | 'nextAttemptAt'
  | 'firstAttemptAt'
  | 'lastAttemptAt'
  | 'leaseOwner'
  | 'leaseUntil'
  | 'endedAt'

/** A reversal as it is stored, while it is pending. */
export type Reversal = RecordOf<Omit<typeof cardReversals.$inferSelect, Engine>>

/** A message whose effect has to be taken back, as whoever sent it knows it. */
export type NewReversal = Omit<
  Reversal,
  'id' | 'attempts' | 'stan' | 'transmission' | 'responseCode' | 'createdAt'
>

/** Commits reversals with whatever else the transaction does. */
export type InsertReversals = (tx: Queryable, rows: readonly NewReversal[]) => Promise<void>

/** `expired`: no network confirmed it in time; somebody has to ask. */
export type ReversalOutcome = 'confirmed' | 'expired'
