import { X509Certificate } from 'node:crypto'
import type { Check } from '#src/platform/lifecycle/index.ts'
import {
  type CertificateUse,
  type DescribedCertificate,
  describeCertificate,
} from '#src/platform/security/index.ts'
import { type Known, trustedBy, verdictOn } from './authorities.ts'
import {
  type CertificateRecord,
  type CertificateStatus,
  daysUntilExpiry,
  expiryStep,
  latestUsable,
  statusAt,
  tokenType,
} from './domain.ts'

export type InUse = Known & { readonly source: CertificateUse['source'] }

/** The certificate of the use; undefined while there is none, as before the store is read for the first time. */
const certificateOf = (
  { ispb, type, material }: CertificateUse,
  stored: readonly CertificateRecord[],
  now: Date,
): DescribedCertificate | undefined => {
  if (material !== undefined) {
    const { cert } = material.current()
    return cert === undefined ? undefined : describeCertificate(new X509Certificate(cert))
  }
  return latestUsable(stored, { ispb, type }, now)
}

export const knownOf = (record: CertificateRecord): Known => ({
  ...record,
  version: String(record.version),
})

/** How metrics, log lines and checks call what a certificate is for. */
export const useText = ({ ispb, type }: Pick<Known, 'ispb' | 'type'>): string =>
  ispb === '' ? type : `${ispb}.${type}`

/** Tokens are signed with certificates of the store, each institution's latest. */
const tokenUses = (stored: readonly CertificateRecord[]): readonly CertificateUse[] =>
  [
    ...new Set(stored.flatMap((one) => (one.type === tokenType && one.hasKey ? [one.ispb] : []))),
  ].map((ispb) => ({ ispb, type: tokenType, source: 'store', material: undefined }))

/** The certificates in use now, without those of the store that its list no longer holds. */
export const inUseOf = (
  uses: readonly CertificateUse[],
  stored: readonly CertificateRecord[],
  now: Date,
): readonly InUse[] =>
  [...uses, ...tokenUses(stored)].flatMap((use) => {
    const certificate = certificateOf(use, stored, now)
    if (certificate === undefined) return []
    const { ispb, type, source } = use
    const { fingerprint, notBefore, notAfter } = certificate
    const { version } =
      source === 'files'
        ? { version: 'files' }
        : (stored.find(
            (one) => one.ispb === ispb && one.type === type && one.fingerprint === fingerprint,
          ) ?? { version: undefined })
    if (version === undefined) return []
    return [{ ispb, type, source, fingerprint, version: String(version), notBefore, notAfter }]
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
export const checkUses = async (
  uses: readonly CertificateUse[],
  list: () => Promise<readonly CertificateRecord[]>,
  now: Date,
): Promise<readonly Check[]> => {
  const stored = await settled(list())
  const tokens = stored instanceof Error ? [] : tokenUses(stored)
  const all = [...uses, ...tokens].map((use) => checkUse(use, stored, now))
  return (await Promise.all(all)).flat()
}

const settled = <T>(work: Promise<T>): Promise<T | Error> =>
  work.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))

const checkUse = async (
  use: CertificateUse,
  stored: readonly CertificateRecord[] | Error,
  now: Date,
): Promise<readonly Check[]> => {
  const { ispb, type, source, material } = use
  const failed = (detail: string): readonly Check[] => [
    { name: `certificate ${useText(use)}`, status: 'failed', detail, fix: fixes[source] },
  ]
  const read = material === undefined ? stored : await settled(material.reload())
  if (read instanceof Error) return failed(read.message)
  const known = stored instanceof Error ? [] : stored
  const certificate = certificateOf(use, known, now)
  const trusted = checkTrusted(use, now)
  if (certificate !== undefined) return [checkOf(use, certificate, now), ...trusted]
  const has = known.some((one) => one.ispb === ispb && one.type === type)
  // A use with material has plain connections, or a service that signs.
  if (material !== undefined || (use.isOptional === true && !has)) return trusted
  return failed(`the certificate store has no active ${useText(use)} with a key`)
}

const checkTrusted = (use: CertificateUse, now: Date): readonly Check[] => {
  const trusted = trustedBy(use)
  if (trusted.length === 0) return []
  const { status, detail } = verdictOn(trusted, now)
  const fix = 'replace the bundle: the file is read again by itself'
  const name = `authorities of ${useText(use)}`
  return [{ name, status, detail, ...(status === 'ok' ? {} : { fix }) }]
}

const checkOf = (use: CertificateUse, certificate: DescribedCertificate, now: Date): Check => {
  const { source } = use
  const days = daysUntilExpiry(certificate, now)
  const status = statusAt(certificate, now)
  const found = statusOfCheck(status, days)
  const good = status === 'active' ? `good for ${days} days` : status.replaceAll('_', ' ')
  const from = source === 'files' ? 'files' : 'the store'
  return {
    name: `certificate ${useText(use)}`,
    status: found,
    detail: `from ${from}, serial ${certificate.serial}, ${good}`,
    ...(found === 'ok' ? {} : { fix: fixes[source] }),
  }
}
