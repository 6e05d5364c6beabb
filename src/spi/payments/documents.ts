import { z } from 'zod'
import { codeLists } from '#codecs/iso20022'
import { reason } from '#src/events/index.ts'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { outcomes } from './domain.ts'
import { paymentErrors } from './errors.ts'

const bodyBytesMax = 16_384

/** R$ 90 071 992 547 409.91: beyond it a number of JSON is not exact. */
const centsMax = Number.MAX_SAFE_INTEGER
const informationCharactersMax = 105
const remittanceCharactersMax = 140

const endToEndId = z
  .string()
  .regex(/^[0-9A-Za-z]{1,35}$/, 'must be 1 to 35 letters and digits')
  .meta({ description: 'EndToEndId of the payment.' })

const paymentParams = z.object({ endToEndId })
const refundParams = z.object({
  endToEndId,
  refundId: z
    .string()
    .regex(/^[0-9A-Za-z]{1,35}$/, 'must be 1 to 35 letters and digits')
    .meta({ description: 'RtrId of the return.' }),
})

const refundBody = z.strictObject({
  amount: z.int().min(1).max(centsMax).meta({ description: 'In cents.', example: 500 }),
  reason: z.enum([...codeLists.return_reason.keys()] as [string, ...string[]]).meta({
    description:
      'MD06: the user who was paid asks for it; SL02: the cash of a Pix Saque or Pix Troco; BE08 and FR01: the special return mechanism, for a failure of the bank and for fraud.',
    example: 'MD06',
  }),
  additional_information: text(informationCharactersMax)
    .optional()
    .meta({ description: 'To the other institution (AddtlInf).' }),
  remittance_information: text(remittanceCharactersMax)
    .optional()
    .meta({ description: 'To the payer (RmtInf).' }),
})

const money = z.string().meta({ description: 'Reais with two decimals.', example: '5.00' })
const direction = z.enum(['INBOUND', 'OUTBOUND'])
const status = z.enum(outcomes).meta({
  description:
    'pending: no answer yet. unknown: no answer in time, asked for again. failed: the central bank never took it, and it may still be sent, until somebody throws it out of dlq: then it is rejected. All three hold their amount; settled and rejected are ends.',
})

const endedAt = z.iso.datetime().nullable().meta({
  description:
    'When it settled, by the central bank where its report tells it, or was refused; null: it may still do either.',
})

const refund = z
  .object({
    id: z.string().meta({ description: 'RtrId.' }),
    end_to_end_id: z.string(),
    direction: direction.meta({ description: 'OUTBOUND: given back by this institution.' }),
    amount: money,
    status,
    reason: reason.nullable().meta({ description: 'Null in what older versions have stored.' }),
    refusal: reason.nullable(),
    message_id: z.uuid().meta({ description: 'Of the pacs.004.' }),
    created_at: z.iso.datetime(),
    ended_at: endedAt,
  })
  .meta({ id: 'PaymentReturn' })

const payment = z
  .object({
    end_to_end_id: z.string(),
    direction: direction.meta({ description: 'INBOUND: paid to this institution.' }),
    status,
    amount: money,
    debtor_ispb: z.string().nullable(),
    creditor_ispb: z.string().nullable(),
    refusal: reason.nullable(),
    message_id: z.uuid(),
    created_at: z.iso.datetime(),
    ended_at: endedAt,
    returned: money.meta({ description: 'Sum of the returns that are settled.' }),
    held: money.meta({ description: 'Sum of the returns that may still be settled.' }),
    refundable: money.meta({ description: 'What this institution can still give back.' }),
    refundable_until: z.iso.datetime().nullable(),
    returns: z.array(refund).meta({ description: 'Given back by the one who was paid.' }),
    timeline: z
      .array(
        z.object({
          at: z.iso.datetime(),
          type: z.string().nullable(),
          direction,
          message_id: z.uuid(),
          message_status: z.string(),
          instruction_id: z
            .string()
            .nullable()
            .meta({ description: 'RtrId of a return, or what an answer is about.' }),
          amount: money.nullable(),
          status: z.string().nullable().meta({ description: 'TxSts.' }),
          reason: reason.nullable(),
        }),
      )
      .meta({ description: 'The messages that name the payment, in their order.' }),
  })
  .meta({ id: 'Payment' })

const { too_many_payment_messages: tooMany } = paymentErrors

const received = {
  endToEndId: 'listMessages?type=pacs.008&direction=INBOUND#/messages/0/end_to_end_id',
}

export const documents = {
  find: {
    at: 'GET /v1/pix/payments/{endToEndId}',
    scope: 'messages:read',
    operation: 'getPayment',
    summary: 'A payment with all its returns',
    description:
      'Sent or received, read from the stored messages that name its EndToEndId. A message with a wrong signature counts for nothing but its line in the timeline, unless `SPI_SIGNATURE_POLICY` is `advisory`: then its answer ends a payment that was sent.',
    params: paymentParams,
    exampleFrom: received,
    responses: { 200: { description: 'The payment', schema: payment } },
    errors: [tooMany],
  },
  refunds: {
    at: 'GET /v1/pix/payments/{endToEndId}/refunds',
    scope: 'messages:read',
    operation: 'listRefunds',
    summary: 'The returns of a payment',
    description: 'All of them, at most a few hundred, in the order of their messages.',
    params: paymentParams,
    exampleFrom: received,
    responses: {
      200: { description: 'Returns', schema: z.object({ refunds: z.array(refund) }) },
    },
    errors: [tooMany],
  },
  refund: {
    at: 'GET /v1/pix/payments/{endToEndId}/refunds/{refundId}',
    scope: 'messages:read',
    operation: 'getRefund',
    summary: 'One return of a payment',
    params: refundParams,
    exampleFrom: { ...received, refundId: 'listRefunds#/refunds/0/id' },
    responses: { 200: { description: 'The return', schema: refund } },
    errors: [tooMany],
  },
  create: {
    at: 'POST /v1/pix/payments/{endToEndId}/refunds',
    scope: 'spi:send',
    bodyBytesMax,
    operation: 'createRefund',
    summary: 'Give back a payment that was received, whole or in part',
    description: [
      'Makes the pacs.004 from the payment that is stored here and queues it. All returns of a payment together never exceed it, however many are asked for at once: one without an answer holds its amount, one that is refused gives it back. Returns sent by `POST /v1/spi/send` count too.',
      'Refused are: a payment that is not settled or was not received here (`payment_not_refundable`), more than what is left (`refund_exceeds_payment`), and anything later than 90 days after the settlement (`refund_deadline_passed`). With SL02 only the cash of a Pix Saque or Pix Troco is given back, with MD06 only the purchase of a Pix Troco.',
    ].join('\n\n'),
    idempotent: true,
    params: paymentParams,
    exampleFrom: received,
    body: { 'application/json': refundBody },
    bodyExamples: {
      part: { amount: 500, reason: 'MD06' },
    },
    responses: { 202: { description: 'Stored and queued.', schema: refund } },
    errors: [...Object.values(paymentErrors)],
  },
} as const satisfies Readonly<Record<string, RouteContract>>
