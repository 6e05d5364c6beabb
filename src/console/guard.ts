import { ApiError, httpErrors, type RequestContext } from '#src/platform/http/index.ts'

/**
 * We refuse every request of the console without this header: a page of another origin cannot send it without our
 * leave. The page, too, takes an act for done only if the answer has it.
 */
export const consoleHeader = 'x-trilho-console'

/** `background`: the page asks by itself, which keeps no session alive. */
const purposes = new Set(['user', 'background'])

/**
 * Refuses what a page of another origin had a browser send (CSRF).
 *
 * @returns true when its user asked for it
 * @throws ApiError 403
 */
export const requireOwnPage = (c: RequestContext): boolean => {
  requireOwnOrigin(c)
  const purpose = c.req.raw.headers.get(consoleHeader) ?? ''
  if (!purposes.has(purpose)) throw notOwn()
  return purpose === 'user'
}

/**
 * The same for a stream of events, for which a browser sends no header of ours. A stream changes nothing, and no page
 * of another origin can read it or send the cookie along.
 *
 * @throws ApiError 403
 */
export const requireOwnOrigin = (c: RequestContext): void => {
  const { headers, url } = c.req.raw
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const isSameSite = site === null || site === 'same-origin'
  const isSameOrigin = origin === null || hostOf(origin) === new URL(url).host
  if (!isSameSite || !isSameOrigin) throw notOwn()
}

const notOwn = (): ApiError =>
  new ApiError(httpErrors.forbidden, 'Only the pages of the console may ask for this.')

/** The scheme is not compared: a proxy may speak HTTPS to the browser and HTTP to us. */
const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined
