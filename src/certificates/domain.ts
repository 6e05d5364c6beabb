/** Purposes of certificates, by the national network's names. */
import { dayMs } from '#src/platform/runtime/days.ts'

export const certificateTypes = ['PIA', 'PIC', 'SPB', 'MES', 'QRC'] as const
export type CertificateType = (typeof certificateTypes)[number]

/** The one purpose whose keys serve tokens: messages, connections and the security header have their own. */
export const tokenType: CertificateType = 'QRC'

export const certificateTypeMeanings: Readonly<Record<CertificateType, string>> = {
  PIA: 'signature of instant payment messages',
  PIC: 'connection to the instant payment interface (mutual TLS)',
  SPB: 'security header of the payment system (RSFN)',
  MES: 'messaging of the network (RSFN)',
  QRC: 'signature of QR code payloads',
}

export const versionMax = 9_999

/** The name of a certificate: institution, purpose and version number. */
export type CertificateName = {
  readonly ispb: string
  readonly type: CertificateType
  readonly version: number
}

/** One stored certificate. `chain` does not repeat the certificate itself. */
export type CertificateRecord = CertificateName & {
  readonly subject: string
  readonly issuer: string
  /** Decimal. */
  readonly serial: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** SHA-256 of the DER, lower-case hexadecimal. */
  readonly fingerprint: string
  readonly hasKey: boolean
  /** PEM. */
  readonly certificate: string
  /** PEM, nearest issuer first. */
  readonly chain: readonly string[]
}

export type CertificateStatus = 'active' | 'expired' | 'not_yet_valid'

export const nameText = ({ ispb, type, version }: CertificateName): string =>
  `${ispb}.${type}.${version}`

/** Reads `<ispb>.<type>.<version>`; undefined for any other text. */
export const parseNameText = (text: string): CertificateName | undefined => {
  const found = /^([0-9A-Z]{8})\.([A-Z]{3})\.([1-9]\d{0,3})$/.exec(text)
  const type = certificateTypes.find((candidate) => candidate === found?.[2])
  if (found === null || type === undefined) return undefined
  return { ispb: found[1] ?? '', type, version: Number(found[3]) }
}

export const statusAt = (
  { notBefore, notAfter }: Pick<CertificateRecord, 'notBefore' | 'notAfter'>,
  now: Date,
): CertificateStatus => {
  if (now > notAfter) return 'expired'
  return now < notBefore ? 'not_yet_valid' : 'active'
}

/** The highest valid version for a purpose that has its key: a newer one without its key must not stop the work. */
export const latestUsable = (
  stored: readonly CertificateRecord[],
  { ispb, type }: { readonly ispb: string; readonly type: string },
  now: Date,
): CertificateRecord | undefined =>
  stored
    .filter((one) => one.ispb === ispb && one.type === type && one.hasKey)
    .filter((one) => statusAt(one, now) === 'active')
    .toSorted((a, b) => b.version - a.version)[0]

/** Whole days left, rounded down; negative when expired. */
export const daysUntilExpiry = (
  { notAfter }: Pick<CertificateRecord, 'notAfter'>,
  now: Date,
): number => Math.floor((notAfter.getTime() - now.getTime()) / dayMs)

/** Days before expiry at which we log a warning. */
const expiryWarningDays = [45, 30, 14, 7, 1] as const

/** The smallest warning step that the days left have reached; undefined before the first. */
export const expiryStep = (days: number): number | undefined =>
  expiryWarningDays.findLast((step) => days <= step)
