/** Nothing this API answers is to be framed, sniffed, cached or executed; pages set their own policy. */
const policy = "default-src 'none'; frame-ancestors 'none'"

/** Those every response has. What says "not to be sniffed" has been through here. */
export const setHeaders = (headers: Headers, requestId: string): void => {
  headers.set('X-Request-Id', requestId)
  if (headers.has('X-Content-Type-Options')) return
  headers.set('X-Content-Type-Options', 'nosniff')
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  if (!headers.has('Content-Security-Policy')) headers.set('Content-Security-Policy', policy)
}

/** All but the request's id, ready to be copied: for hot routes, whose headers are always the same. */
export const readyHeaders = (contentType: string): Headers => {
  const headers = new Headers({ 'Content-Type': contentType })
  setHeaders(headers, '')
  return headers
}
