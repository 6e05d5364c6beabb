import { rootCertificates } from 'node:tls'
import {
  type AllowList,
  failureClassOf,
  firstAnswer,
  type LookUp,
  resolveTarget,
  type Target,
} from '#src/platform/http/index.ts'
import type { TlsOptions } from '#src/platform/security/index.ts'
import { type AttemptOutcome, retryAfterMs } from './domain.ts'
import { signatures } from './signing.ts'

const answerBytesMax = 4096
const answerWaitMsDefault = 1_000

/** One attempt to make. */
type Attempt = {
  readonly url: string
  /** The event's id: the same on every attempt and replay. */
  readonly eventId: string
  /** From 1. The first attempt begins with the name's first address, the second with the second. */
  readonly attempt: number
  readonly body: string
  /** Empty: it is not signed. */
  readonly keys: readonly Uint8Array[]
}

/**
 * @property errorClass - `timeout`, `connection`, `redirect`, `status` or `target_…`; undefined after 2xx
 * @property answer - the first 4 KiB of the body, as text; empty where it is compressed
 */
export type AttemptResult = {
  readonly at: Date
  readonly durationMs: number
  readonly statusCode: number | undefined
  readonly answer: string | undefined
  readonly errorClass: string | undefined
  readonly outcome: AttemptOutcome
}

export type Sender = (attempt: Attempt) => Promise<AttemptResult>

const failed: AttemptOutcome = { kind: 'failed', retryAfterMs: undefined }

/** Makes attempts over HTTP. */
export const createSender = (options: {
  readonly allowed: AllowList
  readonly timeoutMs: number
  readonly version: string
  /** How long we wait for the body of an answer: the status alone decides the delivery. */
  readonly answerWaitMs?: number
  /** The certificate to show, and authorities besides the public ones; asked for at every attempt. */
  readonly tls?: (() => TlsOptions) | undefined
  /** Instead of the system's. */
  readonly lookUp?: LookUp
}): Sender => {
  const { allowed, timeoutMs, version, answerWaitMs = answerWaitMsDefault, lookUp } = options

  const send = async (
    attempt: Attempt,
    at: Date,
  ): Promise<Omit<AttemptResult, 'at' | 'durationMs'>> => {
    const target = turned(await resolveTarget(attempt.url, allowed, lookUp), attempt.attempt)
    const timestamp = Math.floor(at.getTime() / 1000)
    const isSigned = attempt.keys.length > 0
    const request = {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        Host: target.host,
        'Content-Type': 'application/json',
        'Accept-Encoding': 'identity',
        'User-Agent': `Trilho/${version}`,
        'webhook-id': attempt.eventId,
        'webhook-timestamp': String(timestamp),
        ...(isSigned && {
          'webhook-signature': signatures(attempt.keys, attempt.eventId, timestamp, attempt.body),
        }),
      },
      body: attempt.body,
    } as const
    const response = await firstAnswer(target, request, tlsOf(options.tls?.()))
    const answer = await readAnswer(response, answerWaitMs)
    const { status } = response
    const isRedirect = status >= 300 && status < 400
    return { statusCode: status, answer, ...judge(status, isRedirect, response, at) }
  }

  return async (attempt) => {
    const at = new Date()
    const startedMs = performance.now()
    const rest = await send(attempt, at).catch((error: unknown) => ({
      statusCode: undefined,
      answer: undefined,
      errorClass: failureClassOf(error),
      outcome: failed,
    }))
    return { at, durationMs: Math.round(performance.now() - startedMs), ...rest }
  }
}

/** If an address swallows the request, no time is left for the next one, so the next attempt begins with that. */
const turned = ({ urls, ...rest }: Target, attempt: number): Target => {
  const first = (attempt - 1) % urls.length
  return { ...rest, urls: [...urls.slice(first), ...urls.slice(0, first)] }
}

const tlsOf = ({ ca, cert, key }: TlsOptions = {}) => ({
  ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  ...(cert === undefined || key === undefined ? {} : { cert, key }),
})

const judge = (
  status: number,
  isRedirect: boolean,
  { headers }: Response,
  at: Date,
): Pick<AttemptResult, 'errorClass' | 'outcome'> => {
  if (status >= 200 && status < 300)
    return { errorClass: undefined, outcome: { kind: 'delivered' } }
  if (status === 410) return { errorClass: 'gone', outcome: { kind: 'gone' } }
  const waitMs = retryAfterMs(headers.get('retry-after'), at.getTime())
  return {
    errorClass: isRedirect ? 'redirect' : 'status',
    outcome: { kind: 'failed', retryAfterMs: waitMs },
  }
}

const decoder = new TextDecoder()

/** Reads no more than we keep, and waits no longer for it than `waitMs`. */
const readAnswer = async (response: Response, waitMs: number): Promise<string> => {
  if (response.body === null) return ''
  const encoding = response.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    await response.body.cancel().catch(() => {})
    return ''
  }
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), waitMs)
  try {
    while (size < answerBytesMax) {
      const read = await Promise.race([reader.read(), late.promise])
      if (read?.value === undefined) break
      chunks.push(read.value)
      size += read.value.length
    }
  } catch {
    // The body broke off: the status still counts.
  }
  clearTimeout(timer)
  await reader.cancel().catch(() => {})
  // PostgreSQL does not accept a zero character in text.
  return decoder.decode(Buffer.concat(chunks).subarray(0, answerBytesMax)).replaceAll('\0', '')
}
