import { constants, createInflateRaw } from 'node:zlib'
import { CodecError } from '#codecs/bytes'
import {
  boundaryOf,
  decodeMultipart,
  type MultipartPart,
  multipartLimits,
  salvageMultipart,
} from '#codecs/multipart'
import { isGzip, readBounded } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { askBeside } from './beside.ts'
import {
  AnswerTooLargeError,
  InterfaceError,
  type RawAnswer,
  StreamGoneError,
  TooManyStreamsError,
  UncutAnswerError,
} from './errors.ts'
import {
  answerBytesMax,
  type ExchangeRequest,
  exchange,
  LateError,
  NotConnectedError,
  retryAfterMs,
} from './exchange.ts'
import { type Patience, readAgainMaxMs } from './patience.ts'
import { problemOf } from './problem.ts'
import { resourceIdIn } from './resource-id.ts'
import type { PulledMessage, PullStream } from './types.ts'

/** Read streams that the interface allows one participant on one channel. */
export const channelStreamsMax = 6
const throttledMs = 1_000
const closeTimeoutMs = 5_000
const pathCharactersMax = 2_048
/** Messages of one answer; the interface gives ten. */
const answerMessagesMax = 1_000
/** We bound the whole answer only: if a part is too large for anything else, we can still store it. */
const answerLimits = {
  ...multipartLimits,
  partBytesMax: answerBytesMax,
  partsMax: answerMessagesMax,
}
/** However long the interface asks a read to wait, we ask again after this time. */
export const readRetryAfterMaxMs = 4_000

export type StreamDeps = {
  /** `…/api/v1/out/{ispb}/stream/start` */
  readonly startUrl: string
  readonly tls: KeyMaterial | undefined
  readonly patience: Patience
  /** Called once when the stream cannot be used any more. */
  readonly onEnd: () => void
}

type Reading = { readonly messages: readonly PulledMessage[]; readonly nextUrl: string }

/** Opens a read stream; the first request may already bring messages, which the first `next` returns. */
export const openStream = async (
  deps: StreamDeps,
  signal: AbortSignal | undefined,
): Promise<PullStream> => {
  const twice = createTwice(deps)
  let first: Reading | UncutAnswerError | undefined = await opening(deps, signal, twice.late)
  let { nextUrl } = first
  let hasEnded = false
  /** True when the interface may have answered the last read with messages that nobody has seen. */
  let isUnseen = first instanceof UncutAnswerError || first.messages.length > 0
  const end = (): void => {
    if (!hasEnded) deps.onEnd()
    hasEnded = true
  }
  const readOn = async (given: AbortSignal | undefined): Promise<Reading> => {
    try {
      return await read(deps, nextUrl, given)
    } catch (error) {
      isUnseen ||= mayHaveDelivered(error)
      if (error instanceof StreamGoneError) end()
      throw error
    }
  }
  return {
    next: async (given) => {
      const more = twice.next()
      if (more !== undefined) return more
      const reading = first ?? (await readOn(given))
      first = undefined
      if (reading instanceof UncutAnswerError) throw reading
      isUnseen = false
      nextUrl = reading.nextUrl
      return reading.messages
    },
    takeAsRead: ({ nextUrl: confirming }) => {
      nextUrl = confirming
      isUnseen = false
    },
    close: async () => {
      end()
      twice.confirm()
      if (!isUnseen) await closeStream(deps, nextUrl)
    },
  }
}

/**
 * The stream that the same request opened once more, where it was asked twice and the first was late. What it holds
 * comes between the reads of the other, and would come again otherwise when the interface has missed it for long enough.
 */
const createTwice = (deps: StreamDeps) => {
  let held: Reading | undefined
  let unconfirmed: string | undefined
  /** Nobody waits for it: if closing fails, the stream ends by itself, and we recognise what is delivered again. */
  const close = (url: string): void => void closeStream(deps, url).catch(() => {})
  const confirm = (): void => {
    if (unconfirmed !== undefined) close(unconfirmed)
    unconfirmed = undefined
  }
  return {
    late: (answer: RawAnswer): void => {
      try {
        const reading = readingOf(answer, deps.startUrl, false)
        if (reading.messages.length === 0) close(reading.nextUrl)
        else held = reading
      } catch {
        // We do not confirm it, so what we could not read comes again over another stream.
      }
    },
    /** The messages that it holds; the next call confirms them. */
    next: (): readonly PulledMessage[] | undefined => {
      confirm()
      unconfirmed = held?.nextUrl
      const messages = held?.messages
      held = undefined
      return messages
    },
    confirm,
  }
}

/** Confirms what the interface delivered last. */
const closeStream = async ({ tls }: StreamDeps, url: string): Promise<void> => {
  const { status } = await exchange(
    { method: 'DELETE', url, accept: '*/*', timeoutMs: closeTimeoutMs },
    tls,
  )
  if (status !== 200 && status !== 410) {
    throw new InterfaceError(`closing a read stream: status ${status}`, { status })
  }
}

/** An answer that cannot be cut has opened the stream all the same. */
const opening = async (
  deps: StreamDeps,
  signal: AbortSignal | undefined,
  late: (answer: RawAnswer) => void,
): Promise<Reading | UncutAnswerError> => {
  try {
    return await read(deps, deps.startUrl, signal, late)
  } catch (error) {
    if (error instanceof UncutAnswerError) return error
    throw error
  }
}

/** Only a refusal or a missing connection proves that the interface has handed nothing out. */
const mayHaveDelivered = (error: unknown): boolean => {
  if (error instanceof NotConnectedError) return false
  const status = error instanceof InterfaceError ? error.status : undefined
  return status === undefined || status < 400 || status >= 500
}

const read = async (
  { startUrl, tls, patience }: StreamDeps,
  url: string,
  signal: AbortSignal | undefined,
  late?: (answer: RawAnswer) => void,
): Promise<Reading> => {
  const isRepeatable = url !== startUrl
  const request = { method: 'GET', url, accept: 'multipart/mixed', signal } as const
  let answer: RawAnswer
  try {
    answer = await patiently(request, tls, { patience, late })
  } catch (error) {
    if (!(error instanceof AnswerTooLargeError) || error.status !== 200) throw error
    throw uncut('too_large', error.answer, salvaged(error.answer).messages, isRepeatable, startUrl)
  }
  return readingOf(answer, startUrl, isRepeatable)
}

/**
 * What is cut, or has bytes behind it, is unzipped as far as it goes: the interface may not give its messages again. What
 * would pass for a whole document then, and may be none, stays as it is.
 */
const unzippedSoFar = async (answer: RawAnswer): Promise<RawAnswer> => {
  if (!isGzip(answer.body)) return answer
  const { bytes, isWhole } = await readBounded(inflatable(answer.body), answerBytesMax)
  const inflated = { ...answer, body: bytes }
  if (!isWhole) throw new AnswerTooLargeError(inflated)
  return bytes.length > 0 && isCuttable(inflated) ? inflated : answer
}

const plainHeaderBytes = 10

/** Inflates a gzip with a plain header until an error, or the end of the compressed data. */
const inflatable = async function* (body: Uint8Array): AsyncGenerator<Uint8Array> {
  if (body[3] !== 0) return
  const inflate = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH })
  inflate.end(body.subarray(plainHeaderBytes))
  try {
    yield* inflate
  } catch {
    // The bytes before it are judged by themselves.
  }
}

const readingOf = (answer: RawAnswer, startUrl: string, isRepeatable: boolean): Reading => {
  const { status, headers, body } = answer
  if (status === 410) throw new StreamGoneError()
  if (status === 429) {
    throw new TooManyStreamsError(Math.min(retryAfterMs(headers, throttledMs), readRetryAfterMaxMs))
  }
  if (status !== 200 && status !== 204) {
    const problem = problemOf(body)
    throw new InterfaceError(`reading: status ${status} ${problem.type}`.trimEnd(), {
      status,
      problem,
    })
  }
  const nextUrl = nextOf(headers, startUrl)
  if (status === 204) return { nextUrl, messages: [] }
  if (isGzip(body)) throw uncut('content_encoding', answer, [], isRepeatable, startUrl)
  const { messages, lost } = messagesOf(answer)
  if (lost !== undefined) throw uncut(lost, answer, messages, isRepeatable, startUrl)
  return { nextUrl, messages }
}

/** Asked again beside the one that hangs, over a connection of its own. */
const patiently = async (
  request: Omit<ExchangeRequest, 'timeoutMs'>,
  tls: KeyMaterial | undefined,
  asking: { readonly patience: Patience; readonly late: ((answer: RawAnswer) => void) | undefined },
): Promise<RawAnswer> => {
  const { patience, late } = asking
  const timeoutMs = patience.limitMs()
  try {
    const { answer, afterMs, isRescued } = await askBeside({
      ask: async (given, isBeside) => {
        const { signal } = request
        const whole = {
          ...request,
          timeoutMs,
          isFresh: isBeside,
          signal: signal === undefined ? given : AbortSignal.any([signal, given]),
        }
        return unzippedSoFar(await exchange(whole, tls))
      },
      // A stream that is gone may be so for the second of two equal reads only, until the first has waited too long.
      isGood: ({ status }, waitedMs) =>
        status === 200 || status === 204 || (status === 410 && waitedMs >= readAgainMaxMs),
      isOver: (error) => error instanceof LateError,
      againMs: patience.againMs(),
      late,
    })
    patience.answered(afterMs, isRescued)
    return answer
  } catch (error) {
    if (error instanceof LateError) patience.late()
    else patience.failed()
    throw error
  }
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

const uncut = (
  code: string,
  answer: RawAnswer,
  messages: readonly PulledMessage[],
  isRepeatable: boolean,
  startUrl: string,
): UncutAnswerError =>
  new UncutAnswerError(code, answer, {
    messages,
    isRepeatable,
    nextUrl: nextOf(answer.headers, startUrl),
    digest: Bun.hash.xxHash64(answer.body).toString(16),
  })

type Cut = {
  readonly messages: readonly PulledMessage[]
  /** Why these are not all; undefined when they are. */
  readonly lost: string | undefined
}

const messagesOf = (answer: RawAnswer): Cut => {
  const { headers, body } = answer
  const contentType = headers.get('content-type') ?? ''
  if (!isMultipart(answer)) {
    if (isOpenEnded(headers) && !endsAsMessage(body)) return salvaged(answer)
    return {
      messages: [{ resourceId: resourceIdIn(headers.get('pi-resourceid')), xml: body }],
      lost: undefined,
    }
  }
  try {
    const parts = decodeMultipart(body, boundaryOf(contentType), answerLimits)
    return { messages: parts.map(messageOf), lost: undefined }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    return salvaged(answer)
  }
}

/** Whether its end is that of its connection, which may have broken off. */
const isOpenEnded = (headers: Headers): boolean =>
  !headers.has('content-length') && !headers.has('transfer-encoding')

const hyphen = 45

/** By its Content-Type, or, where that is of no kind of document, by its beginning. */
const isMultipart = ({ headers, body }: RawAnswer): boolean => {
  const contentType = headers.get('content-type') ?? ''
  if (/^\s*multipart\//i.test(contentType)) return true
  return !/xml/i.test(contentType) && body[0] === hyphen && body[1] === hyphen
}

/** A cut document would be taken for the whole one; only what ends as a message does is no cut one. */
const endOfMessage = /<\/(?:[\w.-]+:)?Envelope\s*>\s*$/
const endBytes = 256

const endsAsMessage = (body: Uint8Array): boolean =>
  endOfMessage.test(Buffer.from(body.subarray(-endBytes)).toString('latin1'))

/** Whether it shows by itself that something of it is missing. */
const isCuttable = (answer: RawAnswer): boolean => isMultipart(answer) || endsAsMessage(answer.body)

/** Cuts what it can out of a malformed body. */
const salvaged = (answer: RawAnswer): Cut => {
  const contentType = answer.headers.get('content-type') ?? ''
  if (!isMultipart(answer)) return { messages: [], lost: 'single' }
  const { parts, lost, rest } = salvageMultipart(answer.body, contentType, answerLimits)
  const all = rest !== undefined && endsAsMessage(rest.body) ? [...parts, rest] : parts
  return { messages: all.map(messageOf), lost }
}

const messageOf = ({ headers, body }: MultipartPart): PulledMessage => ({
  resourceId: resourceIdIn(headers.get('pi-resourceid')),
  xml: body,
})
