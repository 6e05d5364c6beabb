import type { X509Certificate } from 'node:crypto'

/** What we tell of a certificate, and know it by. */
export type DescribedCertificate = {
  /** SHA-256, lower case hex. */
  readonly fingerprint: string
  /** Decimal, as signatures name it. */
  readonly serial: string
  readonly notBefore: Date
  readonly notAfter: Date
}

export const describeCertificate = ({
  fingerprint256,
  serialNumber,
  validFrom,
  validTo,
}: X509Certificate): DescribedCertificate => ({
  fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
  serial: BigInt(`0x${serialNumber}`).toString(),
  notBefore: new Date(validFrom),
  notAfter: new Date(validTo),
})
