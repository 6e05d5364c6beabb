import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const generatedBytes = 32
/** The bounds of a key that a caller gives: Standard Webhooks 1.0.0, signature scheme. For trials, one may be shorter. */
export const keyBytesMin = 24
export const keyBytesMax = 64
export const secretCharactersMax = 256

/**
 * The HMAC key of a secret: Standard Webhooks writes `whsec_` and base64; of any other text we take
 * the UTF-8 bytes.
 */
export const keyOfSecret = (secret: string): Uint8Array => {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : undefined
  const isBase64 = encoded !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(encoded)
  return isBase64 ? Buffer.from(encoded, 'base64') : Buffer.from(secret, 'utf8')
}

/** Whether libraries of Standard Webhooks decode it; any other text is its own key. */
export const isDecodable = (secret: string): boolean => {
  if (!secret.startsWith(prefix)) return true
  const encoded = secret.slice(prefix.length)
  return encoded !== '' && Buffer.from(encoded, 'base64').toString('base64') === encoded
}

/** Whether what it decodes to is as short as is agreed on; a text has a bound of its own. */
export const isKeyShort = (secret: string): boolean =>
  !secret.startsWith(prefix) || keyOfSecret(secret).length <= keyBytesMax

/** Whether nobody can find its key by trying, as production requires. */
export const isKeyLong = (secret: string): boolean => keyOfSecret(secret).length >= keyBytesMin

/** A new secret in the form of Standard Webhooks. */
export const generateSecret = (): string =>
  `${prefix}${randomBytes(generatedBytes).toString('base64')}`

/**
 * The value of `webhook-signature`: one `v1` signature per key, so that while a secret is exchanged a
 * receiver may know either. Standard Webhooks 1.0.0, HMAC-SHA256 over `id.timestamp.body`.
 */
export const signatures = (
  keys: readonly Uint8Array[],
  id: string,
  timestampSeconds: number,
  body: string,
): string =>
  keys
    .map((key) => {
      const hmac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body)
      return `v1,${hmac.digest('base64')}`
    })
    .join(' ')
