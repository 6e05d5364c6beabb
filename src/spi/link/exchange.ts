import { inRequestSpan } from '#src/platform/observe/index.ts'
import { readBounded, unzipped } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import { AnswerTooLargeError, InterfaceError, type RawAnswer } from './errors.ts'

/** The limit of one answer after decompression: ten messages of the largest size we take, and their frame. */
export const answerBytesMax = 45 * 1024 * 1024
const userAgent = 'Trilho'

export type ExchangeRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly accept: string
  readonly body?: Uint8Array<ArrayBuffer>
  readonly contentType?: string
  readonly isGzip?: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Takes no kept connection: its other end may be gone. */
  readonly isFresh?: boolean
}

export type ExchangeAnswer = RawAnswer

/** The request cannot have reached the interface, because there was no connection. */
export class NotConnectedError extends InterfaceError {
  override readonly name = 'NotConnectedError'
}

/** The time is over, and the answer or its end has not come. */
export class LateError extends InterfaceError {
  override readonly name = 'LateError'
}

/**
 * Exactly the headers that the interface knows: it refuses any other, such as a tracing header, with 400. `Host` has
 * no port, or the interface resets the connection; TLS still checks the name in the URL.
 */
const headersOf = (request: ExchangeRequest): Record<string, string> => ({
  Host: new URL(request.url).hostname,
  Accept: request.accept,
  'Accept-Encoding': 'gzip',
  'User-Agent': userAgent,
  ...(request.contentType === undefined ? {} : { 'Content-Type': request.contentType }),
  ...(request.isGzip === true ? { 'Content-Encoding': 'gzip' } : {}),
})

/**
 * Makes one request and reads its whole answer, over a kept connection if there is one, with TLS 1.2 or later. What is
 * not compressed as it says stays as it is.
 *
 * @throws NotConnectedError, LateError, AnswerTooLargeError (over {@link answerBytesMax}), InterfaceError (cut answer)
 */
export const exchange = (
  request: ExchangeRequest,
  tls: KeyMaterial | undefined,
): Promise<ExchangeAnswer> => inRequestSpan(request, () => ask(request, tls))

const ask = async (
  request: ExchangeRequest,
  tls: KeyMaterial | undefined,
): Promise<ExchangeAnswer> => {
  const { url, method, body, timeoutMs, signal } = request
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method,
      headers: headersOf(request),
      redirect: 'manual',
      // The runtime would inflate it as a whole: a few bytes may stand for gigabytes.
      decompress: false,
      keepalive: request.isFresh !== true,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body === undefined ? {} : { body }),
      ...(tls === undefined || !url.startsWith('https:') ? {} : { tls: tls.current() }),
    })
    const came = await readBounded(response.body, answerBytesMax)
    const { bytes, isWhole } = came.isWhole
      ? await unzipped(came.bytes, answerBytesMax).catch(() => came)
      : came
    const answer = { status: response.status, headers: response.headers, body: bytes }
    if (!isWhole) throw new AnswerTooLargeError(answer)
    return answer
  } catch (error) {
    throw failureOf(error, timeout.aborted)
  }
}

/** True when nothing was written: no route, no listener, no such name, or a handshake that failed. */
const notConnected =
  /^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|FailedToOpenSocket|DNS|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA|ERROR_IN_CERT)/

const failureOf = (error: unknown, isLate: boolean): Error => {
  if (error instanceof InterfaceError) return error
  if (isLate) return new LateError('no answer in time', { cause: error })
  const code = String((error as { code?: unknown }).code ?? '')
  if (notConnected.test(code)) {
    return new NotConnectedError(`no connection: ${code}`, { cause: error })
  }
  return new InterfaceError(`the connection ended before the answer: ${code}`, { cause: error })
}

/** However long a server asks for, we hold a channel back no longer than this. */
const retryAfterMaxMs = 60_000

/** Retry-After in seconds, bounded; the given time if it is absent or unreadable. */
export const retryAfterMs = (headers: Headers, otherwiseMs: number): number => {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text) * 1000, retryAfterMaxMs) : otherwiseMs
}
