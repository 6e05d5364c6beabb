import type { EmitWithin } from '#src/events.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import type { NewReversal, ReversalOutcome } from '../reversals/types.ts'
import { changed } from '../transactions/changes.ts'
import { transition } from '../transactions/domain.ts'
import { type CardTransaction, changeTransactions, transactionById } from '../transactions/store.ts'

/**
 * What the end of a reversal means for its transaction, in the transaction that ends the reversal. Confirmed: an
 * authorization or void leaves it voided, a capture authorized. Expired: it stays as it is, and needs attention.
 */
export const endReversal = async (
  tx: Queryable,
  { transactionId, reverses }: Pick<NewReversal, 'transactionId' | 'reverses'>,
  outcome: ReversalOutcome,
  at: Date,
  emission: EmitWithin | undefined,
): Promise<void> => {
  const before = await transactionById(tx, transactionId)
  // One that has moved on by other means has nothing to learn from it.
  if (before?.operation !== `reversing_${reverses}`) return
  const after = outcome === 'confirmed' ? confirmed(before, at) : expired(before, at)
  if (after === undefined) return
  const type = outcome === 'confirmed' ? 'reversal_confirmed' : 'reversal_expired'
  await changeTransactions(
    tx,
    [{ before, after, events: [{ type, data: { reverses } }] }],
    emission,
  )
}

const confirmed = (before: CardTransaction, at: Date): CardTransaction | undefined => {
  const next = transition(before, 'reversal_confirmed')
  if (next === undefined) return undefined
  const isVoided = next.status === 'voided'
  const fields = { needsAttention: false, ...(isVoided ? { voidedAt: at } : {}) }
  return changed(before, 'reversal_confirmed', fields, at)
}

const expired = (before: CardTransaction, at: Date): CardTransaction => ({
  ...before,
  needsAttention: true,
  updatedAt: at,
})
