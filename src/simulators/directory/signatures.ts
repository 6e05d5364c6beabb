/** Signs what the directory answers, and tells whose signature a request carries. */
import { createPrivateKey, hash, sign, X509Certificate } from 'node:crypto'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { issuerText, signWhole, verifyWhole } from '#codecs/xmldsig'
import { describeCertificate } from '#src/platform/security/index.ts'
import { signersIn } from '../counterparty.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const scanner = createXmlScanner()

export type SignAnswer = (document: Uint8Array) => Promise<Uint8Array>

export const createAnswerSigner = (pair: {
  readonly certificate: string
  readonly key: string
}): SignAnswer => {
  const certificate = new X509Certificate(pair.certificate)
  const key = createPrivateKey(pair.key)
  const signer = {
    issuer: issuerText(new Uint8Array(certificate.raw)),
    serial: describeCertificate(certificate).serial,
    id: 'directory',
    sign: async (bytes: Uint8Array) => sign('sha256', bytes, key),
  }
  return (document) => signWhole(scanner.scan(document), signer, sha256)
}

/** True: that participant signed the document. */
export type SignatureCheck = (document: XmlDocument, ispb: string) => boolean

/** @param certificates PEM by ISPB */
export const createSignatureCheck = (
  certificates: Readonly<Record<string, readonly string[]>>,
): SignatureCheck => {
  const findCertificate = signersIn(certificates)
  return (document, ispb) => {
    const verdict = verifyWhole(document, { sha256, findCertificate })
    return verdict.ok && verdict.certificate.ispb === ispb
  }
}
