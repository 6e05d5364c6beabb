import { CodecError } from '#codecs/bytes'
import { boundaryOf, decodeMultipart, multipartLimits } from '#codecs/multipart'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { InterfaceError, StreamGoneError, TooManyStreamsError } from './errors.ts'
import {
  answerBytesMax,
  type ExchangeAnswer,
  exchange,
  NotConnectedError,
  retryAfterMs,
} from './exchange.ts'
import { problemOf } from './problem.ts'
import type { PulledMessage, PullStream } from './types.ts'

/** Read streams that the interface allows one participant on one channel. */
export const channelStreamsMax = 6
const throttledMs = 1_000
const closeTimeoutMs = 5_000
const pathCharactersMax = 2_048
/** We bound the whole answer only: if a part is too large for anything else, we can still store it. */
const answerLimits = { ...multipartLimits, partBytesMax: answerBytesMax }

export type StreamDeps = {
  /** `…/api/v1/out/{ispb}/stream/start` */
  readonly startUrl: string
  readonly tls: KeyMaterial | undefined
  readonly timeoutMs: number
  /** Called once when the stream cannot be used any more. */
  readonly onEnd: () => void
}

type Reading = { readonly messages: readonly PulledMessage[]; readonly nextUrl: string }

/** Opens a read stream; the first request may already bring messages, which the first `next` returns. */
export const openStream = async (
  deps: StreamDeps,
  signal: AbortSignal | undefined,
): Promise<PullStream> => {
  let first: Reading | undefined = await read(deps, deps.startUrl, signal)
  let { nextUrl } = first
  let hasEnded = false
  /** True when the interface may have answered the last read with messages that nobody has seen. */
  let isUnseen = false
  const end = (): void => {
    if (!hasEnded) deps.onEnd()
    hasEnded = true
  }
  const readOn = async (given: AbortSignal | undefined): Promise<Reading> => {
    try {
      const reading = await read(deps, nextUrl, given)
      isUnseen = false
      return reading
    } catch (error) {
      isUnseen ||= mayHaveDelivered(error)
      if (error instanceof StreamGoneError) end()
      throw error
    }
  }
  return {
    next: async (given) => {
      const reading = first ?? (await readOn(given))
      first = undefined
      nextUrl = reading.nextUrl
      return reading.messages
    },
    close: async () => {
      end()
      if (isUnseen) return
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

/** Only a refusal or a missing connection proves that the interface has handed nothing out. */
const mayHaveDelivered = (error: unknown): boolean => {
  if (error instanceof NotConnectedError) return false
  const status = error instanceof InterfaceError ? error.status : undefined
  return status === undefined || status < 400 || status >= 500
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

/** Relative or absolute, opaque; we refuse another host, because the next request presents our certificate. */
const nextOf = (headers: Headers, startUrl: string): string => {
  const given = headers.get('pi-pull-next') ?? ''
  const next = given === '' || given.length > pathCharactersMax ? null : URL.parse(given, startUrl)
  if (next === null) throw new InterfaceError('the answer has no usable PI-Pull-Next')
  // The real interface names itself without the port that our URL may have.
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
      return [{ resourceId: headers.get('pi-resourceid') || undefined, xml: body }]
    }
    return decodeMultipart(body, boundaryOf(contentType), answerLimits).map((part) => ({
      resourceId: part.headers.get('pi-resourceid') || undefined,
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
