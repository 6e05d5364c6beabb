import {
  errors,
  type FlattenedJWE,
  type FlattenedJWS,
  type FlattenedJWSInput,
  flattenedDecrypt,
  flattenedVerify,
} from 'jose'
import {
  contentAlgorithms,
  type KeyManagementAlgorithm,
  type SignatureAlgorithm,
} from './domain.ts'
import { JoseFailure, type VerificationFailure } from './errors.ts'
import { areBase64url, type JoseHeader, readHeader } from './header.ts'

/** A flattened token as it comes in: its payload may be missing, and it may have a header that nothing protects. */
export type TokenParts<T> = { readonly [Name in keyof T]?: unknown }

/** A token whose parts are base64url; nothing in it has been verified or decrypted yet. */
export type ReadToken<T> = {
  readonly header: JoseHeader
  /** Nothing protects it: it may name a key, and no more. */
  readonly unprotected: JoseHeader | undefined
  readonly token: T
}

export type Opened = { readonly content: Uint8Array; readonly header: JoseHeader }

const otherAlgorithm = 'algorithm_not_allowed'

const base64url = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

/** Whether the payload is signed as it is (RFC 7797); undefined if the header is not in agreement with itself. */
const isUnencoded = ({ b64, crit }: JoseHeader): boolean | undefined => {
  if (b64 === undefined) return false
  const isCritical = Array.isArray(crit) && crit.includes('b64')
  return typeof b64 === 'boolean' && isCritical ? !b64 : undefined
}

/** Whether the two headers share a name, which RFC 7515, 4 and RFC 7516, 4 forbid. */
const repeats = (header: JoseHeader, unprotected: JoseHeader = {}): boolean =>
  Object.keys(unprotected).some((name) => Object.hasOwn(header, name))

/**
 * Reads a JWS, compact or flattened; undefined for anything else.
 *
 * @param detached - the payload that is not in the token (RFC 7515, appendix F). An unencoded payload must be detached,
 *   because readers that do not know RFC 7797 would read it differently in its place.
 */
export const readJws = (
  token: string | TokenParts<FlattenedJWS>,
  detached?: Uint8Array,
): ReadToken<FlattenedJWSInput> | undefined => {
  const isText = typeof token === 'string'
  const [encoded, payload, signature, ...rest] = isText
    ? token.split('.')
    : [token.protected, token.payload ?? '', token.signature].map(String)
  if (encoded === undefined || payload === undefined || signature === undefined) return undefined
  if (rest.length > 0 || !areBase64url([payload, signature])) return undefined
  const header = readHeader(encoded)
  const raw = header === undefined ? undefined : isUnencoded(header)
  if (header === undefined || raw === undefined) return undefined
  if (detached === undefined ? raw : payload !== '') return undefined
  const unprotected = isText ? undefined : (token.header as JoseHeader | undefined)
  if (repeats(header, unprotected)) return undefined
  const content = detached === undefined ? payload : raw ? detached : base64url(detached)
  return { header, unprotected, token: { protected: encoded, payload: content, signature } }
}

/** Reads a JWE, compact or flattened; undefined for anything else, and for compressed content. */
export const readJwe = (
  token: string | TokenParts<FlattenedJWE>,
): ReadToken<FlattenedJWE> | undefined => {
  const isText = typeof token === 'string'
  const [encoded, encrypted_key, iv, ciphertext, tag, ...rest] = isText
    ? token.split('.')
    : [token.protected, token.encrypted_key, token.iv, token.ciphertext, token.tag].map(String)
  if (
    encoded === undefined ||
    encrypted_key === undefined ||
    iv === undefined ||
    ciphertext === undefined ||
    tag === undefined
  ) {
    return undefined
  }
  if (rest.length > 0 || !areBase64url([encrypted_key, iv, ciphertext, tag])) return undefined
  const header = readHeader(encoded)
  if (header === undefined || header['zip'] !== undefined) return undefined
  const unprotected = isText ? undefined : (token.header as JoseHeader | undefined)
  if (repeats(header, unprotected)) return undefined
  return { header, unprotected, token: { protected: encoded, encrypted_key, iv, ciphertext, tag } }
}

/** Verifies with one key and one algorithm, and ignores what the token asks for. */
export const openJws = async (
  { header, token }: Omit<ReadToken<FlattenedJWSInput>, 'unprotected'>,
  publicKey: CryptoKey,
  algorithm: SignatureAlgorithm,
): Promise<Opened | VerificationFailure> => {
  if (header['alg'] !== algorithm) return otherAlgorithm
  try {
    const { payload } = await flattenedVerify(token, publicKey, { algorithms: [algorithm] })
    return { content: payload, header }
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature_invalid'
    if (error instanceof errors.JOSEError) return 'malformed'
    throw error
  }
}

/**
 * Decrypts with one key and one algorithm, and ignores what the token asks for.
 *
 * @throws JoseFailure
 */
export const openJwe = async (
  { header, token }: Omit<ReadToken<FlattenedJWE>, 'unprotected'>,
  privateKey: CryptoKey,
  algorithm: KeyManagementAlgorithm,
): Promise<Opened> => {
  if (header['alg'] !== algorithm) {
    throw new JoseFailure(otherAlgorithm, 'The key is used with another algorithm.')
  }
  try {
    const { plaintext } = await flattenedDecrypt(token, privateKey, {
      keyManagementAlgorithms: [algorithm],
      contentEncryptionAlgorithms: [...contentAlgorithms],
    })
    return { content: plaintext, header }
  } catch (error) {
    if (error instanceof errors.JOSEAlgNotAllowed) {
      throw new JoseFailure(otherAlgorithm, 'The content encryption is not accepted.')
    }
    if (error instanceof errors.JWEDecryptionFailed) {
      throw new JoseFailure('decryption_failed', 'The token cannot be decrypted.')
    }
    if (error instanceof errors.JOSEError) {
      throw new JoseFailure('malformed', 'The token is no JWE of the accepted form.')
    }
    throw error
  }
}
