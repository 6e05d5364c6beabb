import { X509Certificate } from 'node:crypto'
import { type CertificateUse, describeCertificate } from '#src/platform/security/index.ts'
import { daysUntilExpiry, expiryStep } from './domain.ts'

/** A certificate as metrics, log lines and checks tell of it. */
export type Known = {
  readonly ispb: string
  /** The type of its use. An authority that we trust, or the signer of received messages, has that and `_ca`. */
  readonly type: string
  /**
   * The version in the store; `files` for a certificate that comes from files. A trusted certificate has the beginning
   * of its fingerprint: a bundle has several, and nobody has numbered them.
   */
  readonly version: string
  readonly fingerprint: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/** A bundle may hold all public authorities: metrics and log lines tell of so many. */
export const trustedMax = 20
const versionCharacters = 8

const begin = '-----BEGIN CERTIFICATE-----'
const end = '-----END CERTIFICATE-----'

const certificatesOf = (bundle: string): readonly string[] =>
  bundle.split(begin).flatMap((after, place) => {
    const length = after.indexOf(end)
    return place === 0 || length < 0 ? [] : [`${begin}${after.slice(0, length)}${end}\n`]
  })

type Read = Omit<Known, 'ispb' | 'type'>

/** Bundles that were read; a process has a handful. */
const kept = new Map<string, readonly Read[]>()
const knownMax = 64

const readBundle = (bundle: string): readonly Read[] => {
  const before = kept.get(bundle)
  if (before !== undefined) return before
  const all = certificatesOf(bundle).flatMap((pem): readonly Read[] => {
    const read = tryReadPem(pem)
    if (read === undefined) return []
    const { fingerprint, notBefore, notAfter } = read
    return [{ version: fingerprint.slice(0, versionCharacters), fingerprint, notBefore, notAfter }]
  })
  const read = [...new Map(all.map((one) => [one.fingerprint, one])).values()].sort(
    (a, b) => a.notAfter.getTime() - b.notAfter.getTime(),
  )
  if (kept.size >= knownMax) kept.clear()
  kept.set(bundle, read)
  return read
}

/** Skips unreadable certificates: the user of the bundle tells of them. */
const tryReadPem = (pem: string) => {
  try {
    return describeCertificate(new X509Certificate(pem))
  } catch {
    return undefined
  }
}

/** The certificates that a use trusts others by now; the first to end comes first. */
export const trustedBy = ({ ispb, type, material }: CertificateUse): readonly Known[] => {
  const bundle = material?.current().ca
  return bundle === undefined
    ? []
    : readBundle(bundle).map((read) => ({ ...read, ispb, type: `${type}_ca` }))
}

/** The certificates of a use that we tell of: first the valid ones, by their ends, then the expired ones. */
export const toldOf = (use: CertificateUse, now: Date): readonly Known[] => {
  const all = trustedBy(use)
  const expired = all.filter(({ notAfter }) => now > notAfter)
  return [...all.slice(expired.length), ...expired].slice(0, trustedMax)
}

/** An expired one may have a successor beside it: the check fails only if none is left. */
export const verdictOn = (
  trusted: readonly Known[],
  now: Date,
): { readonly status: 'ok' | 'warning' | 'failed'; readonly detail: string } => {
  const days = trusted.map((one) => daysUntilExpiry(one, now))
  const expired = days.filter((left) => left < 0).length
  const next = days.find((left) => left >= 0)
  const count = trusted.length === 1 ? '1 certificate' : `${trusted.length} certificates`
  if (next === undefined) return { status: 'failed', detail: `${count}, all expired` }
  const dead = expired === 0 ? '' : `, ${expired} expired`
  const isDue = expired > 0 || expiryStep(next) !== undefined
  return {
    status: isDue ? 'warning' : 'ok',
    detail: `${count}${dead}, the next ends in ${next} days`,
  }
}
