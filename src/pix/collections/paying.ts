import { movedTo } from '../recurrences/domain.ts'
import { type Collection, openAttempts, openStatuses } from './domain.ts'

/** Codes of pacs.002. */
type Refusal = 'BE17' | 'CN01' | 'DUPL' | 'UPAY'

/**
 * Whether the payment of an attempt may be accepted.
 *
 * @returns undefined: it may
 */
export const refusalOfCollection = (
  { status, amountCents, attempts }: Collection,
  payment: { readonly endToEndId: string; readonly amountCents: bigint },
): Refusal | undefined => {
  if (status === 'CONCLUIDA') return 'DUPL'
  if (status === 'CANCELADA') return 'CN01'
  const attempt = attempts.find(({ endToEndId }) => endToEndId === payment.endToEndId)
  if (attempt?.status === 'CANCELADA') return 'CN01'
  const isOpen = attempt !== undefined && openAttempts.has(attempt.status)
  if (!isOpen || !openStatuses.has(status)) return 'UPAY'
  return payment.amountCents === amountCents ? undefined : 'BE17'
}

/** A payment of one of its attempts has settled, which ends it whatever was known of it. */
export const paidCollection = (
  collection: Collection,
  settled: readonly string[],
  at: Date,
): Collection => {
  const attempts = collection.attempts.map((attempt) =>
    settled.includes(attempt.endToEndId) && attempt.status !== 'PAGA'
      ? movedTo(attempt, 'PAGA', at)
      : attempt,
  )
  const paid = { ...collection, attempts, nextAt: null }
  return collection.status === 'CONCLUIDA' ? paid : movedTo(paid, 'CONCLUIDA', at)
}
