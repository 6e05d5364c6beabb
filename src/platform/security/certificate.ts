import type { X509Certificate } from 'node:crypto'
import type { KeyMaterial } from './key-material.ts'

/** The facts that we tell of a certificate, and know it by. */
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

/** One use of a certificate by a process, wherever it comes from. */
export type CertificateUse = {
  /** The institution that it speaks for; empty for what is of this process alone, as a listener's. */
  readonly ispb: string
  /** The national network's name for it (`PIA`), or its purpose: `grpc`, `card_network_visa`. */
  readonly type: string
  readonly source: 'files' | 'store'
  /** Undefined: its user reads the store each time, and takes the latest with a key that holds now. */
  readonly material: KeyMaterial | undefined
  /** True if the store may lack it. */
  readonly isOptional?: boolean
}

/** This process's use of files; none without them. */
export const usedFiles = (
  type: string,
  material: KeyMaterial | undefined,
): readonly CertificateUse[] =>
  material === undefined ? [] : [{ ispb: '', type, source: 'files', material }]
