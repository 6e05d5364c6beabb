import { currentTraceparent, inSpan, isTracing, type SpanAttributes } from './tracing.ts'

const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Only host and port of a URL: paths and queries hold keys and identifiers. */
export const serverOf = (url: string): SpanAttributes => {
  const { hostname, port, protocol } = new URL(url)
  return {
    'server.address': hostname,
    'server.port': port === '' ? ports[protocol] : Number(port),
  }
}

/**
 * Makes an HTTP request to a counterparty a client span of its trace; a request without a trace, such as the polling of
 * a mailbox, does not begin one.
 */
export const inRequestSpan = <T extends { readonly status: number }>(
  { method, url }: { readonly method: string; readonly url: string },
  send: () => Promise<T>,
): Promise<T> => {
  if (!isTracing() || currentTraceparent() === undefined) return send()
  const attributes = { 'http.request.method': method, ...serverOf(url) }
  return inSpan(method, { kind: 'client', attributes }, async (span) => {
    const answer = await send()
    span.set({ 'http.response.status_code': answer.status })
    if (answer.status >= 400) span.fail(String(answer.status))
    return answer
  })
}
