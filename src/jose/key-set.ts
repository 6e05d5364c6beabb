import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { parseJson } from '#src/platform/http/index.ts'
import {
  keySetKeysMax,
  kidCharsMax,
  type SignatureAlgorithm,
  signatureAlgorithms,
} from './domain.ts'
import { type JoseKeyNames, type KeyOrigin, kindOf, type VerificationKey } from './names.ts'

/** Largest key set to read. */
export const keySetBytesMax = 128 * 1024
/** Certificates of one key. */
const chainMax = 8

/** By kind of key: the algorithms that it can verify. */
const algorithmsOf = {
  rsa: ['RS256', 'RS384', 'RS512', 'PS256'],
  'P-256': ['ES256'],
  'P-384': ['ES384'],
} as const satisfies Record<string, readonly SignatureAlgorithm[]>

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keeps only the public members: if a set gives a private key away, that makes the key neither better nor worse. */
const publicMembers = ({ kty, n, e, crv, x, y }: Members) =>
  kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= kidCharsMax ? value : undefined

/** The certificates of `x5c`, the key's own first; undefined if there are none. @throws Error if unreadable */
const chainOf = ({ x5c }: Members): readonly X509Certificate[] | undefined => {
  if (x5c === undefined) return undefined
  if (!Array.isArray(x5c) || x5c.length === 0 || x5c.length > chainMax) throw new Error('x5c')
  return x5c.map((der) => {
    // RFC 7517, 4.7: base64, no base64url, and no line breaks.
    if (typeof der !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(der)) throw new Error('x5c')
    return new X509Certificate(Buffer.from(der, 'base64'))
  })
}

const thumbprint = (certificate: X509Certificate, hash: 'sha1' | 'sha256'): string =>
  createHash(hash).update(certificate.raw).digest('base64url')

/** The thumbprints of a certificate (RFC 7515, 4.1.7 and 4.1.8). */
export const thumbprintsOf = (certificate: X509Certificate) => ({
  x5t: thumbprint(certificate, 'sha1'),
  'x5t#S256': thumbprint(certificate, 'sha256'),
})

/** The key's own names, and its certificate's if it has one. @throws Error if the two differ */
const namesOf = (jwk: Members, chain: readonly X509Certificate[] | undefined): JoseKeyNames => {
  const [own] = chain ?? []
  const said = { x5t: textOf(jwk['x5t']), 'x5t#S256': textOf(jwk['x5t#S256']) }
  if (own === undefined) return { kid: textOf(jwk['kid']), ...said }
  const found = thumbprintsOf(own)
  const differs = (name: 'x5t' | 'x5t#S256') =>
    said[name] !== undefined && said[name] !== found[name]
  if (differs('x5t') || differs('x5t#S256')) throw new Error('thumbprint')
  return { kid: textOf(jwk['kid']), ...found }
}

const verifies = ({ use, key_ops }: Members): boolean =>
  (use === undefined || use === 'sig') &&
  (key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes('verify')))

/** @throws Error for a key that verifies nothing we know, or contradicts itself */
const keyOf = (jwk: Members, origin: KeyOrigin): VerificationKey => {
  if (!verifies(jwk)) throw new Error('use')
  const members = publicMembers(jwk)
  const publicKey = createPublicKey({ key: members as never, format: 'jwk' })
  const kind = kindOf(publicKey)
  if (kind === undefined) throw new Error('kind')
  const chain = chainOf(jwk)
  if (chain?.[0] !== undefined && !chain[0].publicKey.equals(publicKey)) throw new Error('x5c')
  const { alg } = jwk
  const algorithms = signatureAlgorithms.filter(
    (name) => algorithmsOf[kind].some((one) => one === name) && (alg === undefined || alg === name),
  )
  if (algorithms.length === 0) throw new Error('alg')
  return {
    origin,
    names: namesOf(jwk, chain),
    algorithms,
    chain: chain ?? [],
    import: async (algorithm) => {
      // Loaded when the first token comes: most processes never need the library.
      const { importJWK } = await import('jose')
      return (await importJWK(members as never, algorithm)) as CryptoKey
    },
  }
}

/**
 * The keys of a JWK set (RFC 7517) that can verify. Others, of unknown kind, too small, for encryption, or whose
 * certificate says something else, are passed over, as the standard asks.
 *
 * @returns undefined for what is no JWK set, or one over {@link keySetKeysMax} keys
 */
export const readKeySet = (
  value: unknown,
  origin: KeyOrigin,
): readonly VerificationKey[] | undefined => {
  const keys = isObject(value) ? value['keys'] : undefined
  if (!Array.isArray(keys) || keys.length > keySetKeysMax) return undefined
  return keys.flatMap((jwk) => {
    try {
      return isObject(jwk) ? [keyOf(jwk, origin)] : []
    } catch {
      return []
    }
  })
}

/** The same of the text of a document. */
export const readKeySetText = (
  bytes: Uint8Array,
  origin: KeyOrigin,
): readonly VerificationKey[] | undefined => {
  if (bytes.length > keySetBytesMax) return undefined
  try {
    return readKeySet(parseJson(bytes), origin)
  } catch {
    return undefined
  }
}
