import { CodecError } from '#codecs/bytes'
import { boundaryOf, decodeMultipart } from '#codecs/multipart'
import type { TlsMaterial } from '#src/platform/tls/index.ts'
import { InterfaceError, StreamGoneError, TooManyStreamsError } from './errors.ts'
import { type ExchangeAnswer, exchange, retryAfterMs } from './exchange.ts'
import { problemOf } from './problem.ts'
import type { PulledMessage, PullStream } from './types.ts'

/** Read streams that the interface allows a participant on one channel. */
export const channelStreamsMax = 6
const throttledMs = 1_000
const closeTimeoutMs = 5_000
const pathCharactersMax = 2_048

export type StreamDeps = {
  /** `…/api/v1/out/{ispb}/stream/start` */
  readonly startUrl: string
  readonly tls: TlsMaterial | undefined
  readonly timeoutMs: number
  /** Called once when the stream is of no more use. */
  readonly onEnd: () => void
}

type Reading = { readonly messages: readonly PulledMessage[]; readonly nextUrl: string }

/** Opens a read stream; the first request may bring messages already, which the first `next` gives. */
export const openStream = async (
  deps: StreamDeps,
  signal: AbortSignal | undefined,
): Promise<PullStream> => {
  let first: Reading | undefined = await read(deps, deps.startUrl, signal)
  let { nextUrl } = first
  let hasEnded = false
  const end = (): void => {
    if (!hasEnded) deps.onEnd()
    hasEnded = true
  }
  return {
    next: async (given) => {
      try {
        const reading = first ?? (await read(deps, nextUrl, given))
        first = undefined
        nextUrl = reading.nextUrl
        return reading.messages
      } catch (error) {
        end()
        throw error
      }
    },
    close: async () => {
      end()
      const { status } = await exchange(
        { method: 'DELETE', url: nextUrl, accept: '*/*', timeoutMs: closeTimeoutMs },
        deps.tls,
      )
      if (status !== 200 && status !== 410) {
        throw new InterfaceError(`closing a read stream: status ${status}`, { status })
      }
    },
  }
}

const read = async (
  { startUrl, tls, timeoutMs }: StreamDeps,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Reading> => {
  const answer = await exchange(
    { method: 'GET', url, accept: 'multipart/mixed', timeoutMs, signal },
    tls,
  )
  const { status, headers, body } = answer
  if (status === 410) throw new StreamGoneError()
  if (status === 429) throw new TooManyStreamsError(retryAfterMs(headers, throttledMs))
  if (status !== 200 && status !== 204) {
    const problem = problemOf(body)
    throw new InterfaceError(`reading: status ${status} ${problem.type}`.trimEnd(), {
      status,
      problem,
    })
  }
  const nextUrl = nextOf(headers, startUrl)
  return { nextUrl, messages: status === 204 ? [] : messagesOf(answer) }
}

/** Relative or absolute, opaque; another host is refused, since the next request presents our certificate. */
const nextOf = (headers: Headers, startUrl: string): string => {
  const given = headers.get('pi-pull-next') ?? ''
  const next = given === '' || given.length > pathCharactersMax ? null : URL.parse(given, startUrl)
  if (next === null) throw new InterfaceError('the answer has no usable PI-Pull-Next')
  // The real interface names itself without the port of the URL we were given.
  const start = new URL(startUrl)
  if (next.hostname !== start.hostname) {
    throw new InterfaceError('PI-Pull-Next points to another host')
  }
  return `${start.origin}${next.pathname}${next.search}`
}

const messagesOf = ({ headers, body, status }: ExchangeAnswer): readonly PulledMessage[] => {
  const contentType = headers.get('content-type') ?? ''
  try {
    if (!/^\s*multipart\//i.test(contentType)) {
      return [{ resourceId: idOf(headers.get('pi-resourceid')), xml: body }]
    }
    return decodeMultipart(body, boundaryOf(contentType)).map((part) => ({
      resourceId: idOf(part.headers.get('pi-resourceid')),
      xml: part.body,
    }))
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new InterfaceError(`the answer cannot be cut into messages: ${error.code}`, {
      status,
      cause: error,
    })
  }
}

const idOf = (id: string | null | undefined): string => {
  if (id === null || id === undefined || id === '') {
    throw new InterfaceError('a message came without PI-ResourceId')
  }
  return id
}
