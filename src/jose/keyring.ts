import { createPrivateKey, X509Certificate } from 'node:crypto'
import { exportJWK, importPKCS8, importX509, type JWK } from 'jose'
import { type AlgorithmPin, type ConfiguredPin, pinOf } from './domain.ts'
import { thumbprintsOf } from './key-set.ts'
import { answersTo, type JoseKeyNames, kindOf, namesKey, type VerificationKey } from './names.ts'

/** The keyring's view of a certificate; `src/main.ts` passes those of the certificate store. */
export type JoseCertificate = {
  readonly kid: string
  /** PEM. */
  readonly certificate: string
  readonly fingerprint: string
  /** False while it is expired or not yet valid. */
  readonly active: boolean
  readonly hasKey: boolean
  /** The uses that its extension keyUsage allows. */
  readonly signs: boolean
  readonly encrypts: boolean
  /** Whether its private key may sign and decrypt tokens. */
  readonly isForTokens: boolean
}

export type JoseKeySource = {
  readonly list: () => Promise<readonly JoseCertificate[]>
  /** PKCS#8, DER; undefined, too, if another certificate has the kid by now. */
  readonly readKey: (kid: string, fingerprint: string) => Promise<Uint8Array | undefined>
}

type JosePurpose = 'verify' | 'sign' | 'encrypt' | 'decrypt'

/** A key that may be used now. */
export type JoseKey = {
  readonly kid: string
  readonly pin: AlgorithmPin
  readonly hasKey: boolean
  readonly names: { readonly [Name in keyof JoseKeyNames]: string }
  readonly certificate: X509Certificate
  /** Why the certificate does not allow the purpose; undefined if it does. */
  readonly objection: (purpose: JosePurpose) => string | undefined
  /** The key for one purpose, bound to its algorithm; undefined if there is none. */
  readonly use: (purpose: JosePurpose) => Promise<CryptoKey | undefined>
}

export type Keyring = {
  readonly find: (kid: string) => Promise<JoseKey | undefined>
  /** The key of this kid while it signs; then that of the latest certificate of the same institution and type that does. */
  readonly signerOf: (kid: string) => Promise<JoseKey | undefined>
  /**
   * The keys that answer to the names of a token, or all if it names none, if they may be used for the purpose. If no
   * named key may be used, the named ones all the same.
   */
  readonly named: (names: JoseKeyNames, purpose: JosePurpose) => Promise<readonly JoseKey[]>
  /** Public keys of our own certificates, for others to verify with and encrypt for. */
  readonly publicKeys: () => Promise<readonly JWK[]>
}

const cacheMs = 5_000
const pkcs8Pem = (der: Uint8Array): string => {
  const key = createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
  return key.export({ format: 'pem', type: 'pkcs8' }).toString()
}

/** Keys by kid from the certificate store; a change of the store is seen within seconds. */
export const createKeyring = (
  source: JoseKeySource,
  configured: readonly ConfiguredPin[],
  nowMs: () => number = () => performance.now(),
): Keyring => {
  /** By fingerprint, purpose and algorithm; both are emptied when the store has changed. */
  const imported = new Map<string, Promise<CryptoKey | undefined>>()
  const keys = new Map<string, JoseKey | undefined>()
  const active = createActiveCertificates(source, nowMs, () => {
    imported.clear()
    keys.clear()
  })

  const readKey = (entry: JoseCertificate): JoseKey | undefined => {
    const certificate = new X509Certificate(entry.certificate)
    const kind = kindOf(certificate.publicKey)
    if (kind === undefined) return undefined
    const pin = pinOf(entry.kid, kind, configured)
    return {
      kid: entry.kid,
      pin,
      hasKey: entry.hasKey,
      names: { kid: entry.kid, ...thumbprintsOf(certificate) },
      certificate,
      objection: (purpose) => objectionTo(entry, purpose),
      use: (purpose) => {
        const name = `${entry.kid} ${entry.fingerprint} ${purpose}`
        const known = imported.get(name)
        if (known !== undefined) return known
        const made = importKey(source, entry, purpose, pin)
        imported.set(name, made)
        made.catch(() => imported.delete(name))
        return made
      },
    }
  }

  const keyOf = (entry: JoseCertificate): JoseKey | undefined => {
    const name = `${entry.kid} ${entry.fingerprint}`
    if (!keys.has(name)) keys.set(name, readKey(entry))
    return keys.get(name)
  }

  return {
    named: async (names, purpose) => {
      const found = (await active()).flatMap((entry) => keyOf(entry) ?? [])
      const named = found.filter((key) => answersTo(key.names, names))
      const usable = named.filter((key) => isUsable(key, purpose))
      // If a token names a key that may not be used, its caller learns why.
      return usable.length > 0 || !namesKey(names) ? usable : named
    },
    find: async (kid) => {
      const entry = (await active()).find((candidate) => candidate.kid === kid)
      return entry === undefined ? undefined : keyOf(entry)
    },
    signerOf: async (kid) => {
      const family = familyOf(kid)
      const found = (await active())
        .filter((entry) => familyOf(entry.kid) === family)
        .flatMap((entry) => keyOf(entry) ?? [])
        .filter((key) => isUsable(key, 'sign'))
        .toSorted((a, b) => versionOf(b.kid) - versionOf(a.kid))
      return found.find((key) => key.kid === kid) ?? found[0]
    },
    publicKeys: async () => {
      const entries = await active()
      return (await Promise.all(entries.map((each) => publicKeysOf(each, keyOf(each))))).flat()
    },
  }
}

/** All but the version of `<ispb>.<type>.<version>`. */
const familyOf = (kid: string): string => kid.slice(0, kid.lastIndexOf('.'))

const versionOf = (kid: string): number => Number(kid.slice(kid.lastIndexOf('.') + 1))

const isPrivate = (purpose: JosePurpose): boolean => purpose === 'sign' || purpose === 'decrypt'

const isUsable = ({ hasKey, objection }: JoseKey, purpose: JosePurpose): boolean =>
  objection(purpose) === undefined && (hasKey || !isPrivate(purpose))

const objectionTo = (
  { signs, encrypts, isForTokens }: JoseCertificate,
  purpose: JosePurpose,
): string | undefined => {
  const isAllowed = purpose === 'sign' || purpose === 'verify' ? signs : encrypts
  if (!isAllowed) return 'its key usage does not allow it'
  return isPrivate(purpose) && !isForTokens ? 'its private key has another purpose' : undefined
}

/** The certificates that may be used now, read again after some seconds. */
const createActiveCertificates = (
  source: JoseKeySource,
  nowMs: () => number,
  onChange: () => void,
) => {
  let listed:
    | { readonly atMs: number; readonly list: Promise<readonly JoseCertificate[]> }
    | undefined
  let known = ''
  return async (): Promise<readonly JoseCertificate[]> => {
    if (listed === undefined || nowMs() - listed.atMs > cacheMs) {
      listed = { atMs: nowMs(), list: source.list() }
      listed.list.catch(() => {
        listed = undefined
      })
    }
    const found = await listed.list
    const state = found
      .map(({ kid, fingerprint, hasKey }) => [kid, fingerprint, hasKey].join(' '))
      .join()
    if (state !== known) {
      known = state
      onChange()
    }
    return found.filter(({ active }) => active)
  }
}

const importKey = async (
  source: JoseKeySource,
  { kid, certificate, fingerprint }: JoseCertificate,
  purpose: JosePurpose,
  { signature, keyManagement }: AlgorithmPin,
): Promise<CryptoKey | undefined> => {
  const signs = purpose === 'sign' || purpose === 'verify'
  const algorithm = signs ? signature : keyManagement
  if (algorithm === undefined) return undefined
  if (purpose === 'verify' || purpose === 'encrypt') return importX509(certificate, algorithm)
  const der = await source.readKey(kid, fingerprint)
  return der === undefined ? undefined : importPKCS8(pkcs8Pem(der), algorithm)
}

/** The public keys of our own certificate: one verifies our signatures, one encrypts for us. */
const publicKeysOf = async (
  entry: JoseCertificate,
  key: JoseKey | undefined,
): Promise<readonly JWK[]> => {
  if (key === undefined || !entry.hasKey || !entry.isForTokens) return []
  const member = async (own: CryptoKey | undefined, use: string, alg: string | undefined) =>
    own === undefined || alg === undefined
      ? []
      : [
          {
            ...(await exportJWK(own)),
            ...key.names,
            x5c: [key.certificate.raw.toString('base64')],
            use,
            alg,
          },
        ]
  return [
    ...(entry.signs ? await member(await key.use('verify'), 'sig', key.pin.signature) : []),
    ...(entry.encrypts ? await member(await key.use('encrypt'), 'enc', key.pin.keyManagement) : []),
  ]
}

/** The key of a certificate as others verify with it. */
export const verificationKeyOf = (key: JoseKey): VerificationKey => ({
  origin: 'store',
  names: key.names,
  algorithms: [key.pin.signature],
  chain: [key.certificate],
  import: () => key.use('verify'),
})
