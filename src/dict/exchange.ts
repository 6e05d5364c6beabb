import { inRequestSpan } from '#src/platform/observe/index.ts'
import { readUnzipped } from '#src/platform/runtime/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'

/** The largest answer that we read, decompressed: an entry has some kilobytes. */
export const answerBytesMax = 256 * 1024
/** A list may be longer: its items hold what people wrote. */
export const listBytesMax = 4 * 1024 * 1024

/** Nothing usable came back. Messages never hold what was asked. */
export class DirectoryAwayError extends Error {
  override readonly name = 'DirectoryAwayError'
  /** `timeout`, `connection`, `too_large`, `document`, `signature`, `signing`, `status` or `circuit_open`. */
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Nothing usable may come back: then that, in its place. */
export const orAway = <T>(answer: Promise<T>): Promise<T | DirectoryAwayError> =>
  answer.catch((error: unknown) => {
    if (error instanceof DirectoryAwayError) return error
    throw error
  })

export type DirectoryRequest = {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly timeoutMs: number
  readonly bytesMax?: number
}

export type DirectoryAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/**
 * Makes one request and reads its whole answer.
 *
 * @throws DirectoryAwayError
 */
export const exchange = (
  request: DirectoryRequest,
  tls: KeyMaterial | undefined,
): Promise<DirectoryAnswer> =>
  // The path holds a key, which belongs into no trace.
  inRequestSpan({ method: request.method, url: new URL(request.url).origin }, () =>
    ask(request, tls),
  )

/**
 * Fetches what is too large for memory as a whole, piece by piece.
 *
 * @throws DirectoryAwayError
 */
export async function* download(
  url: string,
  tls: KeyMaterial | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await send(url, { signal: AbortSignal.any([timeout, signal]) }, tls)
    if (response.status !== 200) {
      throw new DirectoryAwayError('status', `a file is answered ${response.status}`)
    }
    yield* plainOf(response)
  } catch (error) {
    throw error instanceof DirectoryAwayError ? error : awayBy(error, timeout, 'file')
  }
}

const plainOf = ({ headers, body }: Response): AsyncIterable<Uint8Array> | [] => {
  const isZipped = headers.get('content-encoding') === 'gzip'
  return (isZipped ? body?.pipeThrough(new DecompressionStream('gzip')) : body) ?? []
}

const send = (
  url: string,
  { headers, ...init }: RequestInit & Pick<Partial<DirectoryRequest>, 'headers'>,
  tls: KeyMaterial | undefined,
): Promise<Response> =>
  fetch(url, {
    ...init,
    redirect: 'manual',
    // The runtime would inflate an answer as a whole: a few bytes may stand for gigabytes.
    decompress: false,
    // With a port the connection is reset; TLS still checks the name in the URL.
    headers: {
      Host: new URL(url).hostname,
      'User-Agent': 'Trilho',
      'Accept-Encoding': 'gzip',
      ...headers,
    },
    ...(tls === undefined || !url.startsWith('https:') ? {} : { tls: tls.current() }),
  })

const awayBy = (error: unknown, timeout: AbortSignal, awaited: string): DirectoryAwayError => {
  if (timeout.aborted) return new DirectoryAwayError('timeout', `no ${awaited} in time`)
  const code = String((error as { readonly code?: unknown }).code ?? 'unknown')
  return new DirectoryAwayError('connection', `the connection failed: ${code}`)
}

const ask = async (
  { method, url, headers, body, timeoutMs, bytesMax = answerBytesMax }: DirectoryRequest,
  tls: KeyMaterial | undefined,
): Promise<DirectoryAnswer> => {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const accepted = { Accept: 'application/xml, application/problem+xml' }
    const init = { method, signal: timeout, headers: { ...accepted, ...headers } }
    const response = await send(url, body === undefined ? init : { ...init, body }, tls)
    const { bytes, isWhole } = await readUnzipped(response.body, bytesMax)
    if (isWhole) return { status: response.status, headers: response.headers, body: bytes }
  } catch (error) {
    throw awayBy(error, timeout, 'answer')
  }
  throw new DirectoryAwayError('too_large', `the answer has more than ${bytesMax} bytes`)
}
