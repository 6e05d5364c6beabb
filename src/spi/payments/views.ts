import { codeLists, formatCents } from '#codecs/iso20022'
import { momentOf } from '../messages/index.ts'
import { reasonOf } from '../reasons.ts'
import {
  type Payment,
  type PaymentMessage,
  type PaymentReturn,
  refundableCents,
  returnDeadline,
} from './domain.ts'

/** What we sent is refused by messages that we receive; what we received is mostly refused by us. */
const reportOn = ({ direction }: Pick<Payment, 'direction'>) =>
  direction === 'OUTBOUND' ? 'INBOUND' : 'OUTBOUND'

/** A return as the API shows it. */
export const refundView = (endToEndId: string, one: PaymentReturn) => ({
  id: one.id,
  end_to_end_id: endToEndId,
  direction: one.direction,
  amount: formatCents(one.amountCents),
  status: one.outcome,
  reason: reasonOf(one.reason, codeLists.return_reason, one.direction),
  refusal: reasonOf(one.refusal, codeLists.status_reason, reportOn(one)),
  message_id: one.messageId,
  created_at: momentOf(one.messageId).toISOString(),
  ended_at: one.endedAt?.toISOString() ?? null,
})

/** A payment with its returns, and what happened to both in the order of the messages. */
export const paymentView = (payment: Payment, messages: readonly PaymentMessage[]) => {
  const { direction, outcome, endedAt } = payment
  const isRefundable = direction === 'INBOUND' && outcome === 'settled' && endedAt !== null
  return {
    end_to_end_id: payment.endToEndId,
    direction,
    status: outcome,
    amount: formatCents(payment.amountCents),
    debtor_ispb: payment.debtorIspb,
    creditor_ispb: payment.creditorIspb,
    refusal: reasonOf(payment.refusal, codeLists.status_reason, reportOn(payment)),
    message_id: payment.messageId,
    created_at: momentOf(payment.messageId).toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    returned: formatCents(payment.returnedCents),
    held: formatCents(payment.heldCents),
    refundable: isRefundable ? formatCents(refundableCents(payment)) : '0.00',
    refundable_until: isRefundable ? returnDeadline(endedAt).toISOString() : null,
    returns: payment.returns.map((one) => refundView(payment.endToEndId, one)),
    timeline: messages.map(stepView),
  }
}

const stepView = (message: PaymentMessage) => ({
  at: momentOf(message.messageId).toISOString(),
  type: message.type,
  direction: message.direction,
  message_id: message.messageId,
  message_status: message.messageStatus,
  instruction_id: message.instructionId,
  amount: message.amountCents === null ? null : formatCents(message.amountCents),
  status: message.status,
  reason: reasonOf(
    message.reason,
    message.type === 'pacs.004' ? codeLists.return_reason : codeLists.status_reason,
    message.direction,
  ),
})
