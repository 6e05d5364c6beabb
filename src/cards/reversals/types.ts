import type { Queryable } from '#src/platform/database/index.ts'
import type { RecordOf } from '../columns.ts'
import type { cardReversals } from './schema.ts'

/** The members that only the table and its engine know. */
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

/** A message to reverse, as its sender describes it. */
export type NewReversal = Omit<Reversal, 'id' | 'responseCode' | 'createdAt'>

/** Inserts reversals within the caller's transaction. */
export type InsertReversals = (tx: Queryable, rows: readonly NewReversal[]) => Promise<void>

/** `expired`: the network did not confirm it in time; a person has to ask. */
export type ReversalOutcome = 'confirmed' | 'expired'
