import { formatCents, isMessageType } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import type { NewMessage } from '../../messages/index.ts'
import type { ReadInbound } from './read.ts'

/** An event tells of so many transactions at most; the message itself holds them all. */
const eventTransactionsMax = 10

/** Reports a received message under its own type: identifiers, amounts and states, no personal data. */
export const receivedEvents = ({ message, view }: ReadInbound): readonly AppEvent[] => {
  if (view === undefined) return untrustedEvents(message)
  const { transactions, identity } = view
  const endToEndId = transactions[0]?.endToEndId
  return [
    {
      type: isMessageType(identity.type) ? identity.type : 'message.other',
      subject: endToEndId ?? message.bizMsgIdr ?? message.id,
      data: {
        message_id: message.id,
        type: identity.type,
        direction: 'INBOUND',
        status: message.status,
        channel: message.channel ?? null,
        source_ispb: message.sourceIspb ?? null,
        destination_ispb: message.destinationIspb ?? null,
        end_to_end_id: endToEndId ?? null,
        biz_msg_idr: message.bizMsgIdr ?? null,
        resource_id: message.resourceId ?? null,
        signature: message.signature,
        reference: view.reference ?? null,
        reason: view.reason ?? null,
        transaction_count: transactions.length,
        transactions: transactions.slice(0, eventTransactionsMax).map((one) => ({
          end_to_end_id: one.endToEndId ?? null,
          instruction_id: one.instructionId ?? null,
          amount: one.amountCents === undefined ? null : formatCents(one.amountCents),
          debtor_ispb: one.debtorIspb ?? null,
          creditor_ispb: one.creditorIspb ?? null,
          status: one.status ?? null,
          reason: one.reason ?? null,
        })),
      },
    },
  ]
}

/** Under a type of its own: whoever moves money by received messages must not take it for one. */
const untrustedEvents = ({ signature, ...message }: NewMessage): readonly AppEvent[] => {
  if (signature !== 'INVALID' && signature !== 'ABSENT') return []
  return [
    {
      type: 'message.untrusted',
      subject: message.id,
      data: {
        message_id: message.id,
        type: message.type ?? null,
        direction: 'INBOUND',
        status: 'FAILED',
        channel: message.channel ?? null,
        source_ispb: message.sourceIspb ?? null,
        resource_id: message.resourceId ?? null,
        signature,
      },
    },
  ]
}
