import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type RsfnHeader, type RsfnSender, rsfnSerial } from '#codecs/rsfn'
import { authorityOf, type RsfnParty } from './authority.ts'
import { createRsfnSender } from './crypto.ts'
import { RsfnFailure } from './errors.ts'
import { type RsfnKeys, rsfnBits } from './keys.ts'

/** Purposes of certificates that the security header knows. */
export const rsfnTypes = ['SPB', 'MES'] as const
export type RsfnType = (typeof rsfnTypes)[number]

/** `'authority'` and `'serial'` as of the codec's ports. */
type Unknown = 'authority' | 'serial'

/** @property party - how the header names its certificate; undefined for a bare key */
type RsfnKey = { readonly key: KeyObject; readonly party: RsfnParty | undefined }

/** Where the keys of the security header come from. */
export type RsfnKeySource = {
  /** Our key to sign with. @throws RsfnFailure */
  readonly own: (type: RsfnType) => Promise<RsfnKey>
  /** The public key of another institution. @throws RsfnFailure */
  readonly peer: (ispb: string, type: RsfnType) => Promise<RsfnKey>
  /** Our key that the header names as destination. */
  readonly recipient: (header: RsfnHeader) => Promise<KeyObject | Unknown>
  /** The institution that the header names as sender. */
  readonly sender: (header: RsfnHeader) => Promise<RsfnSender | Unknown>
}

type Listed = {
  readonly kid: string
  /** PEM. */
  readonly certificate: string
  readonly fingerprint: string
  readonly active: boolean
  readonly hasKey: boolean
}

/** The certificate store as this feature sees it; `kid` is `<ispb>.<type>.<version>`. */
export type RsfnCertificates = {
  readonly list: () => Promise<readonly Listed[]>
  /** PKCS#8, DER; undefined, too, if another certificate has the kid by now. */
  readonly readKey: (kid: string, fingerprint: string) => Promise<Uint8Array | undefined>
}

const needed = (key: KeyObject | undefined, setting: string): KeyObject => {
  if (key === undefined) throw new RsfnFailure('key_missing', `${setting} is not set`)
  return key
}

/** The two keys of the settings; they answer to whatever the header names. */
export const keyFiles = ({ privateKey, publicKey }: RsfnKeys): RsfnKeySource => {
  const own = () => needed(privateKey, 'RSFN_PRIVATE_KEY_PATH')
  const peer = () => needed(publicKey, 'RSFN_PUBLIC_KEY_PATH')
  return {
    own: async () => ({ key: own(), party: undefined }),
    peer: async () => ({ key: peer(), party: undefined }),
    recipient: async () => own(),
    sender: async () => createRsfnSender(peer(), 'active'),
  }
}

type Entry = Omit<Listed, 'certificate'> & {
  readonly ispb: string
  readonly type: string
  readonly version: number
  readonly certificate: X509Certificate
}

const isRsa = ({ publicKey }: X509Certificate): boolean =>
  publicKey.asymmetricKeyType === 'rsa' &&
  publicKey.asymmetricKeyDetails?.modulusLength === rsfnBits

const partyOf = (certificate: X509Certificate): RsfnParty | undefined => {
  const authority = authorityOf(certificate.issuer)
  if (authority === undefined || certificate.serialNumber.length > 32) return undefined
  return { authority, serial: rsfnSerial(certificate.serialNumber) }
}

const statusOf = ({ active, certificate }: Entry): RsfnSender['status'] => {
  if (active) return 'active'
  return new Date() > new Date(certificate.validTo) ? 'expired_or_revoked' : 'not_active'
}

/** Certificates of types SPB and MES: ours with their keys, and those of others. */
export const keyStore = (certificates: RsfnCertificates, ispb: string): RsfnKeySource => {
  const entries = async (): Promise<readonly Entry[]> =>
    (await certificates.list()).flatMap(({ kid, certificate: pem, ...entry }) => {
      const [owner = '', type = '', version] = kid.split('.')
      if (!rsfnTypes.some((one) => one === type)) return []
      const certificate = new X509Certificate(pem)
      if (!isRsa(certificate)) return []
      return [{ kid, ispb: owner, type, version: Number(version), certificate, ...entry }]
    })

  const keyOf = async ({ kid, fingerprint }: Entry): Promise<KeyObject> => {
    const der = await certificates.readKey(kid, fingerprint)
    if (der === undefined) throw new RsfnFailure('key_missing', `${kid} is stored without its key`)
    return createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
  }

  const latest = async (owner: string, type: RsfnType, withKey: boolean): Promise<Entry> => {
    const [found] = (await entries())
      .filter((one) => one.ispb === owner && one.type === type && one.active)
      .filter(({ hasKey }) => hasKey || !withKey)
      .toSorted((a, b) => b.version - a.version)
    if (found !== undefined) return found
    const what = withKey ? 'an active certificate with its key' : 'an active certificate'
    throw new RsfnFailure('key_missing', `the certificate store lacks ${what}, ${owner}.${type}`)
  }

  /** The certificate that the header names by authority and serial. */
  const named = async (
    authority: number,
    serial: string,
    isEligible: (entry: Entry) => boolean,
  ): Promise<Entry | Unknown> => {
    const found = (await entries()).filter(
      (one) => isEligible(one) && partyOf(one.certificate)?.authority === authority,
    )
    if (found.length === 0) return 'authority'
    return found.find(({ certificate }) => partyOf(certificate)?.serial === serial) ?? 'serial'
  }

  return {
    own: async (type) => {
      const entry = await latest(ispb, type, true)
      return { key: await keyOf(entry), party: partyOf(entry.certificate) }
    },
    peer: async (owner, type) => {
      const { certificate } = await latest(owner, type, false)
      return { key: certificate.publicKey, party: partyOf(certificate) }
    },
    // Expired certificates still open what was sealed for them.
    recipient: async ({ destinationAuthority, destinationSerial }) => {
      const isOurs = (one: Entry): boolean => one.ispb === ispb && one.hasKey
      const entry = await named(destinationAuthority, destinationSerial, isOurs)
      return typeof entry === 'string' ? entry : keyOf(entry)
    },
    sender: async ({ senderAuthority, senderSerial }) => {
      const entry = await named(senderAuthority, senderSerial, () => true)
      if (typeof entry === 'string') return entry
      return createRsfnSender(entry.certificate.publicKey, statusOf(entry))
    },
  }
}
