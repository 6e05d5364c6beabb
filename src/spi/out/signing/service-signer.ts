import { verify, type X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { inRequestSpan } from '#src/platform/observe/index.ts'
import {
  backoffMs,
  type CircuitBreaker,
  createCircuitBreaker,
  readBounded,
  withoutSlashes,
} from '#src/platform/runtime/index.ts'
import type { TlsOptions } from '#src/platform/security/index.ts'
import { identityOf, readCertificate } from './certificate.ts'
import { type Signer, SigningError, type SigningKey } from './signer.ts'

// The contract of the external signature service, JSON over HTTPS:
//
//   GET  {url}/certificate
//     200 {"certificate": "<PEM of the certificate whose key signs now>"}
//   POST {url}/sign
//     {"algorithm": "RSA-SHA256", "serial": "<decimal>", "content": "<base64>"}
//     200 {"signature": "<base64>"}      RSASSA-PKCS1-v1_5 with SHA-256 over content
//     409                                the certificate changed: read it again
//     408, 425, 429, 5xx                 may be repeated; any other status may not
//
// Answers are not compressed and have 64 KiB at most. Every signature is checked against the
// certificate before it is used.

export type ServiceSignerOptions = {
  readonly url: string
  /** Client certificate and key, and the authorities that we trust for the service, as they are now. */
  readonly tls?: () => TlsOptions
  readonly timeoutMs: number
  readonly attemptsMax: number
  readonly circuitFailuresMax: number
  readonly circuitOpenMs: number
  /** Wait before attempt 2; doubles for each further one, with full jitter. */
  readonly backoffMs: number
  readonly nowMs?: () => number
}

/** The longest answer of the service that we read. */
export const answerBytesMax = 64 * 1024
const certificateForMs = 300_000
const retryable: ReadonlySet<number> = new Set([408, 425, 429])

const certificateAnswer = z.object({ certificate: z.string().max(answerBytesMax) })
const signAnswer = z.object({ signature: z.base64().max(4096) })

type Answer = { readonly status: number; readonly body: unknown }

const exchange = (options: ServiceSignerOptions, path: string, body: unknown): Promise<Answer> => {
  const url = withoutSlashes(options.url) + path
  const method = body === undefined ? 'GET' : 'POST'
  return inRequestSpan({ method, url }, () => ask(options, { method, url, body }))
}

const ask = async (
  options: ServiceSignerOptions,
  { method, url, body }: { readonly method: string; readonly url: string; readonly body: unknown },
): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    // A compressed answer could grow past any limit before we see it.
    decompress: false,
    signal: AbortSignal.timeout(options.timeoutMs),
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(options.tls === undefined ? {} : { tls: options.tls() }),
  })
  const { bytes, isWhole } = await readBounded(response.body, answerBytesMax)
  if (!isWhole) {
    throw new SigningError(`the answer is over ${answerBytesMax} bytes`)
  }
  try {
    return {
      status: response.status,
      body: response.ok ? JSON.parse(Buffer.from(bytes).toString()) : undefined,
    }
  } catch {
    throw new SigningError('the answer is not JSON')
  }
}

/** Makes one call with its attempts. Repeats it on connection errors and time-outs: signing twice is harmless. */
const call = async (
  options: ServiceSignerOptions,
  breaker: CircuitBreaker,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  // The attempts are few: their number bounds the longest wait.
  const backoff = { backoffFirstMs: options.backoffMs, backoffMaxMs: Number.POSITIVE_INFINITY }
  let last = 'no attempt was made'
  for (let attempt = 1; attempt <= options.attemptsMax; attempt++) {
    if (!breaker.admit()) {
      throw new SigningError('the signature service is down: circuit open')
    }
    try {
      const answer = await exchange(options, path, body)
      if (answer.status < 500 && !retryable.has(answer.status)) {
        breaker.succeeded()
        return answer
      }
      last = `HTTP ${answer.status}`
    } catch (error) {
      if (error instanceof SigningError) throw error
      last = error instanceof Error ? error.name : 'connection failed'
    }
    breaker.failed()
    if (attempt < options.attemptsMax) {
      await Bun.sleep(backoffMs(attempt, backoff))
    }
  }
  throw new SigningError(`the signature service gave no answer: ${last}`)
}

const parseAnswer = <T>(schema: z.ZodType<T>, answer: Answer): T => {
  if (answer.status !== 200) {
    throw new SigningError(`the signature service answered HTTP ${answer.status}`)
  }
  const parsed = schema.safeParse(answer.body)
  if (!parsed.success) {
    throw new SigningError('the answer of the signature service has another form')
  }
  return parsed.data
}

/** Signs through an external service, by the contract at the head of this file. */
export const createServiceSigner = (
  options: ServiceSignerOptions,
): Extract<Signer, { readonly key: unknown }> => {
  const nowMs = options.nowMs ?? (() => performance.now())
  const breaker = createCircuitBreaker(options.circuitFailuresMax, options.circuitOpenMs, nowMs)
  let known: { readonly key: SigningKey; readonly readMs: number } | undefined
  let reading: Promise<SigningKey> | undefined

  const signWith = async (
    certificate: X509Certificate,
    serial: string,
    content: Uint8Array,
  ): Promise<Uint8Array> => {
    const answer = await call(options, breaker, '/sign', {
      algorithm: 'RSA-SHA256',
      serial,
      content: content.toBase64(),
    })
    if (answer.status === 409) {
      known = undefined
      throw new SigningError('the certificate of the signature service changed')
    }
    const signature = Uint8Array.fromBase64(parseAnswer(signAnswer, answer).signature)
    if (!verify('sha256', content, certificate.publicKey, signature)) {
      throw new SigningError('the signature does not match the certificate')
    }
    return signature
  }

  const readKey = async (): Promise<SigningKey> => {
    const answer = await call(options, breaker, '/certificate')
    const certificate = readCertificate(parseAnswer(certificateAnswer, answer).certificate)
    const identity = identityOf(certificate)
    const sign = (content: Uint8Array) => signWith(certificate, identity.serial, content)
    const key = { identity, sign }
    known = { key, readMs: nowMs() }
    return key
  }

  const readOnce = (): Promise<SigningKey> => {
    reading ??= readKey().finally(() => {
      reading = undefined
    })
    return reading
  }
  return {
    kind: 'service',
    provider: 'external service',
    key: () =>
      known !== undefined && nowMs() - known.readMs < certificateForMs ? known.key : readOnce(),
    // A signature of what is no message is nothing to ask a service for.
    check: readOnce,
    close: () => {},
  }
}
