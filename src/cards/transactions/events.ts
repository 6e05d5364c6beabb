import type { AppEvent } from '#src/events.ts'
import type { CardTransaction } from './store.ts'

/** The event that subscribers get for a step: each new status except the first, when nothing is decided. */
export const statusEvent = (
  before: CardTransaction,
  after: CardTransaction,
): AppEvent | undefined => {
  const { status } = after
  if (status === before.status || status === 'pending') return undefined
  return {
    type: `card.transaction.${status}`,
    subject: after.id,
    account: after.account,
    data: {
      transaction_id: after.id,
      status,
      amount: Number(after.amountCents),
      captured_amount: after.capturedCents === undefined ? null : Number(after.capturedCents),
      currency: after.currency,
      network: after.network,
      brand: after.brand,
      merchant_id: after.merchantId,
      terminal_id: after.terminalId ?? null,
      auth_code: after.authCode ?? null,
      response_code: after.responseCode ?? null,
      stan: after.stan,
      rrn: after.rrn,
      reason: after.reason ?? null,
    },
  }
}
