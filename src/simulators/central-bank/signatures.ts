/** Finds the signer of a message. */
import { hash } from 'node:crypto'
import type { XmlDocument } from '#codecs/xml'
import { Scratch, verifyEnvelope } from '#codecs/xmldsig'
import { signersIn } from '../counterparty.ts'

/** Undefined when that participant signed the message; otherwise what is wrong with the signature. */
export type SignatureCheck = (document: XmlDocument, ispb: string) => string | undefined

/** @param certificates PEM by ISPB */
export const createSignatureCheck = (
  certificates: Readonly<Record<string, readonly string[]>>,
): SignatureCheck => {
  const ports = {
    scratch: new Scratch(),
    sha256: (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer'),
    findCertificate: signersIn(certificates),
  }
  return (document, ispb) => {
    const verdict = verifyEnvelope(document, ports)
    if (!verdict.ok) return verdict.message
    return verdict.certificate.ispb === ispb
      ? undefined
      : 'O ISPB do remetente não é o mesmo da Assinatura XML'
  }
}
