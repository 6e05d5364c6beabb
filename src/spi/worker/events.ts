import { formatCents } from '#codecs/iso20022'
import type { Queryable } from '#src/platform/database/index.ts'
import type { StatusChange } from '../messages/index.ts'
import type { ReadInbound } from './read.ts'
import type { SentMessage } from './store.ts'

export type SpiEvent = {
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The port to the webhooks: written in the caller's transaction. */
export type EmitEvents = (tx: Queryable, events: readonly SpiEvent[]) => Promise<void>

/** An event tells of so many transactions at most; the message itself holds them all. */
export const eventTransactionsMax = 10

/** A received message under its own type: identifiers, amounts and states, nothing of persons. */
export const receivedEvents = ({ message, view }: ReadInbound): readonly SpiEvent[] => {
  if (view === undefined) return []
  const { transactions } = view
  const endToEndId = transactions[0]?.endToEndId
  return [
    {
      type: view.identity.type,
      subject: endToEndId ?? message.bizMsgIdr ?? message.id,
      data: {
        message_id: message.id,
        type: view.identity.type,
        direction: message.direction,
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

/** What became of a message that was sent. */
export const statusEvent = (sent: SentMessage, change: StatusChange): SpiEvent => ({
  type: 'message.status',
  subject: sent.endToEndId ?? sent.bizMsgIdr ?? sent.id,
  data: {
    message_id: sent.id,
    type: sent.type,
    direction: 'OUTBOUND',
    status: change.status,
    channel: sent.channel,
    end_to_end_id: sent.endToEndId,
    biz_msg_idr: sent.bizMsgIdr,
    detail: change.detail ?? null,
  },
})
