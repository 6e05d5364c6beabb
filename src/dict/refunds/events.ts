import type { AppEvent } from '#src/events/index.ts'
import type { Dispute } from '../disputes/domain.ts'
import { amountOf } from './amounts.ts'
import type { RefundContent } from './domain.ts'

type Told = Dispute<RefundContent>

const dataOf = ({ content, ...refund }: Told) => ({
  ...{ refund_id: refund.id, role: refund.role, status: refund.status },
  ...{ transaction_id: refund.transactionId, reason: refund.reason, result: content.result },
  ...{ amount: amountOf(content.amountCents), return_id: refund.returnId },
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
