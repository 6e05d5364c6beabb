import {
  CompactEncrypt,
  FlattenedEncrypt,
  type FlattenedJWE,
  type FlattenedJWS,
  FlattenedSign,
} from 'jose'
import type { ContentAlgorithm, PayloadForm, Serialization } from './domain.ts'
import { JoseFailure } from './errors.ts'
import type { JoseKey, Keyring } from './keyring.ts'
import { namesIn } from './names.ts'
import { type Opened, openJwe, readJwe, type TokenParts } from './open.ts'
import { type Verified, type VerifyDeps, type VerifyRequest, verifyToken } from './verify.ts'

type SignRequest = {
  readonly kid: string
  readonly algorithm: string | undefined
  readonly content: Uint8Array
  readonly type: string | undefined
  readonly serialization: Serialization
  /** Absent: the payload stands in the token. */
  readonly payloadForm?: PayloadForm
  /** The address where others find the key: it stands in the token, with the thumbprints of the certificate. */
  readonly jku?: string
}

type EncryptRequest = Omit<SignRequest, 'payloadForm' | 'jku'> & {
  readonly contentAlgorithm: ContentAlgorithm
}

type DecryptRequest = {
  readonly token: string | TokenParts<FlattenedJWE>
  /** The key's name, if it came beside the token. */
  readonly kid?: string | undefined
}

type Decrypted = Opened & { readonly kid: string; readonly algorithm: string }

/** A flattened JWS, whose payload may be elsewhere. */
type SignedParts = Omit<FlattenedJWS, 'payload'> & { readonly payload?: string }

export type JoseService = {
  readonly sign: (request: SignRequest) => Promise<string | SignedParts>
  readonly verify: (request: VerifyRequest) => Promise<Verified>
  readonly encrypt: (request: EncryptRequest) => Promise<string | FlattenedJWE>
  readonly decrypt: (request: DecryptRequest) => Promise<Decrypted>
}

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

const sign = async (keyring: Keyring, request: SignRequest): Promise<string | SignedParts> => {
  const key = await keyFor(keyring, request.kid)
  const algorithm = key.pin.signature
  checkAlgorithm(request.algorithm, algorithm, key.kid)
  const typ = request.type === undefined ? {} : { typ: request.type }
  const { payloadForm = 'attached' } = request
  const unencoded = payloadForm === 'detached_unencoded' ? { b64: false, crit: ['b64'] } : {}
  const found = request.jku === undefined ? {} : { jku: request.jku, ...key.names }
  const header = { alg: algorithm, kid: key.kid, ...found, ...typ, ...unencoded }
  const secret = await material(key, 'sign')
  const signer = new FlattenedSign(request.content).setProtectedHeader(header)
  const { payload, ...token } = await signer.sign(secret)
  const isDetached = payloadForm !== 'attached'
  const kept = isDetached ? '' : payload
  if (request.serialization === 'compact') return [token.protected, kept, token.signature].join('.')
  return isDetached ? token : { ...token, payload: kept }
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

const otherKeyReasons: ReadonlySet<string> = new Set(['decryption_failed', 'key_unknown'])

/** Keys tried for a token that names none. */
const triesMax = 8

const decrypt = async (keyring: Keyring, request: DecryptRequest): Promise<Decrypted> => {
  const read = readJwe(request.token)
  const names = read && namesIn(read.header, { kid: request.kid, header: read.unprotected })
  if (read === undefined || names === undefined) {
    throw new JoseFailure('malformed', 'The token is no JWE, is compressed, or names two keys.')
  }
  const found = await keyring.named(names, 'decrypt')
  if (found.length === 0)
    throw new JoseFailure('key_unknown', 'No usable key answers to the token.')
  const alg = String(read.header['alg'])
  const fitting = found.filter(({ pin }) => pin.keyManagement === alg)
  if (fitting.length === 0) {
    throw new JoseFailure('algorithm_not_allowed', `The key is not used with ${printed(alg)}.`)
  }
  for (const [at, key] of fitting.slice(0, triesMax).entries()) {
    const algorithm = key.pin.keyManagement
    if (algorithm === undefined) continue
    try {
      const secret = await material(key, 'decrypt')
      return { kid: key.kid, algorithm, ...(await openJwe(read, secret, algorithm)) }
    } catch (error) {
      // A key may have been removed since it was listed.
      const isOther = error instanceof JoseFailure && otherKeyReasons.has(error.reason)
      if (!isOther || at === Math.min(fitting.length, triesMax) - 1) throw error
    }
  }
  throw new JoseFailure('key_unknown', 'No usable key answers to the token.')
}

/** The alg that an outsider wrote, if it is safe to print. */
const printed = (alg: string): string => (/^[\w+-]{1,32}$/.test(alg) ? alg : 'that algorithm')

/**
 * Signs, verifies, encrypts and decrypts with the keys of the certificate store; verifies also with keys that are
 * pinned, come with the request, or lie at an address that is allowed.
 */
export const createJoseService = (
  keyring: Keyring,
  trust: Omit<VerifyDeps, 'keyring'> = nothingElse,
): JoseService => ({
  sign: (request) => sign(keyring, request),
  verify: (request) => verifyToken({ keyring, ...trust }, request),
  encrypt: (request) => encrypt(keyring, request),
  decrypt: (request) => decrypt(keyring, request),
})

const nothingElse: Omit<VerifyDeps, 'keyring'> = {
  pinned: async () => [],
  jkuAllowed: [],
  remote: async () => [],
}
