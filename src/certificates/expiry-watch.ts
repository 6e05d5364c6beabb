import { createJob } from '#src/platform/jobs/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import type { CertificateUse } from '#src/platform/security/index.ts'
import { type Known, toldOf } from './authorities.ts'
import { type CertificateRecord, daysUntilExpiry, expiryStep, statusAt } from './domain.ts'
import { type InUse, inUseOf, knownOf, useText } from './in-use.ts'

const lookMs = 3_600_000

export type ExpiryWatchDeps = {
  readonly list: () => Promise<readonly CertificateRecord[]>
  /** The certificates that this process uses now. */
  readonly uses: () => readonly CertificateUse[]
  readonly metrics: Metrics
  readonly logger: Logger
  readonly now: () => Date
}

export type ExpiryWatch = {
  /** Checks every certificate now and logs the lines that are due. */
  readonly look: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * The metrics of certificates, computed when they are read, and one log line per certificate and step (45, 30, 14, 7,
 * 1 days, and expired). They cover the store, the files in use, and the certificates that we trust others by.
 */
export const createExpiryWatch = (deps: ExpiryWatchDeps): ExpiryWatch => {
  const { list, uses, logger, now } = deps
  registerMetrics(deps)

  /** By certificate: the last step that was logged. */
  const told = new Map<string, number>()
  const tell = (certificate: Known): void => {
    const days = daysUntilExpiry(certificate, now())
    const step = days < 0 ? -1 : expiryStep(days)
    if (step === undefined) {
      told.delete(certificate.fingerprint)
      return
    }
    if (told.get(certificate.fingerprint) === step) return
    told.set(certificate.fingerprint, step)
    const { version, notAfter } = certificate
    const name = `${useText(certificate)}.${version}`
    const fields = { certificate: name, days, not_after: notAfter.toISOString() }
    if (days < 0) logger.error(fields, 'certificate expired')
    else logger.warn(fields, 'certificate expires soon')
  }

  const look = async (): Promise<void> => {
    // These need no store, which may be away.
    for (const certificate of fromFiles(uses(), now())) tell(certificate)
    for (const trusted of uses().flatMap((use) => toldOf(use, now()))) tell(trusted)
    for (const record of neededOf(uses(), await list(), now())) tell(knownOf(record))
  }
  const job = createJob({ name: 'expiry of certificates', everyMs: lookMs, run: look, logger })
  return { look, start: job.start, stop: job.stop }
}

/** Whether a newer version does its work: nobody has to renew it. */
const isReplaced = (
  { ispb, type, version, hasKey }: CertificateRecord,
  stored: readonly CertificateRecord[],
  now: Date,
): boolean =>
  stored.some(
    (other) =>
      other.ispb === ispb &&
      other.type === type &&
      other.version > version &&
      (other.hasKey || !hasKey) &&
      statusAt(other, now) === 'active',
  )

/** The certificates that somebody has to renew: all in use, and all that no newer version has replaced. */
const neededOf = (
  uses: readonly CertificateUse[],
  stored: readonly CertificateRecord[],
  now: Date,
): readonly CertificateRecord[] => {
  const inUse = new Set(inUseOf(uses, stored, now).map(({ fingerprint }) => fingerprint))
  return stored.filter(
    (record) => inUse.has(record.fingerprint) || !isReplaced(record, stored, now),
  )
}

const fromFiles = (uses: readonly CertificateUse[], now: Date): readonly InUse[] =>
  inUseOf(
    uses.filter(({ source }) => source === 'files'),
    [],
    now,
  )

const labels = ['ispb', 'type', 'version'] as const

type Labels = Readonly<Record<(typeof labels)[number], string>>

const labelsOf = ({ ispb, type, version }: Known): Labels => ({ ispb, type, version })

const registerMetrics = ({ list, uses, metrics, now }: ExpiryWatchDeps): void => {
  const holds = ({ notAfter }: Pick<Known, 'notAfter'>): boolean => now() <= notAfter
  const trusted = (use: CertificateUse): readonly Known[] => {
    const told = toldOf(use, now())
    return told.some(holds) ? told.filter(holds) : told
  }
  /** Leaves out an expired one with a successor: only its removal would end the alert. */
  const all = async (): Promise<readonly Known[]> => {
    const stored = await list()
    const needed = new Set(neededOf(uses(), stored, now()))
    return [
      ...stored.filter((one) => holds(one) || needed.has(one)).map(knownOf),
      ...fromFiles(uses(), now()),
      ...uses().flatMap(trusted),
    ]
  }
  metrics.gauge(
    'spigw_cert_days_until_expiry',
    'Days until certificate expiry.',
    labels,
    async (gauge) => {
      gauge.reset()
      for (const one of await all()) gauge.set(labelsOf(one), daysUntilExpiry(one, now()))
    },
  )
  metrics.gauge('spigw_cert_expired', '1 when expired, 0 otherwise.', labels, async (gauge) => {
    gauge.reset()
    for (const one of await all()) gauge.set(labelsOf(one), now() > one.notAfter ? 1 : 0)
  })
  metrics.gauge('spigw_cert_total', 'Certificates in the store.', [], async (gauge) => {
    gauge.set((await list()).length)
  })
  metrics.gauge(
    'trilho_certificates_in_use',
    '1 for each certificate that this process signs, connects, listens or seals with.',
    [...labels, 'source'],
    async (gauge) => {
      gauge.reset()
      for (const one of inUseOf(uses(), await list(), now())) {
        gauge.set({ ...labelsOf(one), source: one.source }, 1)
      }
    },
  )
}
