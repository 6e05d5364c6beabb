import {
  CompactEncrypt,
  CompactSign,
  FlattenedEncrypt,
  type FlattenedJWE,
  type FlattenedJWS,
  FlattenedSign,
} from 'jose'
import { type ContentAlgorithm, kidCharsMax, type Serialization } from './domain.ts'
import { JoseFailure, type VerificationFailure } from './errors.ts'
import type { JoseHeader } from './header.ts'
import type { JoseKey, Keyring } from './keyring.ts'
import { openJwe, openJws, readJwe, readJws } from './open.ts'

type SignRequest = {
  readonly kid: string
  readonly algorithm: string | undefined
  readonly content: Uint8Array
  readonly type: string | undefined
  readonly serialization: Serialization
}

type EncryptRequest = SignRequest & { readonly contentAlgorithm: ContentAlgorithm }

export type Verified =
  | {
      readonly valid: true
      readonly kid: string
      readonly algorithm: string
      readonly content: Uint8Array
      readonly header: JoseHeader
    }
  | { readonly valid: false; readonly reason: VerificationFailure }

export type JoseService = {
  readonly sign: (request: SignRequest) => Promise<string | FlattenedJWS>
  readonly verify: (token: string | FlattenedJWS) => Promise<Verified>
  readonly encrypt: (request: EncryptRequest) => Promise<string | FlattenedJWE>
  readonly decrypt: (token: string | FlattenedJWE) => Promise<Extract<Verified, { valid: true }>>
}

/** The key that a token names; undefined if it names none. */
const kidOf = ({ kid }: JoseHeader): string | undefined =>
  typeof kid === 'string' && kid.length <= kidCharsMax ? kid : undefined

const keyFor = async (keyring: Keyring, kid: string): Promise<JoseKey> => {
  const key = await keyring.find(kid)
  if (key === undefined) throw new JoseFailure('key_unknown', `No usable key has the kid ${kid}.`)
  return key
}

const material = async (
  key: JoseKey,
  purpose: 'sign' | 'encrypt' | 'decrypt',
): Promise<CryptoKey> => {
  const objection = key.objection(purpose)
  if (objection !== undefined) {
    throw new JoseFailure('purpose_not_allowed', `The certificate ${key.kid}: ${objection}.`)
  }
  const found = await key.use(purpose)
  if (found !== undefined) return found
  throw purpose !== 'sign' && key.pin.keyManagement === undefined
    ? new JoseFailure('algorithm_not_allowed', `The key ${key.kid} is not for encryption.`)
    : new JoseFailure('key_unknown', `The private key of ${key.kid} is not stored.`)
}

const checkAlgorithm = (
  asked: string | undefined,
  pinned: string | undefined,
  kid: string,
): void => {
  if (asked !== undefined && asked !== pinned) {
    throw new JoseFailure(
      'algorithm_not_allowed',
      `The key ${kid} is used with ${pinned ?? 'no algorithm of this purpose'}, not ${asked}.`,
    )
  }
}

const sign = async (keyring: Keyring, request: SignRequest): Promise<string | FlattenedJWS> => {
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

const verify = async (keyring: Keyring, jws: string | FlattenedJWS): Promise<Verified> => {
  const read = readJws(jws)
  const kid = read === undefined ? undefined : kidOf(read.header)
  if (read === undefined || kid === undefined) return { valid: false, reason: 'malformed' }
  const key = await keyring.find(kid)
  const publicKey = await key?.use('verify')
  if (key === undefined || publicKey === undefined) return { valid: false, reason: 'key_unknown' }
  if (key.objection('verify') !== undefined) return { valid: false, reason: 'purpose_not_allowed' }
  const algorithm = key.pin.signature
  const opened = await openJws(read, publicKey, algorithm)
  return typeof opened === 'string'
    ? { valid: false, reason: opened }
    : { valid: true, kid, algorithm, ...opened }
}

const encrypt = async (
  keyring: Keyring,
  request: EncryptRequest,
): Promise<string | FlattenedJWE> => {
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

const decrypt = async (
  keyring: Keyring,
  jwe: string | FlattenedJWE,
): Promise<Extract<Verified, { valid: true }>> => {
  const read = readJwe(jwe)
  const kid = read === undefined ? undefined : kidOf(read.header)
  if (read === undefined || kid === undefined) {
    throw new JoseFailure('malformed', 'The token is no JWE with a kid, or is compressed.')
  }
  const key = await keyFor(keyring, kid)
  const algorithm = key.pin.keyManagement
  if (algorithm === undefined) {
    throw new JoseFailure('algorithm_not_allowed', `The key ${kid} is not for encryption.`)
  }
  checkAlgorithm(String(read.header['alg']), algorithm, kid)
  const secret = await material(key, 'decrypt')
  const opened = await openJwe(read, secret, algorithm)
  return { valid: true, kid, algorithm, ...opened }
}

/** Signs, verifies, encrypts and decrypts with the keys of the certificate store. */
export const createJoseService = (keyring: Keyring): JoseService => ({
  sign: (request) => sign(keyring, request),
  verify: (token) => verify(keyring, token),
  encrypt: (request) => encrypt(keyring, request),
  decrypt: (token) => decrypt(keyring, token),
})
