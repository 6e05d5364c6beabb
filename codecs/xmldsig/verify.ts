import type { XmlDocument } from '#codecs/xml'
import { canonicalForm } from './canonical.ts'
import {
  locate,
  locateInRoot,
  readSignature,
  readWholeSignature,
  type SignatureParts,
} from './grammar.ts'
import { RefusalSignal, type XmldsigRefusal, type XmldsigRefusalCode } from './refusal.ts'
import { newMemory, type Scratch } from './scratch.ts'
import type { Sha256 } from './sign.ts'
import { readTemplate } from './template.ts'

/** A certificate of our own store. */
export type SignerCertificate = {
  /** False if it is expired, not yet valid, revoked or not for signatures. */
  readonly valid: boolean
  /** RSASSA-PKCS1-v1_5 with SHA-256. Both arrays are valid during the call only. */
  readonly verify: (signedInfo: Uint8Array, signature: Uint8Array) => boolean
}

export type VerifyPorts<C extends SignerCertificate> = {
  /** The bytes it is given are valid during the call only. */
  readonly sha256: Sha256
  /**
   * Looks a certificate up in our own store, and trusts nothing in the message.
   *
   * @param issuer - text of the message, in any spelling of the name: compare with `parseName`
   * @param serial - decimal without leading zeros
   */
  readonly findCertificate: (issuer: string, serial: string) => C | undefined
  /** Shared memory for callers that verify many messages. */
  readonly scratch?: Scratch
}

/**
 * @property appHdr - node of AppHdr; digested without the signature inside Sgntr
 * @property document - node of Document; digested whole
 */
type XmldsigVerified<C extends SignerCertificate> = {
  readonly ok: true
  readonly certificate: C
  readonly appHdr: number
  readonly document: number
}

/** @property signature - node of the signature; all else in the root was digested */
type XmldsigVerifiedWhole<C extends SignerCertificate> = {
  readonly ok: true
  readonly certificate: C
  readonly signature: number
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const check = (holds: boolean, code: XmldsigRefusalCode, offset: number): void => {
  if (!holds) throw new RefusalSignal(code, offset)
}

/** Checks what every layout has alike: certificate, value and KeyInfo. */
const checkSigner = <C extends SignerCertificate>(
  parts: Omit<SignatureParts, 'digests'>,
  keyInfoDigest: Uint8Array,
  ports: VerifyPorts<C>,
): C => {
  const { keyInfoAt, signedInfoAt, signedInfo, keyInfo, signatureValue } = parts
  const certificate = ports.findCertificate(parts.issuer, parts.serial)
  if (certificate === undefined) throw new RefusalSignal('certificate_unknown', keyInfoAt)
  check(certificate.valid, 'certificate_not_valid', keyInfoAt)
  check(certificate.verify(signedInfo, signatureValue), 'signature_invalid', signedInfoAt)
  check(sameBytes(ports.sha256(keyInfo), keyInfoDigest), 'digest_key_info', keyInfoAt)
  return certificate
}

const verifyOrThrow = <C extends SignerCertificate>(
  document: XmlDocument,
  ports: VerifyPorts<C>,
): XmldsigVerified<C> => {
  const memory = ports.scratch ?? newMemory
  const { appHdr, document: body, signature } = locate(document)
  const parts = readTemplate(document, signature, memory) ?? readSignature(document, signature)
  const [keyInfoDigest, appHdrDigest, documentDigest] = parts.digests
  const certificate = checkSigner(parts, keyInfoDigest, ports)
  const digest = (node: number, omit?: number) =>
    ports.sha256(canonicalForm(document, node, omit, memory))
  const at = (node: number): number => document.start(node)
  check(sameBytes(digest(appHdr, signature), appHdrDigest), 'digest_app_hdr', at(appHdr))
  check(sameBytes(digest(body), documentDigest), 'digest_document', at(body))
  return { ok: true, certificate, appHdr, document: body }
}

const verifyWholeOrThrow = <C extends SignerCertificate>(
  document: XmlDocument,
  ports: VerifyPorts<C>,
): XmldsigVerifiedWhole<C> => {
  const { root } = document
  const signature = locateInRoot(document)
  const parts = readWholeSignature(document, signature)
  const [keyInfoDigest, rootDigest] = parts.digests
  const certificate = checkSigner(parts, keyInfoDigest, ports)
  const digest = ports.sha256(canonicalForm(document, root, signature))
  check(sameBytes(digest, rootDigest), 'digest_root', document.start(root))
  return { ok: true, certificate, signature }
}

/**
 * Verifies a message as it was received.
 *
 * The message must keep to a strict grammar: exactly AppHdr and Document in Envelope, exactly one
 * signature in its place, the algorithms, transforms and references of the profile and nothing
 * else. So the digests cover all that a reader of `document` can see, except the signature itself: comments and CDATA
 * are refused here, processing instructions and document types by the scanner.
 *
 * @returns the certificate and the two digested nodes, or why the message is not accepted as signed
 * @example
 * const verdict = verifyEnvelope(scanner.scan(bytes), { sha256, findCertificate, scratch: new Scratch() })
 * if (!verdict.ok) throw new Error(verdict.message)
 */
export const verifyEnvelope = <C extends SignerCertificate>(
  document: XmlDocument,
  ports: VerifyPorts<C>,
): XmldsigVerified<C> | XmldsigRefusal => {
  try {
    const verify = () => verifyOrThrow(document, ports)
    return ports.scratch === undefined ? verify() : ports.scratch.run(verify)
  } catch (error) {
    if (error instanceof RefusalSignal) return error.refusal
    throw error
  }
}

/**
 * Verifies a document that is signed whole, as the directory of Pix keys answers, by the same strict grammar.
 *
 * @returns the certificate, or why the document is not accepted as signed
 * @example
 * const verdict = verifyWhole(scanner.scan(bytes), { sha256, findCertificate })
 */
export const verifyWhole = <C extends SignerCertificate>(
  document: XmlDocument,
  ports: VerifyPorts<C>,
): XmldsigVerifiedWhole<C> | XmldsigRefusal => {
  try {
    return verifyWholeOrThrow(document, ports)
  } catch (error) {
    if (error instanceof RefusalSignal) return error.refusal
    throw error
  }
}
