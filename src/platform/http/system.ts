import { z } from 'zod'
import type { Metrics } from '../observe/index.ts'
import { inTimeOr } from '../runtime/index.ts'
import type { Authenticator } from '../security/index.ts'
import { forbiddenBy } from '../security/keys/restrictions.ts'
import { route } from './asked.ts'
import { docsRoutes } from './docs.ts'
import { ApiError, type ErrorDefinition, httpErrors, textOf } from './errors.ts'
import { answerFile, type KeptFile, keepFile } from './file.ts'
import { type Language, languageOf } from './language.ts'
import { type EventDocument, openApiDocument } from './openapi.ts'
import { problemPage, problemsPage } from './problem-page.ts'
import { type ErrorStyle, errorTypePrefix } from './render.ts'
import type { RequestContext, Route, RouteContract } from './route.ts'
import { id } from './text.ts'

/** A round trip as `detail` tells of it: to a tenth of a millisecond, null before the first answer. */
export const roundTrip = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms * 10) / 10

/** One dependency's or feature's condition. */
export type HealthCheck = {
  readonly status: 'ok' | 'degraded' | 'down'
  /** False: this process must not get traffic now. */
  readonly ready: boolean
  /** The fault, as `/ready` tells it: anyone may read it, so it holds no personal data and no addresses. */
  readonly reason?: string
  /** For callers with `ops:read`. */
  readonly detail?: Readonly<Record<string, unknown>>
}

export type HealthReport = {
  readonly draining: boolean
  readonly checks: Readonly<Record<string, HealthCheck>>
}

export type SystemOptions = {
  readonly version: string
  readonly metrics: Metrics | undefined
  readonly authenticator: Authenticator
  readonly health: () => Promise<HealthReport>
  /** All routes of the process, for the document. */
  readonly routes: () => readonly Route[]
  /** The events that subscribers get, for the document. */
  readonly events?: readonly EventDocument[]
}

const health = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    database: z.string().optional().meta({ description: 'Only when a database is configured' }),
    checks: z.record(z.string(), z.unknown()).optional().meta({
      description: 'Only for keys with ops:read',
    }),
  })
  .meta({ id: 'Health' })

const readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  reason: z.string().optional(),
  degraded: z
    .array(z.string())
    .optional()
    .meta({ description: 'What is wrong while the process can still do its work' }),
})

const codeParams = z.object({ code: id })

const catalogueEntry = z
  .object({
    code: z.string(),
    status: z.int(),
    title: z.string(),
    meaning: z.string(),
    remedy: z.string(),
    retryable: z.boolean(),
  })
  .meta({ id: 'ErrorCatalogueEntry' })

const contracts = {
  health: {
    at: 'GET /health',
    scope: 'public',
    operation: 'getHealth',
    summary: 'State of the process and its database',
    responses: { 200: { description: 'The process runs', schema: health } },
  },
  ready: {
    at: 'GET /ready',
    scope: 'public',
    operation: 'getReadiness',
    summary: 'Whether this process should get traffic',
    responses: {
      200: { description: 'Ready', schema: readiness },
      503: {
        description: 'Draining, a needed part is down, or a loop has stalled',
        schema: readiness,
      },
    },
  },
  metrics: {
    at: 'GET /metrics',
    scope: 'public',
    operation: 'getMetrics',
    summary: 'Metrics in the Prometheus text format',
    responses: {
      200: { description: 'Metrics', schema: z.string(), contentType: 'text/plain' },
    },
  },
  openApi: {
    at: 'GET /openapi.json',
    scope: 'public',
    operation: 'getOpenApiDocument',
    summary: 'This API as an OpenAPI 3.1 document',
    responses: { 200: { description: 'The document', schema: z.looseObject({}) } },
  },
  listErrors: {
    at: 'GET /v1/errors',
    scope: 'public',
    operation: 'listErrorCodes',
    summary: 'Every error code with status, meaning and remedy',
    responses: {
      200: {
        description: 'The catalogue',
        schema: z.object({ errors: z.array(catalogueEntry) }),
        alsoAs: ['text/html'],
      },
    },
  },
  findError: {
    at: `GET ${errorTypePrefix}{code}`,
    scope: 'public',
    operation: 'getErrorCode',
    summary: 'One error code: what the `type` of a problem points to',
    description:
      'A page with an example for `Accept: text/html`, as browsers send it. In Portuguese where `Accept-Language` prefers it.',
    params: codeParams,
    exampleFrom: { code: 'listErrorCodes#/errors/0/code' },
    responses: {
      200: { description: 'The entry', schema: catalogueEntry, alsoAs: ['text/html'] },
    },
  },
} as const satisfies Readonly<Record<string, RouteContract>>

/** Serves operators and their tools: health, readiness, metrics, documents. */
export const systemRoutes = (options: SystemOptions): readonly Route[] => [
  healthRoute(options),
  readyRoute(options),
  ...(options.metrics === undefined ? [] : [metricsRoute(options.metrics)]),
  openApiRoute(options),
  ...docsRoutes(),
]

const healthRoute = ({ version, authenticator, health: report }: SystemOptions): Route =>
  route(contracts.health, async ({ c }) => {
    const { checks } = await report()
    const degraded = Object.values(checks).some((check) => check.status !== 'ok')
    const { database } = checks
    return c.json({
      status: degraded ? 'degraded' : 'ok',
      version,
      ...(database === undefined ? {} : { database: database.status }),
      ...((await mayReadDetails(authenticator, c)) ? { checks } : {}),
    })
  })

/** The same time that each part has to answer for its health. */
const verifyMsMax = 500

const mayReadDetails = async (
  authenticator: Authenticator,
  c: RequestContext,
): Promise<boolean> => {
  try {
    const asked = Promise.resolve(authenticator.verify(c.req.header('authorization')))
    const principal = await inTimeOr(asked, verifyMsMax, undefined)
    if (principal?.isInstitution !== true || !principal.scopes.has('ops:read')) return false
    return forbiddenBy(principal.restrictions, true, c.env.address) === undefined
  } catch {
    // Keys may live in the database whose failure is being reported.
    return false
  }
}

const readyRoute = ({ health: report }: SystemOptions): Route =>
  route(contracts.ready, async ({ c }) => {
    const { draining, checks } = await report()
    const failing = Object.entries(checks).find(([, check]) => !check.ready)
    const reason = draining ? 'draining' : (failing?.[1].reason ?? failing?.[0])
    if (reason !== undefined) return c.json({ status: 'not_ready', reason }, 503)
    const degraded = Object.values(checks).flatMap((check) => check.reason ?? [])
    return c.json({ status: 'ready', ...(degraded.length === 0 ? {} : { degraded }) })
  })

const metricsKeptMs = 1_000

/** Anyone may ask, and some values come from the database: one answer at a time, which is kept for a second. */
const metricsRoute = (metrics: Metrics): Route => {
  let rendered: ReturnType<Metrics['render']> | undefined
  let keptUntilMs = 0
  return route(contracts.metrics, async () => {
    if (rendered === undefined || performance.now() > keptUntilMs) {
      keptUntilMs = Number.POSITIVE_INFINITY
      rendered = metrics.render().finally(() => {
        keptUntilMs = performance.now() + metricsKeptMs
      })
    }
    const { contentType, text } = await rendered
    return new Response(text, { headers: { 'Content-Type': contentType } })
  })
}

const openApiRoute = ({ routes, version, events }: SystemOptions): Route => {
  let document: Promise<KeptFile> | undefined
  return route(contracts.openApi, async ({ c }) => {
    document ??= openApiDocument(routes(), version, events).then((value) =>
      keepFile(JSON.stringify(value)),
    )
    return answerFile(c, await document, { 'Content-Type': 'application/json' })
  })
}

/** Browsers name it; programs that take anything get JSON. */
const wantsPage = (c: RequestContext): boolean =>
  (c.req.header('accept') ?? '').toLowerCase().includes('text/html')

const entryOf = (definition: ErrorDefinition, language: Language) => {
  const { code, status, retryable } = definition
  const { title, meaning, remedy } = textOf(definition, language)
  return { code, status, title, meaning, remedy, retryable }
}

/** How the routes show it that tell of it. */
const styleOf = (definition: ErrorDefinition, routes: readonly Route[]): ErrorStyle => {
  const own = routes.filter(({ document }) => document.errors?.includes(definition))
  const [look = 'problem', ...others] = new Set(own.map(({ errorStyle }) => errorStyle))
  return others.length === 0 ? look : 'problem'
}

const inLanguage = async (
  c: RequestContext,
  answer: (language: Language) => Response | Promise<Response>,
): Promise<Response> => {
  const language = languageOf(c.req.header('accept-language') ?? null)
  const response = await answer(language)
  response.headers.set('Content-Language', language)
  response.headers.set('Vary', 'Accept, Accept-Language')
  return response
}

/** The error catalogue. Every listener has it: the `type` of a problem leads there. */
export const catalogueRoutes = (
  errors: readonly ErrorDefinition[],
  routes: () => readonly Route[],
): readonly Route[] => {
  const catalogue = [...errors].sort((left, right) => left.status - right.status)
  return [
    route(contracts.listErrors, ({ c }) =>
      inLanguage(c, (language) =>
        wantsPage(c)
          ? problemsPage(catalogue, language)
          : c.json({ errors: catalogue.map((one) => entryOf(one, language)) }),
      ),
    ),
    route(contracts.findError, ({ params, c }) => {
      const found = catalogue.find(({ code }) => code === params.code)
      if (found === undefined) throw new ApiError(httpErrors.not_found, 'No such error code.')
      return inLanguage(c, (language) =>
        wantsPage(c)
          ? problemPage(found, styleOf(found, routes()), language)
          : c.json(entryOf(found, language)),
      )
    }),
  ]
}
