import { hash } from 'node:crypto'
import { findInIdentifier } from '#src/platform/security/sensitive/index.ts'
import { mediaType } from '../body.ts'
import { ApiError, httpErrors } from '../errors.ts'
import type { RequestContext } from '../route.ts'
import { canonicalJson } from './canonical.ts'

const keyLengthMax = 255

/** A bare or quoted string, as the document publishes it. A bare comma would mean two headers that were joined. */
export const keyHeaderForm =
  /^(?:[!#-+\--~](?:[ -+\--~]{0,253}[!-+\--~])?|"(?:[ !#-[\]-~]|\\["\\]){1,255}")$/

/** The Idempotency-Key as we store it, and the request it came with. Both are base64url. */
export type IdempotencyKey = {
  /** HMAC-SHA256 of the key sent, under the caller's account: keys of different accounts never meet. */
  readonly key: string
  /** SHA-256 of method, path and body: of a JSON body we hash the value, of any other the bytes. */
  readonly fingerprint: string
  /** The same, but always of the body's bytes: rows of releases without accounts have it. */
  readonly fingerprintOfBytes: () => string
}

/**
 * The Idempotency-Key header: 1 to 255 printable ASCII characters, bare without a comma or as a quoted string
 * (draft-ietf-httpapi-idempotency-key-header), with no card number in it: even a digest of one could be undone.
 *
 * @returns undefined when absent
 * @throws ApiError 400 when malformed
 */
const headerOf = (c: RequestContext): string | undefined => {
  const header = c.req.raw.headers.get('idempotency-key')
  if (header === null) return undefined
  const sent = header.trim()
  const key = /^"(.*)"$/s.exec(sent)?.[1]?.replace(/\\(["\\])/g, '$1') ?? sent
  if (!keyHeaderForm.test(sent)) {
    throw new ApiError(
      httpErrors.bad_request,
      `Idempotency-Key must be once 1 to ${keyLengthMax} printable ASCII characters, a comma within quotes.`,
      { errors: [{ pointer: 'Idempotency-Key', rule: 'format', message: 'is malformed' }] },
    )
  }
  if (findInIdentifier(key) === 'card number') {
    throw new ApiError(httpErrors.bad_request, 'Idempotency-Key must not hold a card number.', {
      errors: [{ pointer: 'Idempotency-Key', rule: 'card_number', message: 'holds a card number' }],
    })
  }
  return key
}

const decoder = new TextDecoder()

/** @returns undefined when the request has no Idempotency-Key; @throws ApiError 400 when it is malformed */
export const idempotencyKeyOf = (
  c: RequestContext,
  owner: string,
  body: Uint8Array,
): IdempotencyKey | undefined => {
  const sent = headerOf(c)
  if (sent === undefined) return undefined
  const place = `${c.req.method} ${c.req.path}\n`
  const ofBytes = (): string =>
    new Bun.CryptoHasher('sha256').update(place).update(body).digest('base64url')
  const isJson = mediaType(c.req.raw.headers.get('content-type') ?? '') === 'application/json'
  const value = isJson ? canonicalJson(decoder.decode(body)) : undefined
  return {
    key: new Bun.CryptoHasher('sha256', owner).update(sent).digest('base64url'),
    fingerprint: value === undefined ? ofBytes() : hash('sha256', place + value, 'base64url'),
    fingerprintOfBytes: ofBytes,
  }
}
