import type { AppEvent } from '#src/events/index.ts'
import { isAdvising } from './domain.ts'
import { type CardTransaction, shownAuthCode } from './store.ts'

/** Whether the network refused what was done while it was away. */
const isRefused = (before: CardTransaction, after: CardTransaction): boolean => {
  if (after.operation !== undefined) return false
  if (after.status === 'declined') return before.status === 'authorized'
  if (!isAdvising(before.operation)) return false
  if (before.operation === 'advising_authorization') return false
  return (
    after.capturedCents === before.capturedCents && after.refundedCents === before.refundedCents
  )
}

const nameOf = (before: CardTransaction, after: CardTransaction) => {
  const { status } = after
  if (isRefused(before, after)) return 'advice_refused'
  // A capture that nobody has heard of was made only for the void that takes it back.
  if (isAdvising(before.operation) && after.operation === 'reversing_void') return undefined
  if (after.reason === 'expired' && before.reason !== 'expired') return 'expired'
  if (status !== before.status) return status === 'pending' ? undefined : status
  if (after.amountCents !== before.amountCents) return 'incremented'
  if (after.capturedCents !== before.capturedCents) return 'partially_captured'
  if (after.refundedCents !== before.refundedCents) return 'refunded'
  return after.reversedCents === before.reversedCents ? undefined : 'partially_voided'
}

/**
 * The event that subscribers get for a step: each new status except the first, when nothing is decided, and each increment, partial
 * capture, refund and partial void.
 */
export const statusEvent = (
  before: CardTransaction,
  after: CardTransaction,
): AppEvent | undefined => {
  const { status } = after
  const name = nameOf(before, after)
  if (name === undefined || status === 'pending') return undefined
  return {
    type: `card.transaction.${name}`,
    subject: after.id,
    account: after.account,
    data: {
      transaction_id: after.id,
      status,
      amount: Number(after.amountCents),
      requested_amount: after.requestedCents === undefined ? null : Number(after.requestedCents),
      captured_amount: after.capturedCents === undefined ? null : Number(after.capturedCents),
      refunded_amount: after.refundedCents === undefined ? null : Number(after.refundedCents),
      reversed_amount: after.reversedCents === undefined ? null : Number(after.reversedCents),
      currency: after.currency,
      network: after.network,
      brand: after.brand,
      merchant_id: after.merchantId,
      terminal_id: after.terminalId ?? null,
      auth_code: shownAuthCode(after) ?? null,
      response_code: after.responseCode ?? null,
      stan: after.stan,
      rrn: after.rrn,
      reason: after.reason ?? null,
    },
  }
}
