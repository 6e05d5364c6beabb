import { type ZodType, z } from 'zod'
import { bytesMaxOf } from './body.ts'
import { type ErrorDefinition, httpErrors } from './errors.ts'
import { keyHeaderForm } from './idempotency/key.ts'
import { nameSchemas, type OpenApiDocument } from './openapi-names.ts'
import { type DocumentTag, documentTags, railOf, tagOf } from './openapi-tags.ts'
import { type ErrorStyle, problemContentType } from './render.ts'
import { acceptedBy, type Route } from './route.ts'

const violation = z.object({
  pointer: z.string().meta({ description: 'JSON Pointer, XPath, or a name' }),
  rule: z.string(),
  message: z.string(),
  expected: z.union([z.string(), z.number()]).optional(),
  got: z.union([z.string(), z.number()]).optional(),
})

const problem = z
  .looseObject({
    type: z.string().meta({ example: '/v1/errors/validation_failed' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    retryable: z.boolean(),
    request_id: z.string(),
    errors: z.array(violation).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details' })

const envelope = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.looseObject({
        field: z.string().nullable().describe('Which is at fault; null where none is'),
        value: z.unknown().describe('What was given, where it may be shown; otherwise null'),
      }),
    }),
  })
  .meta({ id: 'ErrorEnvelope' })

const accessError = z
  .object({
    error: z.object({ code: z.enum(['UNAUTHORIZED', 'FORBIDDEN']), message: z.string() }),
  })
  .meta({ id: 'AccessError' })

/** The messages that subscribers get for a type of event. */
export type EventDocument = {
  readonly type: string
  readonly summary: string
  readonly body: ZodType
}

/** The OpenAPI 3.1 document of all routes that have a name. Built when first asked for: the generator is heavy. */
export const openApiDocument = async (
  routes: readonly Route[],
  version: string,
  events: readonly EventDocument[] = [],
): Promise<Record<string, unknown>> => {
  const { OpenAPIHono } = await import('@hono/zod-openapi')
  const app = new OpenAPIHono()
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key: trl_<live|test>_<id>_<secret>',
  })
  for (const route of routes) {
    const { operation } = route.document
    if (operation !== undefined) app.openAPIRegistry.registerPath(pathOf(route, operation))
  }
  for (const event of events) app.openAPIRegistry.registerWebhook(webhookOf(event))
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Trilho',
      version,
      description: "One gateway for Brazil's three payment rails: Pix (SPI), cards, DREX.",
      contact: { name: 'Trilho' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...documentTags],
  })
  nameSchemas(document as unknown as OpenApiDocument)
  return document as unknown as Record<string, unknown>
}

type PathConfig = Parameters<
  import('@hono/zod-openapi').OpenAPIHono['openAPIRegistry']['registerPath']
>[0]

const webhookOf = ({ type, summary, body }: EventDocument): PathConfig => ({
  method: 'post',
  path: type,
  operationId: `receive${type
    .split('.')
    .map((step) => step.charAt(0).toUpperCase() + step.slice(1))
    .join('')}`,
  summary,
  tags: ['Events' satisfies DocumentTag],
  // A delivery carries no key of ours: its signature says who sends it.
  security: [],
  request: { body: { content: { 'application/json': { schema: body } }, required: true } },
  responses: {
    200: { description: 'Taken, as by any other status of success.' },
    410: { description: 'The receiver wants no more: the endpoint is disabled.' },
    '4XX': { description: 'Tried again, as after any other answer.' },
  },
})

const pathOf = (route: Route, operation: string): PathConfig => {
  const { document } = route
  const isPublic = route.scope === 'public'
  const scopeLine = isPublic ? 'Needs no key.' : `Scope: \`${route.scope}\`.`
  return {
    method: route.method.toLowerCase() as 'get',
    path: route.path,
    operationId: operation,
    summary: document.summary,
    description: [document.description, scopeLine].filter(Boolean).join('\n\n'),
    tags: [tagOf(route) ?? 'Operation'],
    security: isPublic ? [] : [{ apiKey: [] }],
    ...(document.exampleFrom === undefined ? {} : { 'x-example-from': document.exampleFrom }),
    request: requestOf(route) as NonNullable<PathConfig['request']>,
    responses: { ...successes(route), ...failures(route) } as PathConfig['responses'],
  }
}

const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().regex(keyHeaderForm).optional().meta({
    description:
      'Printable ASCII, bare or as a quoted string. A repetition under it gets the first answer, with `Idempotent-Replayed: true`.',
  }),
})

const requestOf = ({ document }: Route): Record<string, unknown> => ({
  ...(document.params === undefined ? {} : { params: document.params }),
  ...(document.query === undefined ? {} : { query: document.query }),
  ...(document.idempotent ? { headers: idempotencyHeader } : {}),
  ...(document.body === undefined
    ? {}
    : {
        body: {
          content: contentOf(document.body, document.bodyExamples),
          required: document.isBodyOptional !== true,
        },
      }),
})

const contentOf = (
  body: Readonly<Record<string, ZodType>>,
  named: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => {
  const examples = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, { value }]),
  )
  const shown = Object.keys(examples).length === 0 ? {} : { examples }
  return Object.fromEntries(
    Object.entries(body).map(([type, schema], at) => [
      type,
      { schema, ...(at === 0 ? shown : {}) },
    ]),
  )
}

const successes = ({ document }: Route): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(document.responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        ...(response.schema === undefined
          ? {}
          : {
              content: {
                [response.contentType ?? 'application/json']: {
                  schema: response.schema,
                  ...(response.example === undefined ? {} : { example: response.example }),
                },
                ...Object.fromEntries(
                  (response.alsoAs ?? []).map((type) => [type, { schema: z.string() }]),
                ),
              },
            }),
      },
    ]),
  )

/** The failures that any route may answer with, beside those that the route itself tells of. */
const failuresOfAll = (route: Route): ErrorDefinition[] => {
  const { document } = route
  const definitions: ErrorDefinition[] = [httpErrors.bad_request, httpErrors.internal]
  const isRead = document.params ?? document.query ?? document.body
  if (isRead !== undefined) {
    definitions.push(httpErrors.validation_failed, httpErrors.value_refused)
  }
  if (document.params !== undefined) definitions.push(httpErrors.not_found)
  if (document.idempotent) {
    definitions.push(httpErrors.idempotency_in_progress, httpErrors.idempotency_mismatch)
  }
  if (acceptedBy(route) !== undefined) {
    const { body_timeout, body_too_large, unsupported_media_type } = httpErrors
    definitions.push(body_timeout, body_too_large, unsupported_media_type)
  }
  if (route.scope === 'public') return definitions
  const { unauthorized, forbidden, unavailable, database_unavailable, not_configured } = httpErrors
  const { rate_limited, overloaded } = httpErrors
  return [
    ...definitions,
    rate_limited,
    ...(railOf(route) === undefined ? [] : [overloaded]),
    unauthorized,
    forbidden,
    unavailable,
    database_unavailable,
    not_configured,
  ]
}

const failures = (route: Route): Record<string, unknown> => {
  const definitions = [...failuresOfAll(route), ...(route.document.errors ?? [])]
  const byStatus = Map.groupBy(new Set(definitions), (definition) => definition.status)
  // An answer that says the same in another form, such as 503 of /ready, stands as the route tells it.
  for (const status of Object.keys(route.document.responses)) byStatus.delete(Number(status))
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      {
        description: same.map((error) => told(error, route)).join('; '),
        content: errorContent(status, route.errorStyle ?? 'problem'),
      },
    ]),
  )
}

const told = (error: ErrorDefinition, route: Route): string => {
  const { code, title } = error
  const more = error === httpErrors.body_too_large ? `, at most ${bytesMaxOf(route)} bytes` : ''
  return `\`${code}\`: ${title}${more}`
}

const errorContent = (status: number, style: ErrorStyle): Record<string, unknown> => {
  if (status === 401 || status === 403) return { 'application/json': { schema: accessError } }
  return style !== 'envelope'
    ? { [problemContentType]: { schema: problem } }
    : { 'application/json': { schema: envelope } }
}
