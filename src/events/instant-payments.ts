import { z } from 'zod'
import { type MessageType, messageTypes } from '#codecs/iso20022'
import { type EventGroups, money, text } from './group.ts'

const receivedMessage = z
  .strictObject({
    message_id: z.string(),
    type: z.string(),
    direction: z.literal('INBOUND'),
    status: z.string(),
    channel: text,
    source_ispb: text,
    destination_ispb: text,
    end_to_end_id: text,
    biz_msg_idr: text,
    resource_id: text,
    signature: z.enum(['VALID', 'INVALID', 'ABSENT', 'NOT_CHECKED']),
    reference: text.meta({ description: 'The message or payment that it answers.' }),
    reason: text,
    transaction_count: z.int(),
    transactions: z
      .array(
        z.strictObject({
          end_to_end_id: text,
          instruction_id: text,
          amount: money.nullable(),
          debtor_ispb: text,
          creditor_ispb: text,
          status: text,
          reason: text,
        }),
      )
      .meta({ description: 'The first ten; the message itself holds all.' }),
  })
  .meta({ id: 'ReceivedMessageEvent' })

const untrustedMessage = z
  .strictObject({
    message_id: z.string(),
    type: text.meta({ description: 'As it calls itself.' }),
    direction: z.literal('INBOUND'),
    status: z.literal('FAILED'),
    channel: text,
    source_ispb: text.meta({ description: 'As it calls its sender.' }),
    resource_id: text,
    signature: z.enum(['INVALID', 'ABSENT']),
  })
  .meta({ id: 'UntrustedMessageEvent' })

const sentMessage = z
  .strictObject({
    message_id: z.string(),
    type: text,
    direction: z.literal('OUTBOUND'),
    status: z.string(),
    channel: text,
    end_to_end_id: text,
    biz_msg_idr: text,
    detail: text,
  })
  .meta({ id: 'SentMessageEvent' })

const bilingual = z.strictObject({ en: z.string(), pt: z.string() }).readonly().nullable()

/** A code of the SPI with what the rulebook knows of it. */
export const reason = z
  .strictObject({
    code: z.string(),
    meaning: bilingual.meta({ description: 'Null where only the code is known.' }),
    remedy: bilingual.meta({
      description:
        'What who is told of it does: our advice; null where the institution gave the reason itself.',
    }),
  })
  .meta({ id: 'Reason' })

export type Reason = z.infer<typeof reason>

const refund = z
  .strictObject({
    refund_id: text.meta({ description: 'RtrId.' }),
    end_to_end_id: text.meta({ description: 'Of the payment that is given back.' }),
    message_id: z.string(),
    status: z.enum(['settled', 'rejected']),
    amount: money,
    reason: reason.nullable(),
    refusal: reason.nullable(),
  })
  .meta({ id: 'RefundEvent' })

const recurrence = {
  previous_state: text,
  message_id: z.string(),
  message_type: z.string(),
  reason: reason.nullable(),
}

const mandate = z
  .strictObject({
    mandate_id: z.string(),
    state: text,
    ...recurrence,
  })
  .meta({ id: 'MandateEvent' })

const charge = z
  .strictObject({
    end_to_end_id: z.string(),
    reconciliation_id: text,
    mandate_id: text,
    state: text,
    ...recurrence,
  })
  .meta({ id: 'ChargeEvent' })

const accountEntry = z
  .strictObject({
    message_id: z.string().meta({ description: 'Of the report.' }),
    request_id: z
      .string()
      .meta({ description: 'MsgId of the request that it answers, or its own.' }),
    reference: z.string().meta({ description: 'EndToEndId of a payment, RtrId of a return.' }),
    end_to_end_id: text,
    outcome: z.enum(['missing_here', 'missing_there', 'amount_differs']),
    amount: money.nullable().meta({ description: 'As the central bank reports it.' }),
    our_amount: money.nullable().meta({ description: 'As we have it.' }),
  })
  .meta({ id: 'EntryEvent' })

const receivedTypes = Object.fromEntries(
  messageTypes.map((type) => [type, `A ${type} was received and stored.`]),
) as Record<MessageType, string>

export const instantPaymentEvents = {
  received: {
    payload: receivedMessage,
    subject: 'EndToEndId of the first payment, else BizMsgIdr, else message_id',
    types: { ...receivedTypes, 'message.other': 'A message of any other type was received.' },
  },
  untrusted: {
    payload: untrustedMessage,
    subject: 'message_id',
    types: {
      'message.untrusted':
        'A message was received that nobody whom we trust has signed: it changed nothing and is in `dlq`.',
    },
  },
  sent: {
    payload: sentMessage,
    subject: 'EndToEndId, else BizMsgIdr, else message_id',
    types: { 'message.status': 'A message of ours has a new status.' },
  },
  refunds: {
    payload: refund,
    subject: 'EndToEndId of the payment',
    types: {
      'pix.refund.settled': 'A return that we have sent is settled.',
      'pix.refund.rejected': 'A return that we have sent was refused: its amount is free again.',
    },
  },
  mandates: {
    payload: mandate,
    subject: 'mandate_id',
    types: {
      'pix.mandate.changed': 'A message that was received has given a mandate another state.',
    },
  },
  charges: {
    payload: charge,
    subject: 'end_to_end_id',
    types: {
      'pix.charge.changed': 'A message that was received has given a charge another state.',
    },
  },
  entries: {
    payload: accountEntry,
    subject: 'reference',
    types: {
      'pix.entry.differs': 'The central bank reports an entry otherwise than we have it.',
    },
  },
} as const satisfies EventGroups
