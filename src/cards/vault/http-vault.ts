import { isProxied } from '#src/platform/lifecycle/index.ts'
import { inRequestSpan } from '#src/platform/observe/index.ts'
import { createCircuitBreaker, readBounded, withoutSlashes } from '#src/platform/runtime/index.ts'
import type { TlsOptions } from '#src/platform/security/index.ts'
import { AnswerError, answerBytesMax } from './answer-reader.ts'
import { CallTimeoutError, createVaultCalls } from './calls.ts'
import { type AskMany, gathering, linesIn } from './many.ts'
import {
  type Card,
  CardTokenNotFoundError,
  type Told,
  type Vault,
  VaultUnavailableError,
} from './types.ts'

// The contract of the vault:
//
//   POST {url}/resolve   {"token": "…"}
//     200 application/octet-stream   the card number, 12 to 19 ASCII digits;
//                                    its expiry in the header card-expiry, YYMM, if the network needs it
//                                    of a network token the cryptogram in card-cryptogram, base64
//     404                            no such token
//     anything else                  the vault does not answer now
//     with the header card-tokens-max, a number above 1, it also takes
//
//   POST {url}/resolve-many   {"tokens": ["…", …]}
//     200 application/octet-stream   a line for each token, in their order, ended by a line feed: card number, expiry and
//                                    cryptogram with semicolons between them, as above; empty for a token not known
//     anything else, or no answer    each is asked for alone

/** ISO/IEC 7812: a card number has at most 19 digits; the shortest in use have 12. */
const panDigitsMin = 12
const panDigitsMax = 19
/** Year and month. */
const expiryForm = /^\d{2}(?:0[1-9]|1[0-2])$/
/** Base64 of 9 to 33 bytes; the networks' have 20. */
const cryptogramForm =
  /^(?:[A-Za-z0-9+/]{4}){2,10}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/
/** Bytes read of an answer: anything longer is not a card number. */
const bodyBytesMax = 32
const circuitFailuresMaxDefault = 5
const circuitOpenMsDefault = 2_000

export type HttpVaultOptions = {
  /** Without `/resolve`. */
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token: string | undefined
  /** The current client certificate and key, and the authorities that may issue the vault's certificate. */
  readonly tls?: (() => TlsOptions) | undefined
  /** For the whole call, with its body. */
  readonly timeoutMs: number
  /** After so many failures in a row, no calls for a while; 5. */
  readonly circuitFailuresMax?: number
  /** How long there are no calls; 2 s. */
  readonly circuitOpenMs?: number
}

/** A vault behind HTTP. It keeps connections. */
export const createHttpVault = (options: HttpVaultOptions): HttpVault => {
  const { circuitFailuresMax = circuitFailuresMaxDefault, circuitOpenMs = circuitOpenMsDefault } =
    options
  const breaker = createCircuitBreaker(circuitFailuresMax, circuitOpenMs, () => performance.now())
  const { post, many, close } = isProxied(options.url) ? proxiedCalls(options) : ownCalls(options)
  const { url } = options
  const alone = (token: string) =>
    inRequestSpan({ method: 'POST', url }, () => post(JSON.stringify({ token })))
  const ask =
    many === undefined
      ? alone
      : gathering(alone, (tokens) => inRequestSpan({ method: 'POST', url }, () => many(tokens)))
  return {
    resolve: async (token) => {
      if (!breaker.admit()) throw new VaultUnavailableError('circuit_open')
      try {
        const card = cardIn(await ask(token))
        breaker.succeeded()
        return card
      } catch (error) {
        const failure = asVaultError(error)
        if (isOfOneToken(failure)) breaker.succeeded()
        else breaker.failed()
        throw failure
      }
    },
    close,
  }
}

export type HttpVault = Vault & {
  /** Ends its connections. */
  readonly close: () => void
}

type Calls = {
  readonly post: (json: string) => Promise<Told>
  /** Undefined: one at a time. */
  readonly many?: AskMany
  readonly close: () => void
}

const placeOf = ({ url, token }: HttpVaultOptions) => ({
  url: withoutSlashes(url),
  headers: {
    accept: 'application/octet-stream',
    // Decompression would copy card numbers into buffers that nobody wipes.
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  },
})

const ownCalls = (options: HttpVaultOptions): Calls => {
  const { tls, timeoutMs } = options
  const calls = createVaultCalls({ ...placeOf(options), tls, timeoutMs })
  return {
    post: (json) =>
      calls.post('/resolve', json, ({ start, end, ...head }, bytes) => {
        const { status, expiry, cryptogram, tokensMax } = head
        const body = new Uint8Array(bytes.subarray(start, Math.min(end, start + bodyBytesMax)))
        return { status, body, expiry, cryptogram, tokensMax }
      }),
    many: (tokens) =>
      calls.post('/resolve-many', JSON.stringify({ tokens }), ({ status, start, end }, bytes) => {
        const lines = status === 200 ? linesIn(bytes.subarray(start, end), tokens.length) : []
        return { status, lines }
      }),
    close: calls.close,
  }
}

/** The runtime knows how to go through a proxy. */
const proxiedCalls = (options: HttpVaultOptions): Calls => {
  const { url, headers } = placeOf(options)
  const { tls, timeoutMs } = options
  const post: Calls['post'] = async (json) => {
    const response = await fetch(`${url}/resolve`, {
      method: 'POST',
      redirect: 'manual',
      decompress: false,
      signal: AbortSignal.timeout(timeoutMs),
      headers,
      body: json,
      ...(tls === undefined ? {} : { tls: tls() }),
    })
    const { bytes } = await readBounded(response.body, answerBytesMax)
    const body = bytes.slice(0, bodyBytesMax)
    bytes.fill(0)
    const { status } = response
    const expiry = response.headers.get('card-expiry') ?? undefined
    const cryptogram = response.headers.get('card-cryptogram') ?? undefined
    return { status, body, expiry, cryptogram }
  }
  return { post, close: () => undefined }
}

/** @throws CardTokenNotFoundError, VaultUnavailableError */
const cardIn = ({ status, body, expiry, cryptogram }: Told): Card => {
  try {
    if (status === 404) throw new CardTokenNotFoundError()
    if (status !== 200) throw new VaultUnavailableError('refused', status)
    if (!isPan(body)) throw new VaultUnavailableError('malformed')
    if (expiry !== undefined && !expiryForm.test(expiry)) {
      throw new VaultUnavailableError('malformed')
    }
    if (cryptogram !== undefined && !cryptogramForm.test(cryptogram)) {
      throw new VaultUnavailableError('malformed')
    }
    return { pan: body.slice(), expiry, cryptogram }
  } finally {
    body.fill(0)
  }
}

/** Client errors that every call would get: of the credential, of a proxy, and of a vault that is too busy. */
const ofAnyCall: ReadonlySet<number> = new Set([401, 403, 407, 408, 429])

/** The vault is there, and only does not take this token: others must not wait for what one caller made up. */
const isOfOneToken = (failure: Error): boolean => {
  if (failure instanceof CardTokenNotFoundError) return true
  if (!(failure instanceof VaultUnavailableError)) return false
  const { status = 0 } = failure
  return status >= 400 && status < 500 && !ofAnyCall.has(status)
}

const isPan = (body: Uint8Array): boolean =>
  body.length >= panDigitsMin &&
  body.length <= panDigitsMax &&
  body.every((byte) => byte >= 0x30 && byte <= 0x39)

const asVaultError = (error: unknown): Error => {
  if (error instanceof CardTokenNotFoundError || error instanceof VaultUnavailableError) {
    return error
  }
  if (error instanceof AnswerError) return new VaultUnavailableError('malformed')
  const isTimeout =
    error instanceof CallTimeoutError || (error instanceof Error && error.name === 'TimeoutError')
  return new VaultUnavailableError(isTimeout ? 'timed_out' : 'unreachable')
}
