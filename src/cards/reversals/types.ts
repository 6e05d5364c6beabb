import type { Queryable } from '#src/platform/database/index.ts'
import type { RecordOf } from '../columns.ts'
import type { ShownMessage } from '../transactions/schema.ts'
import type { AdvisedOperation, cardReversals } from './schema.ts'

/** The members that only the table and its engine know. */
export const engineMembers = [
  'status',
  'nextAttemptAt',
  'firstAttemptAt',
  'lastAttemptAt',
  'leaseOwner',
  'leaseUntil',
  'endedAt',
] as const

/** A reversal as it is stored, while it is pending. */
export type Reversal = RecordOf<
  Omit<typeof cardReversals.$inferSelect, (typeof engineMembers)[number]>
>

/** The last request and answer that went over the wire. */
export type EndedReversal = Reversal & { readonly messages?: readonly ShownMessage[] | undefined }

/** A message to reverse, as its sender describes it. */
export type NewReversal = Omit<Reversal, 'id' | 'responseCode' | 'doneAt' | 'createdAt'>

/** Inserts reversals within the caller's transaction. */
export type InsertReversals = (tx: Queryable, rows: readonly NewReversal[]) => Promise<void>

/** `refused`: the network does not take an advice. `expired`: it did not confirm in time; a person has to ask. */
export type ReversalOutcome = 'confirmed' | 'refused' | 'expired'

/** Whether it tells of something, and takes nothing back. */
export const isAdviceOf = (reverses: NewReversal['reverses']): reverses is AdvisedOperation =>
  reverses.endsWith('_advice')
