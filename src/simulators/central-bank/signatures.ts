/** Whose signature a message carries. */
import { hash, verify, X509Certificate } from 'node:crypto'
import type { XmlDocument } from '#codecs/xml'
import {
  type CanonicalName,
  canonicalIssuer,
  parseName,
  Scratch,
  verifyEnvelope,
} from '#codecs/xmldsig'

type Signer = {
  readonly ispb: string
  readonly issuer: CanonicalName
  readonly valid: boolean
  readonly verify: (signedInfo: Uint8Array, signature: Uint8Array) => boolean
}

/** Undefined when that participant signed the message; otherwise what is wrong with the signature. */
export type SignatureCheck = (document: XmlDocument, ispb: string) => string | undefined

const signerOf = (ispb: string, pem: string): [serial: string, signer: Signer] => {
  const certificate = new X509Certificate(pem)
  const { publicKey } = certificate
  const serial = BigInt(`0x${certificate.serialNumber}`).toString()
  return [
    serial,
    {
      ispb,
      issuer: canonicalIssuer(new Uint8Array(certificate.raw)),
      valid: new Date(certificate.validTo).getTime() > Date.now(),
      verify: (bytes, signature) => verify('sha256', bytes, publicKey, signature),
    },
  ]
}

const nameOf = (text: string): CanonicalName | undefined => {
  try {
    return parseName(text)
  } catch {
    // No certificate has a name that cannot be read.
    return undefined
  }
}

/** @param certificates PEM by ISPB */
export const createSignatureCheck = (
  certificates: Readonly<Record<string, readonly string[]>>,
): SignatureCheck => {
  const bySerial = new Map<string, Signer[]>()
  for (const [ispb, pems] of Object.entries(certificates)) {
    for (const pem of pems) {
      const [serial, signer] = signerOf(ispb, pem)
      bySerial.set(serial, [...(bySerial.get(serial) ?? []), signer])
    }
  }
  const ports = {
    scratch: new Scratch(),
    sha256: (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer'),
    findCertificate: (issuer: string, serial: string): Signer | undefined => {
      const name = nameOf(issuer)
      return bySerial.get(serial)?.find((signer) => signer.issuer === name)
    },
  }
  return (document, ispb) => {
    const verdict = verifyEnvelope(document, ports)
    if (!verdict.ok) return verdict.message
    return verdict.certificate.ispb === ispb
      ? undefined
      : 'O ISPB do remetente não é o mesmo da Assinatura XML'
  }
}
