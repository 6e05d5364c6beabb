/** Signs what the directory answers, and tells whose signature a request carries. */
import { createPrivateKey, hash, sign, verify, X509Certificate } from 'node:crypto'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { canonicalIssuer, issuerText, parseName, signWhole, verifyWhole } from '#codecs/xmldsig'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const scanner = createXmlScanner()

const serialOf = ({ serialNumber }: X509Certificate): string =>
  BigInt(`0x${serialNumber}`).toString()

export type SignAnswer = (document: Uint8Array) => Promise<Uint8Array>

export const createAnswerSigner = (pair: {
  readonly certificate: string
  readonly key: string
}): SignAnswer => {
  const certificate = new X509Certificate(pair.certificate)
  const key = createPrivateKey(pair.key)
  const signer = {
    issuer: issuerText(new Uint8Array(certificate.raw)),
    serial: serialOf(certificate),
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
  const signers = Object.entries(certificates).flatMap(([ispb, pems]) =>
    pems.map((pem) => {
      const certificate = new X509Certificate(pem)
      return {
        ispb,
        serial: serialOf(certificate),
        issuer: canonicalIssuer(new Uint8Array(certificate.raw)),
        valid: new Date(certificate.validTo).getTime() > Date.now(),
        verify: (bytes: Uint8Array, value: Uint8Array) =>
          verify('sha256', bytes, certificate.publicKey, value),
      }
    }),
  )
  const findCertificate = (issuer: string, serial: string) => {
    try {
      const name = parseName(issuer)
      return signers.find((one) => one.serial === serial && one.issuer === name)
    } catch {
      // No certificate has a name that cannot be read.
      return undefined
    }
  }
  return (document, ispb) => {
    const verdict = verifyWhole(document, { sha256, findCertificate })
    return verdict.ok && verdict.certificate.ispb === ispb
  }
}
