import { X509Certificate } from 'node:crypto'

/** What we read of a certificate in use. */
export type ReadCertificate = {
  /** SHA-256, lower case hex. */
  readonly fingerprint: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** Decimal. */
  readonly serial: string
}

/** @throws Error for what is no certificate */
export const readPem = (pem: string): ReadCertificate => {
  const { fingerprint256, serialNumber, validFrom, validTo } = new X509Certificate(pem)
  return {
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    serial: BigInt(`0x${serialNumber}`).toString(),
    notBefore: new Date(validFrom),
    notAfter: new Date(validTo),
  }
}
