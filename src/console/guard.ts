import { ApiError, httpErrors, type RequestContext } from '#src/platform/http/index.ts'

/** Without it no request of the console is taken. A page of another origin cannot send it without our leave. */
const consoleHeader = 'x-trilho-console'

/** `background`: what a page asks for by itself, which keeps no session alive. */
const purposes = new Set(['user', 'background'])

/**
 * Refuses what a page of another origin had a browser send (CSRF).
 *
 * @returns true when its user asked for it
 * @throws ApiError 403
 */
export const requireOwnPage = (c: RequestContext): boolean => {
  const { headers, url } = c.req.raw
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const purpose = headers.get(consoleHeader) ?? ''
  const isSameSite = site === null || site === 'same-origin'
  const isSameOrigin = origin === null || hostOf(origin) === new URL(url).host
  if (!isSameSite || !isSameOrigin || !purposes.has(purpose)) {
    throw new ApiError(httpErrors.forbidden, 'Only the pages of the console may ask for this.')
  }
  return purpose === 'user'
}

/** Of the scheme nothing is asked: a proxy may speak HTTPS to the browser and HTTP to us. */
const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined
