import { X509Certificate } from 'node:crypto'
import type { Check } from '#src/platform/lifecycle/index.ts'
import type { KeyMaterial } from '#src/platform/security/index.ts'
import {
  type CertificateRecord,
  type CertificateStatus,
  type CertificateType,
  daysUntilExpiry,
  expiryStep,
  statusAt,
} from './domain.ts'

/** What this process uses a certificate for, wherever it comes from. */
export type CertificateUse = {
  readonly ispb: string
  readonly type: CertificateType
  readonly source: 'files' | 'store'
  readonly material: KeyMaterial
}

/** A certificate as metrics, log lines and checks tell of it. */
export type Known = {
  readonly ispb: string
  readonly type: CertificateType
  /** Of the store; `files` for one that comes from files. */
  readonly version: string
  readonly fingerprint: string
  readonly notBefore: Date
  readonly notAfter: Date
}

export type InUse = Known & { readonly source: CertificateUse['source'] }

const fingerprintOf = ({ fingerprint256 }: X509Certificate): string =>
  fingerprint256.replaceAll(':', '').toLowerCase()

/** The certificate of the use; undefined while there is none, as before the store is read for the first time. */
const certificateOf = ({ material }: CertificateUse): X509Certificate | undefined => {
  const { cert } = material.current()
  return cert === undefined ? undefined : new X509Certificate(cert)
}

export const knownOf = (record: CertificateRecord): Known => ({
  ...record,
  version: String(record.version),
})

/** The certificates in use now. One of the store that the list does not hold any more is left out. */
export const inUseOf = (
  uses: readonly CertificateUse[],
  stored: readonly CertificateRecord[],
): readonly InUse[] =>
  uses.flatMap((use) => {
    const certificate = certificateOf(use)
    if (certificate === undefined) return []
    const { ispb, type, source } = use
    const fingerprint = fingerprintOf(certificate)
    const { version } =
      source === 'files'
        ? { version: 'files' }
        : (stored.find(
            (one) => one.ispb === ispb && one.type === type && one.fingerprint === fingerprint,
          ) ?? { version: undefined })
    if (version === undefined) return []
    const { validFrom, validTo } = certificate
    return [
      {
        ...{ ispb, type, source, fingerprint, version: String(version) },
        ...{ notBefore: new Date(validFrom), notAfter: new Date(validTo) },
      },
    ]
  })

const fixes = {
  files: 'replace certificate and key: the files are read again by themselves',
  store: 'import the next version: POST /v1/certificates, or trilho certs import',
} as const satisfies Record<CertificateUse['source'], string>

const statusOfCheck = (status: CertificateStatus, days: number): Check['status'] => {
  if (status !== 'active') return 'failed'
  return expiryStep(days) === undefined ? 'ok' : 'warning'
}

/** Reads the source of each use now, and says for how long its certificate is good. */
export const checkUses = (uses: readonly CertificateUse[], now: Date): Promise<readonly Check[]> =>
  Promise.all(uses.map((use) => checkUse(use, now))).then((checks) => checks.flat())

const checkUse = async (use: CertificateUse, now: Date): Promise<readonly Check[]> => {
  const { ispb, type, source, material } = use
  const name = `certificate ${ispb}.${type}`
  const fix = fixes[source]
  try {
    await material.reload()
  } catch (error) {
    return [{ name, status: 'failed', detail: error instanceof Error ? error.message : '', fix }]
  }
  const certificate = certificateOf(use)
  // Plain connections, or a service that signs.
  if (certificate === undefined) return []
  const dates = {
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
  }
  const days = daysUntilExpiry(dates, now)
  const status = statusAt(dates, now)
  const found = statusOfCheck(status, days)
  const good = status === 'active' ? `good for ${days} days` : status.replaceAll('_', ' ')
  const serial = BigInt(`0x${certificate.serialNumber}`).toString()
  const detail = `from ${source === 'files' ? 'files' : 'the store'}, serial ${serial}, ${good}`
  return [{ name, status: found, detail, ...(found === 'ok' ? {} : { fix }) }]
}
