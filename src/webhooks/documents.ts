import { z } from 'zod'
import { eventGroups } from '#src/events/index.ts'
import {
  cursor,
  type EventDocument,
  httpErrors,
  idParams,
  instant,
  nextCursor,
  pageQuery,
  type RouteContract,
  type RouteDocument,
  text,
} from '#src/platform/http/index.ts'
import { attemptsToldMax, subscriptions } from './domain.ts'
import { webhookErrors } from './errors.ts'
import {
  isDecodable,
  isKeyShort,
  keyBytesMax,
  keyBytesMin,
  secretCharactersMax,
} from './signing.ts'

/** Bodies and parameters of the webhook routes, with their texts in the OpenAPI document. */

const overlapSecondsMax = 7 * 24 * 3600
const url = text(2048).meta({
  description: 'HTTPS URL with a public address, unless WEBHOOK_ALLOWED_TARGETS names it.',
  example: 'https://example.com/hooks',
})
const events = z
  .array(
    z.enum(subscriptions(), {
      error: `is no known event; known are ${subscriptions().join(', ')}`,
    }),
  )
  .min(1)
  .max(100)
  .meta({ description: 'Event types, families of them (pacs.*), or *.', example: ['pacs.008'] })
const secret = text(secretCharactersMax)
  .refine(isDecodable, { error: 'must be base64 after whsec_', params: { rule: 'base64' } })
  .refine(isKeyShort, {
    error: `must be a key of at most ${keyBytesMax} bytes`,
    params: { rule: 'bytes' },
  })
  .meta({
    description: `Signs deliveries: whsec_ followed by base64 of random bytes, ${keyBytesMax} at most, or a text, whose bytes are the key. In production it has at least ${keyBytesMin} bytes. Never shown again.`,
  })
const include = z.enum(['thin', 'full']).meta({
  description: 'thin: identifiers and states. full: what the event is about, personal data too.',
})

const createBody = z
  .strictObject({
    url,
    events,
    secret: secret.optional(),
    active: z.boolean().default(true),
    include: include.default('thin'),
  })
  .meta({ id: 'CreateWebhookRequest' })
const changeBody = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    active: z.boolean().optional(),
    include: include.optional(),
  })
  .meta({ id: 'UpdateWebhookRequest' })
const rotateBody = z
  .strictObject({
    secret: secret.optional(),
    overlap_seconds: z.int().min(0).max(overlapSecondsMax).default(86_400).meta({
      description: 'How long both secrets sign.',
    }),
  })
  .meta({ id: 'RotateWebhookSecretRequest' })
const replayBody = z
  .strictObject({
    since: instant,
    until: instant.optional().meta({ description: 'Exclusive; now when not given.' }),
  })
  .refine(({ since, until }) => until === undefined || until > since, {
    error: 'must be after since',
    path: ['until'],
  })
  .meta({ id: 'ReplayDeliveriesRequest' })
/** Time and id, because many are made in the same microsecond. */
const deliveryKey = /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z dlv_[0-9a-f-]{36}$/
/** An event and an endpoint or nothing; or the key of a delivery, which releases before gave. */
const ofSubjectKey = new RegExp(`^evt_[0-9a-f-]{36} [!-~]{0,100}$|${deliveryKey.source}`)
const deliveriesQuery = z.strictObject({
  status: z.enum(['pending', 'delivered', 'exhausted']).optional(),
  ...pageQuery(deliveryKey, 500, 50),
  before: z
    .union([cursor(deliveryKey), instant.transform((at) => `${at.toISOString()} `)])
    .optional()
    .meta({ description: 'A moment: those created before it. Or the same as `cursor`.' }),
})
/** The most endpoints of an account, active or not: each event is compared with all, and sent to all that take it. */
export const ownedMax = 100
/** The endpoints in an answer without a page: all, except for institutions with very many. */
const endpointsMax = 1_000
const endpointsQuery = z.strictObject({
  needs_attention: z.literal('true').optional().meta({
    description:
      'Those that were disabled by what they answered, or have deliveries that nobody took.',
  }),
  ...pageQuery(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z [!-~]{1,100}$/, endpointsMax, endpointsMax),
})
const deliveriesOfQuery = z.strictObject({
  subject: text(200).meta({
    description:
      'What the events are about: a transaction of a card, a transfer, the EndToEndId of a Pix, as the table of events says.',
    example: 'txn_0123456789abcdef0123456789abcdef',
  }),
  ...pageQuery(ofSubjectKey, 500, 50),
})

const endpoint = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    active: z.boolean(),
    include,
    disabled_reason: z.enum(['request', 'gone', 'failing']).nullable(),
    failing_since: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'Webhook' })
/** A count of deliveries goes so far. */
export const countedMax = 1_000
const counted = z.int().meta({ description: `${countedMax}: so many, or more.` })
const seen = endpoint.extend({
  health: z
    .object({ pending: counted, exhausted: counted })
    .meta({ id: 'WebhookHealth', description: 'Deliveries that wait, and that nobody took.' }),
})
const delivery = z
  .object({
    id: z.string(),
    event_id: z.string(),
    endpoint_id: z.string(),
    event_type: z.string(),
    status: z.enum(['pending', 'delivered', 'exhausted']),
    attempts: z.int(),
    next_attempt_at: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'WebhookDelivery' })
const attempt = z.object({
  at: z.string(),
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  answer: z.string().nullable().meta({
    description:
      'The first 4 KiB; empty where it is compressed. Null where there was none, where the body of the request is null, or where the event holds personal data that the key could not subscribe to.',
  }),
  error_class: z.string().nullable(),
  next_attempt_at: z.string().nullable(),
})
const attempted = delivery.extend({
  request: z.object({ url: z.string(), body: z.string().nullable() }).meta({
    id: 'WebhookRequest',
    description:
      'Where it goes, and the very body that is sent. The body is null for keys for some merchants or wallets and, where it holds personal data (`include: full`), for keys that may not manage webhooks.',
  }),
  attempt_log: z
    .array(attempt)
    .max(attemptsToldMax)
    .meta({ description: `The newest ${attemptsToldMax} attempts, the oldest of them first.` }),
})
const tested = z.object({
  delivered: z.boolean(),
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  answer: z.string().nullable(),
  error_class: z.string().nullable(),
})

type More = Omit<RouteDocument, 'operation' | 'summary' | 'responses'>

const document = <const At extends RouteContract['at'], const M extends More>(
  at: At,
  operation: string,
  summary: string,
  status: number,
  answer: string,
  schema: z.ZodType | undefined,
  more: M,
) => ({
  at,
  scope: at.startsWith('GET') ? ('webhooks:read' as const) : ('webhooks:manage' as const),
  operation,
  summary,
  ...more,
  responses: { [status]: { description: answer, ...(schema === undefined ? {} : { schema }) } },
})
const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': schema })
const ofOne = {
  params: idParams,
  exampleFrom: { id: 'listWebhooks#/webhooks/0/id' },
}
const ofChange = {
  ...ofOne,
  errors: [webhookErrors.webhook_of_standard],
}
const ofDelivery = { ...ofOne, exampleFrom: { id: 'listDeliveries#/deliveries/0/id' } }

export const documents = {
  create: document(
    'POST /v1/webhooks',
    'createWebhook',
    'Subscribe to events',
    201,
    'The webhook; its secret only when it was made here, and only now.',
    endpoint.extend({ secret: z.string().optional() }),
    {
      idempotent: true,
      body: json(createBody),
      errors: [webhookErrors.webhooks_full],
      description: `An account has at most ${ownedMax}, active or not.`,
    },
  ),
  list: document(
    'GET /v1/webhooks',
    'listWebhooks',
    'List webhooks, oldest first',
    200,
    `All of them, or where there are more than ${endpointsMax}, a page.`,
    z.object({ webhooks: z.array(seen), next_cursor: z.string().nullable() }),
    { query: endpointsQuery },
  ),
  find: document(
    'GET /v1/webhooks/{id}',
    'getWebhook',
    'Show a webhook',
    200,
    'The webhook.',
    seen,
    ofOne,
  ),
  change: document(
    'PATCH /v1/webhooks/{id}',
    'updateWebhook',
    'Change a webhook',
    200,
    'The webhook.',
    endpoint,
    {
      ...ofChange,
      body: json(changeBody),
      bodyExamples: { active: { active: true } },
      description: 'Retries that wait go to the new URL. Activating forgets earlier failures.',
    },
  ),
  remove: document(
    'DELETE /v1/webhooks/{id}',
    'deleteWebhook',
    'Remove a webhook',
    204,
    'It and its deliveries are gone.',
    undefined,
    ofChange,
  ),
  test: document(
    'POST /v1/webhooks/{id}/test',
    'testWebhook',
    'Send a test event',
    200,
    'What the receiver answered.',
    tested,
    {
      ...ofChange,
      errors: [...ofChange.errors, webhookErrors.webhook_secret_shut, httpErrors.overloaded],
    },
  ),
  rotate: document(
    'POST /v1/webhooks/{id}/rotate',
    'rotateWebhookSecret',
    'Exchange the secret',
    200,
    'The webhook; secret only when it was made here.',
    endpoint.extend({ secret: z.string().optional() }),
    { ...ofChange, idempotent: true, body: json(rotateBody) },
  ),
  deliveries: document(
    'GET /v1/webhooks/{id}/deliveries',
    'listDeliveries',
    'List deliveries, newest first',
    200,
    'Deliveries.',
    z.object({
      deliveries: z.array(delivery),
      next_cursor: nextCursor,
      next_before: z.string().nullable().meta({ description: 'The same, by its former name.' }),
    }),
    { ...ofOne, query: deliveriesQuery },
  ),
  deliveriesOf: document(
    'GET /v1/webhook-deliveries',
    'listDeliveriesOfSubject',
    'List deliveries of what happened to one thing, newest first',
    200,
    'Deliveries to the endpoints that the key may see. A page may hold fewer than `limit`, or none, while `next_cursor` tells of more.',
    z.object({ deliveries: z.array(delivery), next_cursor: nextCursor }),
    { query: deliveriesOfQuery },
  ),
  delivery: document(
    'GET /v1/webhook-deliveries/{id}',
    'getDelivery',
    'Show a delivery',
    200,
    'With every attempt.',
    attempted,
    ofDelivery,
  ),
  replayOne: document(
    'POST /v1/webhook-deliveries/{id}/replay',
    'replayDelivery',
    'Deliver again',
    202,
    'It is due now.',
    delivery,
    {
      ...ofDelivery,
      idempotent: true,
      errors: [webhookErrors.webhook_endpoint_disabled],
    },
  ),
  replay: document(
    'POST /v1/webhooks/{id}/replay',
    'replayDeliveries',
    'Deliver again what has failed since a time',
    202,
    'How many are due now. What is under way is left to its attempt.',
    z.object({ replayed: z.int() }),
    {
      ...ofOne,
      idempotent: true,
      body: json(replayBody),
      errors: [webhookErrors.webhook_endpoint_disabled],
    },
  ),
} as const

/** Every type of event, with the body of its delivery. */
export const eventDocuments: readonly EventDocument[] = Object.values(eventGroups).flatMap(
  ({ types, payload }) =>
    Object.entries(types).map(([type, summary]) => ({
      type,
      summary,
      body: z.object({
        id: z.string(),
        type: z.literal(type),
        timestamp: z.iso.datetime(),
        sequence: z.int(),
        data: payload,
      }),
    })),
)
