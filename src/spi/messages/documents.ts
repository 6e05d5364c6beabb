import { z } from 'zod'
import { parseCents } from '#codecs/iso20022'
import { ispbForm } from '#codecs/taxpayer'
import {
  activityQuery,
  activitySchema,
  idParams,
  instant,
  nextCursor,
  pageQuery,
  type RouteContract,
  traceId,
  whole,
} from '#src/platform/http/index.ts'
import { channels, countedMax, directions, messageStatuses, signatureVerdicts } from './domain.ts'

const limitDefault = 50
const limitMax = 500
const offsetMax = 100_000

export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const ispb = z.string().regex(ispbForm, 'must be 8 digits or capital letters')

const endToEndIdForm = z.string().regex(/^[0-9A-Za-z]{1,35}$/, 'must be 1 to 35 letters and digits')

/** The id as messages write it, even a wrong one. */
const bizMsgIdrForm = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 visible ASCII characters')

const amountForm = z
  .string()
  .regex(/^\d{1,16}(\.\d{1,2})?$/, 'must be a decimal string such as 10.00')
  .transform((text) => parseCents(text))

const endToEndParams = z.object({ endToEndId: endToEndIdForm })

const inCapitals = (value: unknown): unknown =>
  typeof value === 'string' ? value.toUpperCase() : value

const offset = { offset: whole(0, offsetMax, 0) }

const endToEndQuery = z.strictObject({
  ...pageQuery(uuidForm, limitMax, limitMax),
  ...offset,
})

const listQuery = z.strictObject({
  type: z
    .string()
    .regex(/^[a-z]{4}\.\d{3}$/, 'must be a dotted message type, for example pacs.008')
    .optional(),
  direction: z.enum(directions).optional(),
  // Any case is fine, because the answer to a send request says `queued` and `sent`.
  status: z.preprocess(inCapitals, z.enum(messageStatuses)).optional(),
  transaction_status: z
    .string()
    .regex(/^[A-Za-z]{4}$/, 'must be a status code, for example RJCT')
    .transform((code) => code.toUpperCase())
    .optional()
    .meta({
      description:
        'Of any transaction: with `end_to_end_id`, of that one. `status=PARTIALLY_ACCEPTED` finds the messages whose transactions ended differently.',
    }),
  source_ispb: ispb.optional(),
  destination_ispb: ispb.optional(),
  end_to_end_id: endToEndIdForm.optional().meta({ description: 'Of any transaction.' }),
  biz_msg_idr: bizMsgIdrForm.optional(),
  amount: amountForm.optional().meta({
    description:
      'Exactly this, of any transaction: with `end_to_end_id` or `transaction_status`, of the same.',
  }),
  amount_from: amountForm.optional().meta({ description: 'As `amount`, or more.' }),
  amount_to: amountForm.optional().meta({ description: 'As `amount`, or less.' }),
  from: instant.optional().meta({ description: 'Stored at that moment or later.' }),
  to: instant.optional().meta({ description: 'Stored before that moment.' }),
  ...pageQuery(uuidForm, limitMax, limitDefault),
  ...offset,
})

const record = z
  .object({
    id: z.uuid(),
    type: z.string().nullable(),
    direction: z.enum(directions),
    status: z.enum(messageStatuses),
    channel: z.enum(channels).nullable(),
    source_ispb: z.string().nullable(),
    destination_ispb: z.string().nullable(),
    end_to_end_id: z.string().nullable(),
    biz_msg_idr: z.string().nullable(),
    resource_id: z.string().nullable(),
    transaction_count: z.int(),
    amount: z.string().nullable().meta({
      description: 'Of all its transactions together, with two fraction digits; null without any.',
    }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Message' })

const listEnvelope = z.object({
  messages: z.array(record),
  total: z
    .int()
    .describe(
      `All that the filter takes, whatever the page, counted up to ${countedMax}: ${countedMax + 1} means more than that, or that more transactions than that have such amounts, or have such a status while more messages than that meet the other conditions; what was more is not counted again for ten seconds`,
    ),
  next_cursor: nextCursor,
})

const detail = record
  .extend({
    definition: z.string().nullable(),
    error_code: z.string().nullable(),
    signature: z.enum(signatureVerdicts),
    trace_id: traceId,
    warnings: z.array(z.object({ rule: z.string(), path: z.string(), message: z.string() })),
    transactions: z.array(
      z.object({
        end_to_end_id: z.string().nullable(),
        instruction_id: z.string().nullable(),
        amount: z.string().nullable().describe('Decimal, two fraction digits'),
        debtor_ispb: z.string().nullable(),
        creditor_ispb: z.string().nullable(),
        status: z
          .string()
          .nullable()
          .describe('Of an answer what it says; of what was sent its answer: ACSC, RJCT, say'),
        reason: z
          .string()
          .nullable()
          .describe('Code that a return or a refusal gives; `GET /v1/codes` has what it means'),
        refusal: z.string().nullable().describe('Code of why what was sent was refused'),
      }),
    ),
    history: z.array(
      z.object({
        status: z.enum(messageStatuses),
        at: z.iso.datetime(),
        detail: z.string().nullable(),
        repetition: z
          .int()
          .nullable()
          .describe(
            'Of an entry that tells of a repetition: how many times the message had been sent again by then. The first and the latest are kept.',
          ),
      }),
    ),
  })
  .meta({ id: 'MessageDetail' })

export const documents = {
  activity: {
    at: 'GET /v1/messages/activity',
    scope: 'messages:read',
    operation: 'readPaymentActivity',
    summary: 'The payments of late: how many, how fast, with what outcome',
    description:
      'Of pacs.008, sent and received. The time of one runs from its storing to its last state.',
    query: activityQuery,
    responses: { 200: { description: 'Steps and outcomes', schema: activitySchema } },
  },
  list: {
    at: 'GET /v1/messages',
    scope: 'messages:read',
    operation: 'listMessages',
    summary: 'Lists messages, newest first',
    query: listQuery,
    responses: { 200: { description: 'Messages', schema: listEnvelope } },
  },
  find: {
    at: 'GET /v1/messages/{id}',
    scope: 'messages:read',
    operation: 'getMessage',
    summary: 'One message',
    description: 'With `Accept: application/xml` the document itself, as it was sent or received.',
    params: idParams,
    exampleFrom: { id: 'listMessages#/messages/0/id' },
    responses: {
      200: { description: 'The message', schema: detail, alsoAs: ['application/xml'] },
    },
  },
  endToEnd: {
    at: 'GET /v1/messages/e2e/{endToEndId}',
    scope: 'messages:read',
    operation: 'listMessagesOfPayment',
    summary: 'Messages of one payment, newest first',
    params: endToEndParams,
    exampleFrom: { endToEndId: 'listMessages?type=pacs.008#/messages/0/end_to_end_id' },
    query: endToEndQuery,
    responses: { 200: { description: 'Messages', schema: listEnvelope } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>
