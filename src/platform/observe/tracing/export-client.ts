import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2'

export type ExportClient = {
  /** Resolves when the collector has taken the spans; rejects with an {@link ExportError}, in bounded time. */
  send(message: Uint8Array): Promise<void>
  /** Closes it for good. */
  close(): void
}

/** Why the collector did not take spans: a gRPC status by number, an HTTP status, or a connection's error code. */
export class ExportError extends Error {
  override readonly name = 'ExportError'
  readonly reason: string

  constructor(reason: string) {
    super(`the collector did not take the spans: ${reason}`)
    this.reason = reason
  }
}

export type ExportOptions = {
  /** Besides the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** PEM: authorities of the collector, asked for at each connection; the public ones when undefined. */
  readonly ca?: (() => string | undefined) | undefined
  readonly timeoutMs?: number | undefined
}

const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const timeoutMsDefault = 5_000
const zipped = 1
const frameHeadBytes = 5

/**
 * One unary gRPC call at a time over one connection, made when it is needed. It uses HTTP/2 directly: the further work
 * of a client library costs a loaded process more than the spans themselves. Messages go out compressed, which every
 * collector has to take; a tenth of the bytes is a tenth of the work on both sides.
 */
export const createExportClient = (
  endpoint: string,
  { headers = {}, ca, timeoutMs = timeoutMsDefault }: ExportOptions = {},
): ExportClient => {
  let session: ClientHttp2Session | undefined
  let isClosed = false
  const connected = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session
    const authorities = ca?.()
    const fresh = connectTo(endpoint, authorities)
    session = fresh
    const forget = (): void => {
      if (session === fresh) session = undefined
    }
    fresh.on('error', forget)
    fresh.on('close', forget)
    // The collector stops: running calls may end, the next call opens another connection.
    fresh.on('goaway', () => {
      forget()
      fresh.close()
    })
    return fresh
  }
  return {
    send: async (message) => {
      if (isClosed) throw new ExportError('closed')
      await call(connected(), framed(message), headers, timeoutMs)
    },
    close: () => {
      isClosed = true
      session?.destroy()
    },
  }
}

/** @throws ExportError for authorities that cannot be read: the runtime makes no connection then */
const connectTo = (endpoint: string, ca: string | undefined): ClientHttp2Session => {
  try {
    return connect(endpoint, ca === undefined ? {} : { ca })
  } catch (error) {
    throw new ExportError(error instanceof Error ? error.message : 'no connection')
  }
}

const framed = (message: Uint8Array): Buffer => {
  const head = Buffer.alloc(frameHeadBytes)
  head[0] = zipped
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const ownHeaders = {
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/grpc',
  'grpc-encoding': 'gzip',
  te: 'trailers',
}

const call = (
  session: ClientHttp2Session,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<void> => {
  const done = Promise.withResolvers<void>()
  const fail = (reason: string): void => done.reject(new ExportError(reason))
  const failWith = (error: Error & { readonly code?: unknown }): void =>
    fail(typeof error.code === 'string' ? error.code : error.name)
  // A connection that cannot be made reports it to its own listeners first, or only to them.
  session.once('error', failWith)
  const stream = session.request({ ...headers, ...ownHeaders, 'grpc-timeout': `${timeoutMs}m` })
  const timer = setTimeout(() => {
    fail('no answer in time')
    // The other end may be gone without a word: only a new connection finds out.
    session.destroy()
  }, timeoutMs)
  const note = ({ ':status': http, 'grpc-status': grpc }: IncomingHttpHeaders): void => {
    if (http !== undefined && Number(http) !== constants.HTTP_STATUS_OK) fail(`HTTP ${http}`)
    else if (grpc !== undefined && Number(grpc) !== 0) fail(`gRPC ${grpc}`)
    else if (grpc !== undefined) done.resolve()
  }
  stream.on('response', note)
  stream.on('trailers', note)
  stream.on('error', failWith)
  // An answer has settled the call before.
  stream.on('close', () => fail('no status'))
  stream.resume()
  stream.end(body)
  return done.promise.finally(() => {
    clearTimeout(timer)
    session.off('error', failWith)
  })
}
