import { inRequestSpan } from '#src/platform/observe/index.ts'
import { createCircuitBreaker } from '#src/platform/runtime/index.ts'
import type { TlsOptions } from '#src/platform/security/index.ts'
import { type Card, CardTokenNotFoundError, type Vault, VaultUnavailableError } from './types.ts'

// The contract of the vault:
//
//   POST {url}/resolve   {"token": "…"}
//     200 application/octet-stream   the card number, 12 to 19 ASCII digits;
//                                    its expiry in the header card-expiry, YYMM, if the network needs it
//                                    of a network token the cryptogram in card-cryptogram, base64
//     404                            no such token
//     anything else                  the vault does not answer now

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
/** A Content-Length of no more than that, or a few more. */
const declaredShort = /^\d{1,2}$/
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

/** A vault behind HTTP. It keeps connections, and never repeats a call. */
export const createHttpVault = (options: HttpVaultOptions): Vault => {
  const place = placeOf(options)
  const { circuitFailuresMax = circuitFailuresMaxDefault, circuitOpenMs = circuitOpenMsDefault } =
    options
  const breaker = createCircuitBreaker(circuitFailuresMax, circuitOpenMs, () => performance.now())
  return {
    resolve: async (token) => {
      if (!breaker.admit()) throw new VaultUnavailableError('circuit_open')
      try {
        const card = await ask(options, place, token)
        breaker.succeeded()
        return card
      } catch (error) {
        if (error instanceof CardTokenNotFoundError) breaker.succeeded()
        else breaker.failed()
        throw error
      }
    },
  }
}

/** What all calls have in common. */
const placeOf = ({ url, token }: HttpVaultOptions) => ({
  url: `${url.replace(/\/$/, '')}/resolve`,
  headers: {
    accept: 'application/octet-stream',
    // Decompression would copy card numbers into buffers that nobody wipes.
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  },
})

type Place = ReturnType<typeof placeOf>

const ask = async (options: HttpVaultOptions, place: Place, token: string): Promise<Card> => {
  const buffer = new Uint8Array(bodyBytesMax)
  const { url } = place
  const call = () => post(options, place, token, buffer)
  try {
    const { status, bytes, expiry, cryptogram } = await inRequestSpan({ method: 'POST', url }, call)
    if (status === 404) throw new CardTokenNotFoundError()
    if (status !== 200) throw new VaultUnavailableError('refused', status)
    if (!isPan(buffer, bytes)) throw new VaultUnavailableError('malformed')
    if (expiry !== undefined && !expiryForm.test(expiry)) {
      throw new VaultUnavailableError('malformed')
    }
    if (cryptogram !== undefined && !cryptogramForm.test(cryptogram)) {
      throw new VaultUnavailableError('malformed')
    }
    return { pan: buffer.slice(0, bytes), expiry, cryptogram }
  } catch (error) {
    throw asVaultError(error)
  } finally {
    buffer.fill(0)
  }
}

/** Gives the status, and how many bytes of the body are in `buffer`. */
const post = async (
  { timeoutMs, tls }: HttpVaultOptions,
  { url, headers }: Place,
  token: string,
  buffer: Uint8Array,
): Promise<{
  readonly status: number
  readonly bytes: number
  readonly expiry: string | undefined
  readonly cryptogram: string | undefined
}> => {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    headers,
    body: JSON.stringify({ token }),
    ...(tls === undefined ? {} : { tls: tls() }),
  })
  const expiry = response.headers.get('card-expiry') ?? undefined
  const cryptogram = response.headers.get('card-cryptogram') ?? undefined
  const bytes = await readInto(response, buffer)
  return { status: response.status, bytes, expiry, cryptogram }
}

/**
 * Reads the body into the buffer, wipes what it was read from, and returns the length. For a body that is too long, it
 * stops reading and returns one more than the buffer holds.
 */
const readInto = async (response: Response, buffer: Uint8Array): Promise<number> => {
  const isShort = declaredShort.test(response.headers.get('content-length') ?? '')
  if (!isShort) return readChunks(response, buffer)
  // A stream over so few bytes would cost as much as all else that we do here.
  const bytes = new Uint8Array(await response.arrayBuffer())
  const { length } = bytes
  const isTooLong = length > buffer.length
  if (!isTooLong) buffer.set(bytes)
  bytes.fill(0)
  return isTooLong ? buffer.length + 1 : length
}

const readChunks = async ({ body }: Response, buffer: Uint8Array): Promise<number> => {
  if (body === null) return 0
  const reader = body.getReader()
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return length
    const isTooLong = length + value.length > buffer.length
    if (!isTooLong) buffer.set(value, length)
    value.fill(0)
    if (isTooLong) {
      await reader.cancel()
      return buffer.length + 1
    }
    length += value.length
  }
}

const isPan = (buffer: Uint8Array, length: number): boolean => {
  if (length < panDigitsMin || length > panDigitsMax) return false
  for (let at = 0; at < length; at++) {
    const byte = buffer[at] ?? 0
    if (byte < 0x30 || byte > 0x39) return false
  }
  return true
}

const asVaultError = (error: unknown): Error => {
  if (error instanceof CardTokenNotFoundError || error instanceof VaultUnavailableError) {
    return error
  }
  const isTimeout = error instanceof Error && error.name === 'TimeoutError'
  return new VaultUnavailableError(isTimeout ? 'timed_out' : 'unreachable')
}
