/** Nobody may frame, sniff, cache or execute an answer of this API; pages set their own policy. */
const policy = "default-src 'none'; frame-ancestors 'none'"

/** Sets the headers that every response has. A response that has `X-Content-Type-Options` has been through here. */
export const setHeaders = (headers: Headers, requestId: string): void => {
  headers.set('X-Request-Id', requestId)
  if (headers.has('X-Content-Type-Options')) return
  headers.set('X-Content-Type-Options', 'nosniff')
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  if (!headers.has('Content-Security-Policy')) headers.set('Content-Security-Policy', policy)
}

/** All except the request's id, ready to copy: for hot routes, whose headers are always the same. */
export const readyHeaders = (contentType: string): Headers => {
  const headers = new Headers({ 'Content-Type': contentType })
  setHeaders(headers, '')
  return headers
}
