import { createJob } from '#src/platform/jobs/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { type CertificateRecord, daysUntilExpiry, expiryStep, nameText } from './domain.ts'

const lookMs = 3_600_000

export type ExpiryWatchDeps = {
  readonly list: () => Promise<readonly CertificateRecord[]>
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
 * The three metrics of certificates, computed when they are read, and one log line per certificate
 * and step (45, 30, 14, 7, 1 days, and expired).
 */
export const createExpiryWatch = ({ list, metrics, logger, now }: ExpiryWatchDeps): ExpiryWatch => {
  const labels = ['ispb', 'type', 'version'] as const
  const each = (set: (record: CertificateRecord, labels: Labels) => void) => async () => {
    for (const record of await list()) set(record, labelsOf(record))
  }
  metrics.gauge(
    'spigw_cert_days_until_expiry',
    'Days until certificate expiry.',
    labels,
    (gauge) => {
      gauge.reset()
      return each((record, its) => gauge.set(its, daysUntilExpiry(record, now())))()
    },
  )
  metrics.gauge('spigw_cert_expired', '1 when expired, 0 otherwise.', labels, (gauge) => {
    gauge.reset()
    return each((record, its) => gauge.set(its, now() > record.notAfter ? 1 : 0))()
  })
  metrics.gauge('spigw_cert_total', 'Certificates in the store.', [], async (gauge) => {
    gauge.set((await list()).length)
  })

  /** By certificate: the last step that was logged. */
  const told = new Map<string, number>()
  const tell = (record: CertificateRecord): void => {
    const days = daysUntilExpiry(record, now())
    const step = days < 0 ? -1 : expiryStep(days)
    if (step === undefined) {
      told.delete(record.fingerprint)
      return
    }
    if (told.get(record.fingerprint) === step) return
    told.set(record.fingerprint, step)
    const fields = { certificate: nameText(record), days, not_after: record.notAfter.toISOString() }
    if (days < 0) logger.error(fields, 'certificate expired')
    else logger.warn(fields, 'certificate expires soon')
  }

  const look = async (): Promise<void> => {
    for (const record of await list()) tell(record)
  }
  const job = createJob({ name: 'expiry of certificates', everyMs: lookMs, run: look, logger })
  return { look, start: job.start, stop: job.stop }
}

type Labels = { readonly ispb: string; readonly type: string; readonly version: string }

const labelsOf = ({ ispb, type, version }: CertificateRecord): Labels => ({
  ispb,
  type,
  version: String(version),
})
