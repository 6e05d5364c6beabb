import { type ZodType, z } from 'zod'
import { type ErrorDefinition, httpErrors } from './errors.ts'
import { type ErrorStyle, problemContentType } from './render.ts'
import type { Route } from './route.ts'

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
      details: z.record(z.string(), z.unknown()),
    }),
  })
  .meta({ id: 'ErrorEnvelope' })

const accessError = z
  .object({
    error: z.object({ code: z.enum(['UNAUTHORIZED', 'FORBIDDEN']), message: z.string() }),
  })
  .meta({ id: 'AccessError' })

/** What subscribers are sent of a type of event. */
export type EventDocument = {
  readonly type: string
  readonly summary: string
  readonly body: ZodType
}

/** The OpenAPI 3.1 document of all routes. Built when first asked for: the generator is heavy. */
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
  for (const route of routes) app.openAPIRegistry.registerPath(pathOf(route))
  for (const { type, summary, body } of events) {
    app.openAPIRegistry.registerWebhook({
      ...{ method: 'post', path: type, summary },
      request: { body: { content: { 'application/json': { schema: body } } } },
      responses: { 200: { description: 'Taken. Any other status is tried again.' } },
    })
  }
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Trilho',
      version,
      description: "One gateway for Brazil's three payment rails: Pix (SPI), cards, DREX.",
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
  }) as unknown as Record<string, unknown>
}

type PathConfig = Parameters<
  import('@hono/zod-openapi').OpenAPIHono['openAPIRegistry']['registerPath']
>[0]

const pathOf = (route: Route): PathConfig => {
  const { document } = route
  const isPublic = route.scope === 'public'
  const scopeLine = isPublic ? 'Needs no key.' : `Scope: \`${route.scope}\`.`
  return {
    method: route.method.toLowerCase() as 'get',
    path: route.path,
    operationId: operationId(route),
    summary: document.summary,
    description: [document.description, scopeLine].filter(Boolean).join('\n\n'),
    tags: [document.tag],
    security: isPublic ? [] : [{ apiKey: [] }],
    request: requestOf(route) as NonNullable<PathConfig['request']>,
    responses: { ...successes(route), ...failures(route) } as PathConfig['responses'],
  }
}

const operationId = (route: Route): string =>
  `${route.method.toLowerCase()}${route.path
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`

const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().meta({
    description:
      'Printable ASCII. A repetition under it gets the first answer, with `Idempotent-Replayed: true`.',
  }),
})

const requestOf = ({ document }: Route): Record<string, unknown> => ({
  ...(document.params === undefined ? {} : { params: document.params }),
  ...(document.query === undefined ? {} : { query: document.query }),
  ...(document.idempotent ? { headers: idempotencyHeader } : {}),
  ...(document.body === undefined
    ? {}
    : { body: { content: contentOf(document.body, document.bodyExamples) } }),
})

const contentOf = (
  body: Readonly<Record<string, ZodType>>,
  named: Readonly<Record<string, object>> = {},
): Record<string, unknown> => {
  const examples = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, { value }]),
  )
  const shown = Object.keys(examples).length === 0 ? {} : { examples }
  return Object.fromEntries(
    Object.entries(body).map(([type, schema]) => [type, { schema, ...shown }]),
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

const failures = (route: Route): Record<string, unknown> => {
  const definitions: ErrorDefinition[] = [httpErrors.internal, ...(route.document.errors ?? [])]
  if (route.document.idempotent) {
    definitions.push(
      httpErrors.bad_request,
      httpErrors.idempotency_in_progress,
      httpErrors.idempotency_mismatch,
    )
  }
  if (route.accepts !== undefined) {
    definitions.push(httpErrors.body_too_large, httpErrors.unsupported_media_type)
  }
  if (route.scope !== 'public') definitions.push(httpErrors.unauthorized, httpErrors.forbidden)
  const byStatus = Map.groupBy(new Set(definitions), (definition) => definition.status)
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      {
        description: same.map(({ code, title }) => `\`${code}\`: ${title}`).join('; '),
        content: errorContent(status, route.errorStyle ?? 'problem'),
      },
    ]),
  )
}

const errorContent = (status: number, style: ErrorStyle): Record<string, unknown> => {
  if (status === 401 || status === 403) return { 'application/json': { schema: accessError } }
  return style === 'problem'
    ? { [problemContentType]: { schema: problem } }
    : { 'application/json': { schema: envelope } }
}
