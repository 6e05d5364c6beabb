import type { X509Certificate } from 'node:crypto'
import type { KeyMaterial } from './key-material.ts'

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

/** What a process uses a certificate for, wherever it comes from. */
export type CertificateUse = {
  /** The institution that it speaks for; empty for what is of this process alone, as a listener's. */
  readonly ispb: string
  /** By the national network's name (`PIA`), or what it is for: `grpc`, `card_network_visa`. */
  readonly type: string
  readonly source: 'files' | 'store'
  /** Undefined: whoever uses it reads the store each time, and takes the latest with a key that holds now. */
  readonly material: KeyMaterial | undefined
  /** It is no fault if the store has none. */
  readonly isOptional?: boolean
}

/** The use of files by this process; none without them. */
export const usedFiles = (
  type: string,
  material: KeyMaterial | undefined,
): readonly CertificateUse[] =>
  material === undefined ? [] : [{ ispb: '', type, source: 'files', material }]
