import { jsonOnce } from '#src/platform/http/index.ts'
import { headerCharsMax } from './domain.ts'

/** The members of a protected header. */
export type JoseHeader = Readonly<Record<string, unknown>>

/** The bytes of a base64url text without padding; undefined if it is malformed or not the only spelling. */
const decodeBase64url = (text: string): Uint8Array | undefined => {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: 'base64url' })
    return bytes.toBase64({ alphabet: 'base64url', omitPadding: true }) === text ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Whether every part is base64url in its only spelling, so that nothing of a token can be rewritten. */
export const areBase64url = (parts: readonly string[]): boolean =>
  parts.every((part) => decodeBase64url(part) !== undefined)

/**
 * Reads a protected header; undefined if it is not a JSON object in UTF-8 and base64url, names a member twice or
 * exceeds {@link headerCharsMax}.
 */
export const readHeader = (encoded: string): JoseHeader | undefined => {
  if (encoded.length > headerCharsMax) return undefined
  const bytes = decodeBase64url(encoded)
  if (bytes === undefined) return undefined
  try {
    const json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const header = jsonOnce(json)
    const isObject = typeof header === 'object' && header !== null && !Array.isArray(header)
    return isObject ? (header as JoseHeader) : undefined
  } catch {
    return undefined
  }
}
