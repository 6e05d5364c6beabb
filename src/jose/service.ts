import {
  CompactEncrypt,
  CompactSign,
  compactDecrypt,
  decodeProtectedHeader,
  errors,
  FlattenedEncrypt,
  type FlattenedJWE,
  type FlattenedJWS,
  FlattenedSign,
  flattenedDecrypt,
  flattenedVerify,
} from 'jose'
import {
  type ContentAlgorithm,
  contentAlgorithms,
  HEADER_CHARS_MAX,
  KID_CHARS_MAX,
  type Serialization,
} from './domain.ts'
import { JoseFailure, type VerificationFailure } from './errors.ts'
import type { JoseKey, Keyring } from './keyring.ts'

export type SignRequest = {
  readonly kid: string
  readonly algorithm: string | undefined
  readonly content: Uint8Array
  readonly type: string | undefined
  readonly serialization: Serialization
}

export type EncryptRequest = SignRequest & { readonly contentAlgorithm: ContentAlgorithm }

export type Verified =
  | {
      readonly valid: true
      readonly kid: string
      readonly algorithm: string
      readonly content: Uint8Array
      readonly header: Readonly<Record<string, unknown>>
    }
  | { readonly valid: false; readonly reason: VerificationFailure }

export type JoseService = {
  readonly sign: (request: SignRequest) => Promise<string | FlattenedJWS>
  readonly verify: (token: string | FlattenedJWS) => Promise<Verified>
  readonly encrypt: (request: EncryptRequest) => Promise<string | FlattenedJWE>
  readonly decrypt: (token: string | FlattenedJWE) => Promise<Extract<Verified, { valid: true }>>
}

type Header = {
  readonly kid: string
  readonly alg: unknown
  readonly zip: unknown
  readonly b64: unknown
}

/** Members of the protected header that decide which key is used; undefined when it is malformed. */
function readHeader(token: string | FlattenedJWS | FlattenedJWE): Header | undefined {
  const encoded = typeof token === 'string' ? token.split('.', 1)[0] : token.protected
  if (encoded === undefined || encoded.length > HEADER_CHARS_MAX) return undefined
  try {
    const { kid, alg, zip, b64 } = decodeProtectedHeader(token)
    if (typeof kid !== 'string' || kid.length > KID_CHARS_MAX) return undefined
    return { kid, alg, zip, b64 }
  } catch {
    return undefined
  }
}

/** Three parts of a compact JWS as the flattened form holds them. */
function flattened(token: string | FlattenedJWS): FlattenedJWS | undefined {
  if (typeof token !== 'string') return token
  const [header, payload, signature, ...rest] = token.split('.')
  if (payload === undefined || signature === undefined || rest.length > 0) return undefined
  return { protected: header ?? '', payload, signature }
}

async function keyFor(keyring: Keyring, kid: string): Promise<JoseKey> {
  const key = await keyring.find(kid)
  if (key === undefined) throw new JoseFailure('key_unknown', `No usable key has the kid ${kid}.`)
  return key
}

async function material(key: JoseKey, purpose: 'sign' | 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  const found = await key.use(purpose)
  if (found !== undefined) return found
  throw purpose !== 'sign' && key.pin.keyManagement === undefined
    ? new JoseFailure('algorithm_not_allowed', `The key ${key.kid} is not for encryption.`)
    : new JoseFailure('key_unknown', `The private key of ${key.kid} is not stored.`)
}

function checkAlgorithm(asked: string | undefined, pinned: string | undefined, kid: string): void {
  if (asked !== undefined && asked !== pinned) {
    throw new JoseFailure(
      'algorithm_not_allowed',
      `The key ${kid} is used with ${pinned ?? 'no algorithm of this purpose'}, not ${asked}.`,
    )
  }
}

async function sign(keyring: Keyring, request: SignRequest): Promise<string | FlattenedJWS> {
  const key = await keyFor(keyring, request.kid)
  const algorithm = key.pin.signature
  checkAlgorithm(request.algorithm, algorithm, key.kid)
  const typ = request.type === undefined ? {} : { typ: request.type }
  const header = { alg: algorithm, kid: key.kid, ...typ }
  const secret = await material(key, 'sign')
  return request.serialization === 'compact'
    ? new CompactSign(request.content).setProtectedHeader(header).sign(secret)
    : new FlattenedSign(request.content).setProtectedHeader(header).sign(secret)
}

async function verify(keyring: Keyring, token: string | FlattenedJWS): Promise<Verified> {
  const header = readHeader(token)
  const jws = flattened(token)
  if (header === undefined || jws === undefined || header.b64 !== undefined) {
    return { valid: false, reason: 'malformed' }
  }
  const key = await keyring.find(header.kid)
  const publicKey = await key?.use('verify')
  if (key === undefined || publicKey === undefined) return { valid: false, reason: 'key_unknown' }
  const { signature: algorithm } = key.pin
  if (header.alg !== algorithm) return { valid: false, reason: 'algorithm_not_allowed' }
  try {
    const result = await flattenedVerify(jws, publicKey, { algorithms: [algorithm] })
    return {
      valid: true,
      kid: key.kid,
      algorithm,
      content: result.payload,
      header: { ...result.protectedHeader },
    }
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      return { valid: false, reason: 'signature_invalid' }
    }
    if (error instanceof errors.JOSEError) return { valid: false, reason: 'malformed' }
    throw error
  }
}

async function encrypt(keyring: Keyring, request: EncryptRequest): Promise<string | FlattenedJWE> {
  const key = await keyFor(keyring, request.kid)
  checkAlgorithm(request.algorithm, key.pin.keyManagement, key.kid)
  const publicKey = await material(key, 'encrypt')
  const typ = request.type === undefined ? {} : { typ: request.type }
  const header = {
    alg: key.pin.keyManagement ?? '',
    enc: request.contentAlgorithm,
    kid: key.kid,
    ...typ,
  }
  return request.serialization === 'compact'
    ? new CompactEncrypt(request.content).setProtectedHeader(header).encrypt(publicKey)
    : new FlattenedEncrypt(request.content).setProtectedHeader(header).encrypt(publicKey)
}

async function decrypt(
  keyring: Keyring,
  token: string | FlattenedJWE,
): Promise<Extract<Verified, { valid: true }>> {
  const header = readHeader(token)
  if (header === undefined || header.zip !== undefined) {
    throw new JoseFailure('malformed', 'The token is no JWE with a kid, or is compressed.')
  }
  const key = await keyFor(keyring, header.kid)
  const algorithm = key.pin.keyManagement
  checkAlgorithm(String(header.alg), algorithm, key.kid)
  const secret = await material(key, 'decrypt')
  const options = {
    keyManagementAlgorithms: algorithm === undefined ? [] : [algorithm],
    contentEncryptionAlgorithms: [...contentAlgorithms],
  }
  try {
    const result =
      typeof token === 'string'
        ? await compactDecrypt(token, secret, options)
        : await flattenedDecrypt(token, secret, options)
    return {
      valid: true,
      kid: key.kid,
      algorithm: algorithm ?? '',
      content: result.plaintext,
      header: { ...result.protectedHeader },
    }
  } catch (error) {
    if (error instanceof errors.JOSEAlgNotAllowed) {
      throw new JoseFailure('algorithm_not_allowed', 'The content encryption is not accepted.')
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

/** Signs, verifies, encrypts and decrypts with the keys of the certificate store. */
export function createJoseService(keyring: Keyring): JoseService {
  return {
    sign: (request) => sign(keyring, request),
    verify: (token) => verify(keyring, token),
    encrypt: (request) => encrypt(keyring, request),
    decrypt: (token) => decrypt(keyring, token),
  }
}
