import { Context, Hono } from 'hono'
import {
  currentTraceId,
  isTracing,
  type Logger,
  type OpenSpan,
  openSpan,
} from '../observe/index.ts'
import type { Authenticator, Networks, Principal } from '../security/index.ts'
import { forbiddenBy } from '../security/keys/restrictions.ts'
import { type Acts, createActs, type RecordAct } from './audit/acts.ts'
import { authorize, requireCertificate } from './authorize.ts'
import { createBodyHeadersCheck } from './body.ts'
import { ApiError, httpErrors } from './errors.ts'
import { setHeaders } from './headers.ts'
import { languageOf } from './language.ts'
import type { Rooms } from './limits/concurrency.ts'
import { countRequest, type RateLimits, rateHeaders } from './limits/rate.ts'
import { useOf } from './limits/work.ts'
import type { HttpMetrics } from './metrics.ts'
import { forwardedFor, type Peers, shownCertificate } from './peer.ts'
import { type ErrorStyle, internalError, renderError } from './render.ts'
import { requestIdOf } from './request-id.ts'
import { restrictedBy, restrictionOf } from './restricted.ts'
import { type Exchange, isReading, type RequestContext, type Route } from './route.ts'
import { shadowed } from './shadowed.ts'
import { checkUrl } from './text.ts'

export type AppOptions = {
  readonly routes: readonly Route[]
  readonly authenticator: Authenticator
  readonly logger: Logger
  readonly metrics: HttpMetrics
  /** Undefined without a database. */
  readonly recordAct?: RecordAct | undefined
  /** Undefined: no caller is limited. */
  readonly rates?: RateLimits | undefined
  /** The room for what a route runs; undefined: as much as comes. */
  readonly roomsFor?: (route: Route) => Rooms | undefined
  /** Proxies whose word for the caller's address counts. */
  readonly trustedProxies?: Networks | undefined
  /** True: every answer asks its caller to connect anew, which may lead to another process. */
  readonly isDraining?: () => boolean
}

export type App = {
  /** Bun.serve calls it, and so do tests. */
  readonly fetch: (request: Request, peers?: Peers) => Promise<Response>
}

type Handler = (c: RequestContext) => Response | Promise<Response>

const unmatched = 'unmatched'

/** The HTTP application: one pass over the request, no chain of middleware. */
export const createApp = (options: AppOptions): App => {
  const { routes, metrics, logger, isDraining = () => false } = options
  const acts = createActs(options.recordAct, logger)
  const hono = new Hono<{ Bindings: Exchange }>()
  for (const { method, path } of shadowed(routes)) {
    hono.on(method, path, (c) => {
      throw noRoute(hono, routes, c)
    })
  }
  for (const route of routes) {
    hono.on(route.method, honoPath(route.path), handlerOf(route, options, acts))
  }
  hono.notFound((c) => {
    throw noRoute(hono, routes, c)
  })
  const failed = (error: unknown, exchange: Exchange, request: Request): Response => {
    const answered = onError(error, exchange, request, logger)
    if (answered.status === 403) refused(acts, error, exchange)
    return answered
  }
  hono.onError((error, c) => failed(error, c.env, c.req.raw))
  const matchOf = matcherOf(hono.router, routes)

  /**
   * Does what Hono's own dispatcher does with a handler that has no middleware, but saves two promises and a closure
   * per request. Hono still handles paths with escapes and paths that match nothing. HEAD is GET, whose body the
   * listener counts and does not send.
   */
  const dispatch = (given: Request, exchange: Exchange): Response | Promise<Response> => {
    const request = addressed(given)
    const path = plainPath(request.url)
    const isHead = request.method === 'HEAD'
    const matchResult = matchOf(isHead ? 'GET' : request.method, path)
    // Only `handlerOf` ever registers a handler.
    const handler = matchResult[0][0]?.[0][0] as Handler | undefined
    if (path !== '' && handler !== undefined) {
      return handler(new Context(request, { env: exchange, path, matchResult }))
    }
    return hono.fetch(isHead && path === '' ? new Request(request, asGet) : request, exchange)
  }

  const answer = async (
    request: Request,
    exchange: Exchange,
    span?: OpenSpan,
  ): Promise<Response> => {
    let response: Response
    try {
      response = await dispatch(request, exchange)
    } catch (error) {
      response = failed(error, exchange, request)
    }
    exchange.rooms?.leave(useOf(exchange))
    const { inPortuguese } = exchange.route ?? {}
    if (inPortuguese !== undefined) {
      const told = inLanguage(response, request, inPortuguese)
      response = told instanceof Promise ? await told : told
    }
    setHeaders(response.headers, exchange.requestId)
    if (exchange.allowance !== undefined) {
      const rates = rateHeaders(exchange.allowance)
      for (const name in rates) response.headers.set(name, rates[name] ?? '')
    }
    if (isDraining()) response.headers.set('Connection', 'close')
    const durationMs = performance.now() - exchange.startedMs
    const path = exchange.route?.path ?? unmatched
    metrics.observe(request.method, path, response.status, durationMs / 1000)
    logger.request({
      requestId: exchange.requestId,
      method: request.method,
      path,
      status: response.status,
      durationMs,
      keyId: exchange.principal?.keyId,
      traceId: currentTraceId(),
      more: exchange.logFields,
    })
    if (span !== undefined) endServerSpan(span, request.method, path, response.status)
    return response
  }
  return {
    fetch: (request, peers) => {
      const exchange = exchangeOf(request, peers, options)
      if (!isTracing()) return answer(request, exchange)
      const parent = request.headers.get('traceparent') ?? undefined
      const span = openSpan(request.method, { kind: 'server', parent })
      return span.within(() => answer(request, exchange, span))
    },
  }
}

/** The router's matches; for a path without parameters, the match is always the same. */
const matcherOf = (router: Hono<{ Bindings: Exchange }>['router'], routes: readonly Route[]) => {
  const literals = new Map<string, Map<string, ReturnType<typeof router.match>>>()
  for (const { method, path } of routes) {
    if (path.includes('{')) continue
    const ofPath = literals.get(path) ?? new Map<string, ReturnType<typeof router.match>>()
    literals.set(path, ofPath.set(method, router.match(method, path)))
  }
  return (method: string, path: string) =>
    literals.get(path)?.get(method) ?? router.match(method, path)
}

/** An answer whose texts for people may be asked for in another language; it is kept, and replayed, in English. */
const inLanguage = (
  response: Response,
  request: Request,
  inPortuguese: (answer: unknown) => unknown,
): Response | Promise<Response> => {
  // An error, which is there already.
  if (response.headers.has('content-language')) return response
  const language = languageOf(request.headers.get('accept-language'))
  response.headers.set('Vary', 'Accept-Language')
  response.headers.set('Content-Language', language)
  if (language === 'en' || response.headers.get('content-type') !== 'application/json') {
    return response
  }
  const { status, headers } = response
  return response
    .json()
    .then((answer) => new Response(JSON.stringify(inPortuguese(answer)), { status, headers }))
}

const exchangeOf = (
  request: Request,
  peers: Peers | undefined,
  { rates, trustedProxies: trusted }: AppOptions,
): Exchange => ({
  requestId: requestIdOf(request.headers.get('x-request-id')),
  startedMs: performance.now(),
  route: undefined,
  body: undefined,
  principal: undefined,
  logFields: undefined,
  rates,
  allowance: undefined,
  rooms: undefined,
  address: () =>
    forwardedFor(
      peers?.requestIP(request)?.address,
      request.headers.get('x-forwarded-for') ?? '',
      trusted,
    ),
  certificate: () =>
    shownCertificate(
      peers?.requestIP(request)?.address,
      request.headers.get('client-cert'),
      trusted,
    ),
})

const asGet = { method: 'GET' }
/** Clients write the same host again and again. */
let hostBefore: string | null = null
const hostForm = /^(?:[\w.~-]+|\[[\da-fA-F:.]+\])?(?::\d{0,5})?$/

/**
 * The request with a whole URL: without a Host (HTTP/1.0, which load balancers check with) the listener gives a path.
 *
 * @throws ApiError for a missing or second Host: a proxy before us may have read another
 */
const addressed = (request: Request): Request => {
  const host = request.headers.get('host')
  if (host !== hostBefore) {
    if (host !== null && !hostForm.test(host)) {
      throw new ApiError(httpErrors.bad_request, 'The Host header is not one host.')
    }
    hostBefore = host
  }
  return request.url.startsWith('/')
    ? new Request(`http://localhost${request.url}`, request)
    : request
}

/** The path of a URL; empty where it holds escapes, which Hono resolves. */
const plainPath = (url: string): string => {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  let end = start
  for (; end < url.length; end++) {
    const code = url.charCodeAt(end)
    if (code === percent) return ''
    if (code === question || code === hash) break
  }
  return url.slice(start, end)
}

const percent = 0x25
const question = 0x3f
const hash = 0x23

const endServerSpan = (span: OpenSpan, method: string, route: string, status: number): void => {
  span.rename(`${method} ${route}`)
  span.set({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
  })
  if (status >= 500) span.fail(String(status))
  span.end()
}

/** `/v1/messages/{id}` is `/v1/messages/:id` to the router. */
const honoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Writes to the audit log who was refused, and by what. */
const refused = (acts: Acts, error: unknown, { principal, route, requestId }: Exchange): void => {
  if (principal === undefined || route === undefined) return
  const outcome = restrictionOf(error) ?? 'forbidden'
  acts.refused({
    requestId,
    keyId: principal.keyId,
    object: `${route.method} ${route.path}`,
    outcome,
  })
}

const handlerOf = (route: Route, options: AppOptions, acts: Acts): Handler => {
  const { authenticator } = options
  const checkBodyHeaders = createBodyHeadersCheck(route)
  const rooms = options.roomsFor?.(route)
  const enter: Handler = (c) => {
    checkUrl(c.req.raw.url, route.path)
    checkBodyHeaders(c.req.raw)
    rooms?.enter(useOf(c.env))
    c.env.rooms = rooms
    const { act } = route
    return act === undefined ? route.handle(c) : acts.done(act, c, () => route.handle(c))
  }
  if (route.scope === 'public') {
    return (c: RequestContext) => {
      c.env.route = route
      return enter(c)
    }
  }
  const admit = (c: RequestContext, principal: Principal | undefined) => {
    c.env.principal = principal
    authorize(principal, route)
    requireCertificate(principal, c.env)
    const restriction = forbiddenBy(principal.restrictions, isReading(route), c.env.address)
    if (restriction !== undefined) throw restrictedBy(restriction, 'this request')
    return enter(c)
  }
  /** Counts every request of a key, also one that it has no right to. */
  const limit = (c: RequestContext, principal: Principal | undefined) => {
    const counted = principal && countRequest(c.env, principal)
    return counted === undefined ? admit(c, principal) : counted.then(() => admit(c, principal))
  }
  return (c: RequestContext) => {
    c.env.route = route
    const found = authenticator.verify(c.req.raw.headers.get('authorization'))
    return found instanceof Promise
      ? found.catch(keysUnavailable).then((principal) => limit(c, principal))
      : limit(c, found)
  }
}

/** We cannot ask the place that holds the keys, which is not the caller's fault. */
const keysUnavailable = (cause: unknown): never => {
  throw new ApiError(httpErrors.unavailable, 'The API key cannot be verified now.', { cause })
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Nothing matches path and method: 405 when another method would, else 404. */
const noRoute = (
  hono: Hono<{ Bindings: Exchange }>,
  routes: readonly Route[],
  c: RequestContext,
): ApiError => {
  const own = routes.filter(({ path }) => path === c.req.path).map(({ method }) => method)
  const allowed: string[] =
    own.length > 0
      ? own
      : methods.filter((method) => hono.router.match(method, c.req.path)[0].length > 0)
  if (allowed.length === 0) {
    c.env.errorStyle = styleNear(routes, c.req.path)
    return new ApiError(httpErrors.not_found, 'No such path.')
  }
  if (allowed.includes('GET')) allowed.push('HEAD')
  c.env.route = routeForStyle(hono, routes, c.req.path, allowed[0] ?? '')
  return new ApiError(
    httpErrors.method_not_allowed,
    `${c.req.method} is not allowed here, only ${allowed.join(', ')}.`,
    { headers: { Allow: allowed.join(', ') } },
  )
}

/** The look of the errors of what begins alike: a client of `/v1/transactions` reads theirs below it, too. */
const styleNear = (routes: readonly Route[], path: string): ErrorStyle | undefined => {
  const [first = '', second = ''] = path.slice(1).split('/', 2)
  const start = `/${first}/${second}`
  return routes.find((route) => `${route.path}/`.startsWith(`${start}/`))?.errorStyle
}

/** The route another method would have reached gives the pattern and the look of the error. */
const routeForStyle = (
  hono: Hono<{ Bindings: Exchange }>,
  routes: readonly Route[],
  path: string,
  method: string,
): Route | undefined => {
  const registered = hono.router.match(method, path)[0][0]?.[0]?.[1]
  return routes.find(
    (route) => route.method === method && honoPath(route.path) === registered?.path,
  )
}

/** As proxies log it: the client was gone before we could answer. Nobody receives it. */
const clientClosedRequest = 499

const onError = (
  thrown: unknown,
  exchange: Exchange,
  request: Request,
  logger: Logger,
): Response => {
  if (thrown instanceof DOMException && thrown.name === 'AbortError' && request.signal.aborted) {
    return new Response(null, { status: clientClosedRequest })
  }
  const error = internalError(thrown)
  // An unexpected error deserves a line, even if the caller is at fault; shed requests are counted instead.
  const isShed = error.definition === httpErrors.overloaded
  if ((error.definition.status >= 500 && !isShed) || error !== thrown) {
    logger.error(
      { request_id: exchange.requestId, code: error.definition.code, err: error.cause ?? error },
      'request failed',
    )
  }
  const style: ErrorStyle = exchange.route?.errorStyle ?? exchange.errorStyle ?? 'problem'
  const language = languageOf(request.headers.get('accept-language'))
  return renderError(error, style, exchange.requestId, language)
}
