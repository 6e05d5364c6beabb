import type { KeyObject, X509Certificate } from 'node:crypto'
import { type KeyKind, kidCharsMax, type SignatureAlgorithm } from './domain.ts'
import type { JoseHeader } from './header.ts'

/** How a token names its key, or a key itself (RFC 7515, 4.1.4, 4.1.7, 4.1.8). */
export type JoseKeyNames = {
  readonly kid: string | undefined
  readonly x5t: string | undefined
  readonly 'x5t#S256': string | undefined
}

/** The source of a key: the certificate store, a setting, the request, or the address in the token. */
export const keyOrigins = ['store', 'pinned', 'request', 'jku'] as const
export type KeyOrigin = (typeof keyOrigins)[number]

/** A public key that is trusted for verification. */
export type VerificationKey = {
  readonly origin: KeyOrigin
  readonly names: JoseKeyNames
  /** A token that says another is refused, so that no key serves two. */
  readonly algorithms: readonly SignatureAlgorithm[]
  /** Its certificate and the issuers above, as far as we were given them. */
  readonly chain: readonly X509Certificate[]
  readonly import: (algorithm: SignatureAlgorithm) => Promise<CryptoKey | undefined>
}

/** RFC 7518, 3.3, 3.5 and 4.3 forbid smaller keys; larger ones only cost time. */
const rsaBitsMin = 2048
const rsaBitsMax = 8192

/** Undefined for a key that none of our algorithms takes. */
export const kindOf = (publicKey: KeyObject): KeyKind | undefined => {
  if (publicKey.asymmetricKeyType === 'rsa') {
    const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0
    return bits >= rsaBitsMin && bits <= rsaBitsMax ? 'rsa' : undefined
  }
  switch (publicKey.asymmetricKeyDetails?.namedCurve) {
    case 'prime256v1':
      return 'P-256'
    case 'secp384r1':
      return 'P-384'
    default:
      return undefined
  }
}

type Beside = { readonly kid?: string | undefined; readonly header?: JoseHeader | undefined }

/**
 * The names in the protected header, and the kid that came beside it: in the unprotected header, or with the request.
 *
 * @returns undefined where a name is no text, is too long, or is given twice and differently
 */
export const namesIn = (header: JoseHeader, beside: Beside): JoseKeyNames | undefined => {
  const kids = [header['kid'], beside.header?.['kid'], beside.kid].filter(
    (kid) => kid !== undefined,
  )
  const given = [...kids, header['x5t'], header['x5t#S256']].filter((name) => name !== undefined)
  if (given.some((name) => typeof name !== 'string' || name.length > kidCharsMax)) return undefined
  if (new Set(kids).size > 1) return undefined
  return {
    kid: kids[0] as string | undefined,
    x5t: unpadded(header['x5t'] as string | undefined),
    'x5t#S256': unpadded(header['x5t#S256'] as string | undefined),
  }
}

/** Base64url has no padding (RFC 7515, 2), but thumbprints are often sent with it. */
const unpadded = (thumbprint: string | undefined): string | undefined =>
  thumbprint?.replace(/={1,2}$/, '')

const thumbprintNames = ['x5t', 'x5t#S256'] as const

/**
 * Whether a key answers to the names of a token. A thumbprint decides, and then the kid need not be ours: partners
 * call our certificates what they like. We do not compare a name that the key lacks, except that it must answer to at
 * least one of the names given.
 */
export const answersTo = (names: JoseKeyNames, wanted: JoseKeyNames): boolean => {
  const asked = thumbprintNames.filter((name) => wanted[name] !== undefined)
  const known = asked.filter((name) => names[name] !== undefined)
  if (known.length > 0) return known.every((name) => names[name] === wanted[name])
  if (wanted.kid !== undefined) return names.kid === wanted.kid
  return asked.length === 0
}

/** Whether the token names a key at all. */
export const namesKey = ({ kid, ...thumbprints }: JoseKeyNames): boolean =>
  kid !== undefined || thumbprintNames.some((name) => thumbprints[name] !== undefined)
