import { z } from 'zod'
import {
  type Actor,
  ApiError,
  countRequest,
  httpErrors,
  type RequestContext,
  type Route,
  type RouteContract,
  readBytes,
  readJson,
  readQuery,
  restrictedBy,
  route,
} from '#src/platform/http/index.ts'
import type { WholeApi } from '#src/platform/lifecycle/index.ts'
import {
  forbiddenBy,
  institutionScopes,
  type Principal,
  parseKey,
  restrictionNamesOf,
} from '#src/platform/security/index.ts'
import { type Asset, loadAssets } from './assets.ts'
import { readCookie, writeCookie } from './cookie.ts'
import { isFollowed, isOfPayments, listsMax } from './followed.ts'
import { consoleHeader, requireOwnOrigin, requireOwnPage } from './guard.ts'
import type { Live } from './live.ts'
import { consolePage } from './page.ts'
import type { Session, Sessions } from './session.ts'

export type ConsoleDeps = {
  readonly sessions: Sessions
  readonly live: Live
  /** The address that shows a trace, with `{trace_id}` in place of its id. */
  readonly traceUrl: string | undefined
  readonly absoluteSeconds: number
  /** The API that answers all its requests; it is there once the process listens. */
  readonly api: () => WholeApi
}

const signInBytesMax = 1_024
const signIn = z.strictObject({ key: z.string().max(200) })
const yearSeconds = 31_536_000
const apiPrefix = '/console/api'
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Page, files, session, and the way to the API. */
export const consoleRoutes = (deps: ConsoleDeps): readonly Route[] => [
  route({ ...open('POST /console/session'), ...signInBody }, ({ c }) => ours(begin(deps, c))),
  route(open('GET /console/session'), ({ c }) => ours(show(deps, c))),
  route(open('DELETE /console/session'), ({ c }) => ours(end(deps, c))),
  route(open('GET /console/live'), ({ c }) => follow(deps, c)),
  route(open('GET /console/assets/{name}'), ({ c }) => asset(c)),
  ...methods.map((method) =>
    route(open(`${method} ${apiPrefix}/*`), ({ c }) => ours(forward(deps, c))),
  ),
  route(open('GET /console'), async () => consolePage(await loadAssets())),
  route(open('GET /console/*'), async () => consolePage(await loadAssets())),
]

const signInBody = { accepts: ['application/json'], bodyBytesMax: signInBytesMax }

/** Handlers check that the request comes from our own page before they read anything. */
const open = (at: RouteContract['at']): RouteContract => ({
  at,
  scope: 'public',
  operation: undefined,
  summary: 'Web console',
  responses: { 200: { description: 'Web console' } },
})

/** Marks the answer for the page, which takes an act for done only if we answered, and nobody in between. */
const ours = async (answering: Promise<Response>): Promise<Response> => {
  const answer = await answering
  answer.headers.set(consoleHeader, 'answer')
  return answer
}

const unauthorized = (): ApiError =>
  new ApiError(httpErrors.unauthorized, 'There is no session, or it is over: sign in again.')

const principalOf = async ({ api }: ConsoleDeps, key: string): Promise<Principal | undefined> =>
  api().authenticator.verify(`Bearer ${key}`)

/** Everything that the page may know of the key: all but its secret. */
const described = ({ traceUrl }: ConsoleDeps, principal: Principal) => ({
  name: principal.name,
  key_id: principal.keyId,
  account: principal.owner,
  environment: principal.environment,
  scopes: [...principal.scopes].filter(
    (scope) => principal.isInstitution || !institutionScopes.has(scope),
  ),
  restrictions: restrictionNamesOf(principal.restrictions),
  trace_url: traceUrl ?? null,
})

const begin = async (deps: ConsoleDeps, c: RequestContext): Promise<Response> => {
  requireOwnPage(c)
  const { key } = await readJson(c, signIn)
  const principal = parseKey(key) === undefined ? undefined : await principalOf(deps, key)
  if (principal === undefined) {
    throw new ApiError(httpErrors.unauthorized, 'The API key is unknown, expired or revoked.')
  }
  const restriction = forbiddenBy(principal.restrictions, true, c.env.address)
  if (restriction !== undefined) throw restrictedBy(restriction, 'the console')
  await countRequest(c.env, principal)
  const former = await deps.sessions.read(readCookie(c.req.raw))
  if (former !== undefined) await deps.sessions.end(former, actorBy(c, former.key))
  const sealed = await deps.sessions.begin(key, actorBy(c, key))
  const cookie = writeCookie(c.req.raw, sealed, deps.absoluteSeconds)
  return Response.json(described(deps, principal), { headers: { 'Set-Cookie': cookie } })
}

/** Names the key by its id even if it is revoked by the time of the sign-out. */
const actorBy = (c: RequestContext, key: string): Actor => ({
  id: parseKey(key)?.id ?? 'nobody',
  requestId: c.env.requestId,
})

/** The key that the page shows. Another tab may have signed the browser in with another one since. */
const shownHeader = 'x-trilho-console-key'

/** @throws ApiError 401 */
const requireShown = ({ key }: Session, shown: string | undefined): void => {
  if (shown !== undefined && shown !== parseKey(key)?.id) throw unauthorized()
}

/** @throws ApiError 401: there is none, or it is not that of the key that the page shows */
const sessionOf = async (
  { sessions }: ConsoleDeps,
  c: RequestContext,
  shown = c.req.header(shownHeader),
): Promise<Session> => {
  const session = await sessions.read(readCookie(c.req.raw))
  if (session === undefined || c.req.raw.headers.has('authorization')) throw unauthorized()
  requireShown(session, shown)
  return session
}

const show = async (deps: ConsoleDeps, c: RequestContext): Promise<Response> => {
  requireOwnPage(c)
  const session = await deps.sessions.read(readCookie(c.req.raw))
  const principal = session && (await principalOf(deps, session.key))
  if (principal === undefined) throw unauthorized()
  return Response.json(described(deps, principal))
}

const end = async (deps: ConsoleDeps, c: RequestContext): Promise<Response> => {
  requireOwnPage(c)
  const session = await deps.sessions.read(readCookie(c.req.raw))
  if (session !== undefined) {
    requireShown(session, c.req.header(shownHeader))
    await deps.sessions.end(session, actorBy(c, session.key))
  }
  return new Response(null, {
    status: 204,
    headers: { 'Set-Cookie': writeCookie(c.req.raw, '', 0) },
  })
}

/** The request as the API knows it: with the key of the session, and without the console's own headers. */
const forward = async (deps: ConsoleDeps, c: RequestContext): Promise<Response> => {
  const isUsers = requireOwnPage(c)
  const session = await sessionOf(deps, c)
  const url = new URL(c.req.raw.url)
  const { method } = c.req.raw
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await readBytes(c) : new Uint8Array()
  const answer = await askApi(deps, c, `${url.pathname.slice(apiPrefix.length)}${url.search}`, {
    method,
    headers: headersFor(c, session),
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  })
  const headers = new Headers(answer.headers)
  headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
  headers.set('Cross-Origin-Resource-Policy', 'same-origin')
  const renewed = isUsers ? deps.sessions.renewed(session) : undefined
  if (renewed !== undefined) {
    headers.append('Set-Cookie', writeCookie(c.req.raw, renewed, deps.absoluteSeconds))
  }
  return new Response(answer.body, { status: answer.status, headers })
}

/** @param path with its query */
const askApi = (
  { api }: ConsoleDeps,
  c: RequestContext,
  path: string,
  init: RequestInit,
): Promise<Response> => {
  const address = c.env.address()
  return api().fetch(new Request(`${new URL(c.req.raw.url).origin}${path}`, init), {
    requestIP: () => (address === undefined ? null : { address }),
  })
}

/** Paths that change more seldom than payments are asked for in one of so many turns. */
const turnsOfOthers = 3
const list = z.string().max(1_000).refine(isFollowed, {
  error: 'must be what a page follows, with its query',
})
const followed = z.strictObject({
  list: z
    .string()
    .transform((lists) => lists.split(' '))
    .pipe(z.array(list).max(listsMax)),
  /** The id of the last event of the stream before; it has no mark for paths that the former stream did not follow. */
  since: z.string().max(400).optional(),
  /** The id of the key that the page shows: on a stream, a browser sends no header of ours. */
  key: z.string().max(100).optional(),
})

/** Tells which of the things on a page have changed; keeps no session alive. */
const follow = async (deps: ConsoleDeps, c: RequestContext): Promise<Response> => {
  requireOwnOrigin(c)
  const { list: paths, since, key } = readQuery(c, followed)
  const session = await sessionOf(deps, c, key)
  // The listener counts the body of an answer to HEAD, and this one has no end.
  if (c.req.raw.method === 'HEAD') return new Response(null)
  return deps.live.open({
    sessionId: session.id,
    shown: paths.map((path) => ({
      path,
      name: JSON.stringify([session.key, c.env.address(), path]),
      ask: () => askApi(deps, c, path, { headers: headersFor(c, session) }),
      turns: isOfPayments(path) ? 1 : turnsOfOthers,
    })),
    isSessionOn: async () => (await deps.sessions.read(readCookie(c.req.raw))) !== undefined,
    // A browser that comes back by itself repeats the address, but its header names a later event.
    lastId: c.req.header('last-event-id') ?? since,
  })
}

/** The headers that may pass; none of them tells who asks, or from where. */
const passed = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
]

const headersFor = (c: RequestContext, { key }: Session): Headers => {
  const headers = new Headers({
    Authorization: `Bearer ${key}`,
    'X-Request-Id': c.env.requestId,
  })
  for (const name of passed) {
    const value = c.req.raw.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  return headers
}

const asset = async (c: RequestContext): Promise<Response> => {
  const name = c.req.param('name') ?? ''
  const { files } = await loadAssets()
  const found = Object.hasOwn(files, name) ? files[name] : undefined
  if (found === undefined) throw new ApiError(httpErrors.not_found, 'No such file.')
  const { text, coding } = codingOf(found, c.req.header('accept-encoding') ?? '')
  const headers = {
    'Content-Type': found.contentType,
    'Cache-Control': `public, max-age=${yearSeconds}, immutable`,
    'Cross-Origin-Resource-Policy': 'same-origin',
    Vary: 'Accept-Encoding',
    ETag: `"${name}${coding ?? ''}"`,
    ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
  }
  if (c.req.header('if-none-match') === headers.ETag) {
    return new Response(null, { status: 304, headers })
  }
  return new Response(Uint8Array.fromBase64(text), { headers })
}

const codingOf = ({ raw, gzip, brotli }: Asset, accepted: string) => {
  if (/\bbr\b/.test(accepted)) return { text: brotli, coding: 'br' }
  return /\bgzip\b/.test(accepted)
    ? { text: gzip, coding: 'gzip' }
    : { text: raw, coding: undefined }
}
