import {
  errors,
  type FlattenedJWE,
  type FlattenedJWS,
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

/** A token whose parts are base64url; nothing in it has been verified or decrypted yet. */
export type ReadToken<T> = { readonly header: JoseHeader; readonly token: T }

export type Opened = { readonly content: Uint8Array; readonly header: JoseHeader }

const otherAlgorithm = 'algorithm_not_allowed'

/** Reads a JWS, compact or flattened; undefined for anything else. */
export const readJws = (token: string | FlattenedJWS): ReadToken<FlattenedJWS> | undefined => {
  const [encoded, payload, signature, ...rest] =
    typeof token === 'string'
      ? token.split('.')
      : [token.protected, token.payload, token.signature].map(String)
  if (encoded === undefined || payload === undefined || signature === undefined) return undefined
  if (rest.length > 0 || !areBase64url([payload, signature])) return undefined
  const header = readHeader(encoded)
  // Readers that do not know unencoded payloads (RFC 7797) would read one differently.
  if (header === undefined || header['b64'] !== undefined) return undefined
  return { header, token: { protected: encoded, payload, signature } }
}

/** Reads a JWE, compact or flattened; undefined for anything else, and for compressed content. */
export const readJwe = (token: string | FlattenedJWE): ReadToken<FlattenedJWE> | undefined => {
  const [encoded, encrypted_key, iv, ciphertext, tag, ...rest] =
    typeof token === 'string'
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
  return { header, token: { protected: encoded, encrypted_key, iv, ciphertext, tag } }
}

/** Verifies with one key and one algorithm, and ignores what the token asks for. */
export const openJws = async (
  { header, token }: ReadToken<FlattenedJWS>,
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
  { header, token }: ReadToken<FlattenedJWE>,
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
