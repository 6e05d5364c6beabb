import { formatCents } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import type { Dispute } from '../disputes/domain.ts'
import { sharedView } from '../disputes/view.ts'
import type { Refund, RefundContent } from './domain.ts'
import type { PaymentReturn } from './returns.ts'

/** Reais with two decimals. @param cents of a JSON column */
const amountOf = (cents: string): string => formatCents(BigInt(cents))

export const refundView = ({ content, ...refund }: Refund) => ({
  ...sharedView({ ...refund, content }),
  details: content.details,
  result: content.result,
  analysis: content.analysis,
  amount: amountOf(content.amountCents),
  rejection_reason: content.rejectionReason,
  funds_recovery_id: content.recoveryId,
  return_id: refund.returnId,
  returned_at: refund.returnedAt?.toISOString() ?? null,
})

/** With the return that answers it, as far as we know of one. */
export const refundWithReturnView = (refund: Refund, made: PaymentReturn | undefined) => ({
  ...refundView(refund),
  return: made === undefined ? null : returnView(made),
})

const returnView = ({ id, amountCents, outcome, refusal }: PaymentReturn) => ({
  id,
  amount: formatCents(amountCents),
  status: outcome,
  refusal,
})

type Told = Dispute<RefundContent>

const dataOf = ({ content, ...refund }: Told) => ({
  refund_id: refund.id,
  role: refund.role,
  status: refund.status,
  transaction_id: refund.transactionId,
  reason: refund.reason,
  result: content.result,
  amount: amountOf(content.amountCents),
  return_id: refund.returnId,
})

export const refundEvent = (refund: Told, isNew: boolean): AppEvent => ({
  type: isNew ? 'dict.refund.received' : 'dict.refund.changed',
  subject: refund.id,
  data: dataOf(refund),
})

/** What we asked for has come. */
export const returnedEvent = (refund: Told): AppEvent => ({
  type: 'dict.refund.returned',
  subject: refund.id,
  data: dataOf(refund),
})
