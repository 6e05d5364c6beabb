import { type ZodType, z } from 'zod'
import { buildableMessages } from '#codecs/iso20022'
import { type RouteContract, text } from '#src/platform/http/index.ts'
import { messageErrors } from '../../messages/index.ts'
import { sendExamples } from './examples.ts'
import { parameterTables } from './parameters.ts'
import { paramsSchemaOf } from './schemas.ts'

const bodyBytesMax = 1_048_576

export const sendBody = z.strictObject({
  message_type: z.enum(buildableMessages).meta({ example: 'PACS008' }),
  version: text(8, { charactersMin: 0 }).optional().meta({
    example: '1.14',
    description:
      'Another version of the message than that of SPI_REVISION; GET /v1/schemas lists them.',
  }),
  channel: z.enum(['PRIMARY', 'SECONDARY']).optional().meta({
    description:
      'By default SECONDARY for a PACS008 of service_level PAGAGD (scheduled), for a PACS002 the channel on which the payment was received, PRIMARY for everything else. A PACS004, and a PACS002 that answers a return (`original_instruction_id` begins with D), take PRIMARY only.',
  }),
  params: z.record(z.string(), z.unknown()).meta({
    description: 'Depends on message_type; see the tables above and the examples.',
    example: { original_end_to_end_id: 'E1234567820260302140500000000001', status: 'ACSP' },
  }),
})

const { version, channel } = sendBody.shape
const primary = z.enum(['PRIMARY']).optional().meta({ description: 'Returns go by no other.' })

const newDocumentedBody = (): ZodType =>
  z.union(
    buildableMessages.map((messageType) =>
      z.strictObject({
        message_type: z.literal(messageType),
        version,
        channel: messageType === 'PACS004' ? primary : channel,
        params: paramsSchemaOf(messageType),
      }),
    ),
  )

let documented: ZodType | undefined

/** The request body in the OpenAPI document, with the parameters of each type. Slow, so made on demand. */
export const documentedBody = (): ZodType => {
  documented ??= newDocumentedBody().meta({ id: 'SendPaymentRequest' })
  return documented
}

const sent = z.object({
  id: z.uuid(),
  biz_msg_idr: z.string(),
  message_type: z.enum(buildableMessages),
  status: z.enum(['queued', 'sent']),
  resource_id: z.string().optional().meta({ description: 'PI-ResourceId, of `sent` only.' }),
  end_to_end_ids: z.array(z.string()),
})

export const sendDocument: RouteContract = {
  isBodyReadByHand: true,
  at: 'POST /v1/spi/send',
  scope: 'spi:send',
  bodyBytesMax,
  operation: 'sendPayment',
  summary: 'Send a message to the SPI',
  description: [
    'Builds the message in the version of SPI_REVISION, checks it, stores it and puts it on the queue `spi.outbound` in one transaction. `queued` says that it will be sent, not that it was accepted. With SPI_SYNC_ENABLED a PACS008 is sent within the request: `sent` says that the message interface has it, `queued` that the queue sends the same message. Repeat with the same Idempotency-Key: a request without one makes a new message each time. A PACS008 or PAIN013 with an `end_to_end_id`, or a PACS004 with a `return_id`, that was sent before is refused (`payment_sent_already`), unless what was sent is refused; a PAIN013 with the `end_to_end_id` of an attempt of a `cobr` is refused always.',
    '### Parameters',
    'By `message_type`. Amounts are integers in cents; date-times are UTC with three decimals and `Z`. Where a parameter depends on others, its rule is told with it; what breaks a rule is refused with the pointer of the parameter and the rule.',
    parameterTables(),
  ].join('\n\n'),
  idempotent: true,
  get body() {
    return { 'application/json': documentedBody() }
  },
  bodyExamples: sendExamples,
  responses: { 202: { description: 'Stored, and queued or sent.', schema: sent } },
  errors: [messageErrors.payment_sent_already],
}

const builtMessage = z
  .object({
    message_type: z.enum(buildableMessages),
    definition: z.string().meta({ example: 'pacs.008.spi.1.14' }),
    channel: z.enum(['PRIMARY', 'SECONDARY']),
    biz_msg_idr: z.string(),
    end_to_end_ids: z.array(z.string()),
    xml: z.string().meta({ description: 'The message, without its signature' }),
  })
  .meta({ id: 'BuiltMessage' })

export const buildDocument: RouteContract = {
  isBodyReadByHand: true,
  at: 'POST /v1/spi/build',
  scope: 'spi:send',
  bodyBytesMax,
  isPure: true,
  operation: 'buildPayment',
  summary: 'See the message that would be sent',
  description:
    'Takes what `POST /v1/spi/send` takes, judges it alike and answers with the message. Nothing is stored or sent, and identifiers that the gateway makes are others each time.',
  get body() {
    return { 'application/json': documentedBody() }
  },
  bodyExamples: sendExamples,
  responses: { 200: { description: 'The message', schema: builtMessage } },
}
