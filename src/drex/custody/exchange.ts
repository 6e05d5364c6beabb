/** One HTTP exchange with a program that signs: bounded in time and bytes, never repeated, never redirected. */
import { inRequestSpan } from '#src/platform/observe/index.ts'
import { readBounded } from '#src/platform/runtime/index.ts'
import type { TlsOptions } from '#src/platform/security/index.ts'

type SignerRequest = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

type SignerAnswer = { readonly status: number; readonly text: string }

export type Exchange = (request: SignerRequest) => Promise<SignerAnswer>

/** The service refused or did not answer. The message never holds a key, a token or what was to be signed. */
export class SignerError extends Error {
  override readonly name = 'SignerError'
  /** True: it may answer later. False: it has refused. */
  readonly isAway: boolean

  constructor(message: string, isAway: boolean) {
    super(message)
    this.isAway = isAway
  }
}

/** A signed deployment is the longest answer: a contract’s code, twice as long in hexadecimal. */
const answerBytesMax = 1_048_576

type ExchangeOptions = {
  /** The client certificate and the authorities as they are now. */
  readonly tls?: () => TlsOptions
  /** Past any proxy: for what answers this machine alone, and with credentials. */
  readonly isDirect?: boolean
}

export const createExchange =
  (timeoutMs: number, { tls, isDirect = false }: ExchangeOptions = {}): Exchange =>
  ({ method, url, headers, body }) =>
    inRequestSpan({ method, url }, async () => {
      try {
        const response = await fetch(url, {
          method,
          redirect: 'manual',
          decompress: false,
          signal: AbortSignal.timeout(timeoutMs),
          headers: { 'accept-encoding': 'identity', ...headers },
          ...(body === undefined ? {} : { body }),
          ...(isDirect ? { proxy: false as const } : {}),
          ...(tls === undefined || !url.startsWith('https:') ? {} : { tls: tls() }),
        })
        const { bytes, isWhole } = await readBounded(response.body, answerBytesMax)
        if (!isWhole) throw new SignerError(`the answer is over ${answerBytesMax} bytes`, true)
        return { status: response.status, text: Buffer.from(bytes).toString() }
      } catch (error) {
        if (error instanceof SignerError) throw error
        throw new SignerError(`no answer: ${error instanceof Error ? error.name : 'unknown'}`, true)
      }
    })

/** @throws SignerError if the text is no JSON object */
export const jsonObject = (text: string): Readonly<Record<string, unknown>> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new SignerError('the answer is not JSON', true)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SignerError('the answer is not a JSON object', true)
  }
  return value as Readonly<Record<string, unknown>>
}

/** @throws SignerError if the field is not base64 */
export const base64Field = (
  answer: Readonly<Record<string, unknown>>,
  field: string,
): Uint8Array => {
  const value = answer[field]
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) {
    throw new SignerError(`the answer has no ${field}`, true)
  }
  return Buffer.from(value, 'base64')
}
