import { CodecError } from '#codecs/bytes'
import {
  digestBytes,
  digestChars,
  dsig,
  enveloped,
  excC14n,
  rsaSha256,
  sha256,
} from './vocabulary.ts'

// The profile of the instant payment system: three references, in this order,
//   URI="#<KeyInfo Id>"  the KeyInfo
//   URI=""               the AppHdr, without the signature (enveloped)
//   no URI               the Document
// and the certificate named by issuer and serial only.
// Source: security manual of the National Financial System, volume II, section 3.

/** A half-open range of byte offsets. */
type ByteRange = { readonly from: number; readonly to: number }

/**
 * A message whose bytes are canonical already, except for the namespace that `AppHdr` and `Document` inherit:
 * `<Envelope xmlns="N"><AppHdr>…<Sgntr></Sgntr></AppHdr><Document>…</Document></Envelope>`.
 *
 * @property namespace - the N that Envelope declares
 * @property appHdr - from the `<` of `<AppHdr>` to after `</AppHdr>`
 * @property signatureAt - right after `<Sgntr>`, where the signature goes
 * @property document - from the `<` of `<Document>` to after `</Document>`
 */
export type CanonicalEnvelope = {
  readonly bytes: Uint8Array
  readonly namespace: string
  readonly appHdr: ByteRange
  readonly signatureAt: number
  readonly document: ByteRange
}

/** SHA-256 of some bytes: 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

const text = new TextEncoder()

/** An ASCII text ready to be copied into a message. */
const ascii = (value: string): Uint8Array => text.encode(value)

const appHdrOpen = ascii('<AppHdr>')
const documentOpen = ascii('<Document>')
const sgntrEnd = ascii('</Sgntr>')

const methods =
  `<ds:CanonicalizationMethod Algorithm="${excC14n}"></ds:CanonicalizationMethod>` +
  `<ds:SignatureMethod Algorithm="${rsaSha256}"></ds:SignatureMethod>`
const c14nTransform = `<ds:Transform Algorithm="${excC14n}"></ds:Transform>`
const envelopedTransform = `<ds:Transform Algorithm="${enveloped}"></ds:Transform>`
const digestOpen = `<ds:DigestMethod Algorithm="${sha256}"></ds:DigestMethod><ds:DigestValue>`
const digestClose = '</ds:DigestValue></ds:Reference>'

const signedInfoOpen = `<ds:SignedInfo xmlns:ds="${dsig}">`
const signatureOpen = ascii(`<ds:Signature xmlns:ds="${dsig}"><ds:SignedInfo>`)
const beforeValue = ascii('<ds:SignatureValue>')
const afterValue = ascii('</ds:SignatureValue>')
const signatureClose = ascii('</ds:Signature>')

/**
 * The parts of a signature that depend only on the certificate: KeyInfo, its digest, and the SignedInfo with room for
 * the message's two digests. Made once per certificate.
 */
export type PreparedKeyInfo = {
  /** As in the message, where the prefix `ds` is declared outside. */
  readonly keyInfo: Uint8Array
  /** Canonical, with blanks where the two digests go. */
  readonly signedInfo: Uint8Array
  readonly appHdrDigestAt: number
  readonly documentDigestAt: number
}

const escapeText = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/**
 * Prepares KeyInfo for one certificate.
 *
 * @param issuer - RFC 2253 text, see `issuerText`
 * @param serial - decimal
 * @param id - the Id of KeyInfo: a name (letter first), unique within a message
 * @throws CodecError `key_info` if serial or Id has another form
 */
export const prepareKeyInfo = (
  issuer: string,
  serial: string,
  id: string,
  sha256: Sha256,
): PreparedKeyInfo => {
  if (!/^\d{1,60}$/.test(serial) || !/^[A-Za-z_][A-Za-z0-9._-]{0,63}$/.test(id)) {
    throw new CodecError('key_info', 0, 'serial must be decimal and Id a short name')
  }
  const content =
    ` Id="${id}"><ds:X509Data><ds:X509IssuerSerial>` +
    `<ds:X509IssuerName>${escapeText(issuer)}</ds:X509IssuerName>` +
    `<ds:X509SerialNumber>${serial}</ds:X509SerialNumber>` +
    '</ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo>'
  const canonical = ascii(`<ds:KeyInfo xmlns:ds="${dsig}"${content}`)
  const keyInfoDigest = sha256(canonical).toBase64()
  const beforeAppHdr =
    `${signedInfoOpen}${methods}` +
    `<ds:Reference URI="#${id}"><ds:Transforms>${c14nTransform}</ds:Transforms>` +
    `${digestOpen}${keyInfoDigest}${digestClose}` +
    `<ds:Reference URI=""><ds:Transforms>${envelopedTransform}${c14nTransform}</ds:Transforms>` +
    digestOpen
  const beforeDocument = `${digestClose}<ds:Reference><ds:Transforms>${c14nTransform}</ds:Transforms>${digestOpen}`
  const blank = ' '.repeat(digestChars)
  return {
    keyInfo: ascii(`<ds:KeyInfo${content}`),
    signedInfo: ascii(
      `${beforeAppHdr}${blank}${beforeDocument}${blank}${digestClose}</ds:SignedInfo>`,
    ),
    appHdrDigestAt: beforeAppHdr.length,
    documentDigestAt: beforeAppHdr.length + digestChars + beforeDocument.length,
  }
}

const startsWith = (bytes: Uint8Array, at: number, expected: Uint8Array): boolean => {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false
  return true
}

const writeAscii = (out: Uint8Array, at: number, value: string): number => {
  for (let i = 0; i < value.length; i++) out[at + i] = value.charCodeAt(i)
  return at + value.length
}

const writeDigest = (out: Uint8Array, at: number, digest: Uint8Array): void => {
  if (digest.length !== digestBytes) {
    throw new CodecError('digest_length', 0, 'SHA-256 must give 32 bytes')
  }
  writeAscii(out, at, digest.toBase64())
}

/** Canonical form of an element: its start tag with the inherited namespace, then its bytes. */
const withNamespace = (name: string, namespace: string, rest: Uint8Array): Uint8Array => {
  const open = `<${name} xmlns="${namespace}">`
  const canonical = new Uint8Array(open.length + rest.length)
  writeAscii(canonical, 0, open)
  canonical.set(rest, open.length)
  return canonical
}

const checkEnvelope = ({ bytes, appHdr, signatureAt, document, namespace }: CanonicalEnvelope) => {
  const fits =
    startsWith(bytes, appHdr.from, appHdrOpen) &&
    startsWith(bytes, document.from, documentOpen) &&
    startsWith(bytes, signatureAt, sgntrEnd) &&
    appHdr.from < signatureAt &&
    signatureAt < appHdr.to &&
    appHdr.to <= document.from &&
    document.to <= bytes.length
  if (!fits || !/^[\x21\x23-\x25\x27-\x3b\x3d-\x7e]+$/.test(namespace)) {
    throw new CodecError('envelope_slices', appHdr.from, 'slices do not fit the message')
  }
}

/**
 * @property signedInfo - the bytes that the RSA signature is over
 * @property complete - puts the signature in its place and returns the whole message
 */
export type UnsignedEnvelope = {
  readonly signedInfo: Uint8Array
  readonly complete: (signature: Uint8Array) => Uint8Array<ArrayBuffer>
}

/**
 * Digests a message and lays out its signature; no canonicaliser is needed because the bytes are
 * canonical already.
 *
 * @throws CodecError `envelope_slices` if the slices do not point where they should
 */
export const prepareSignature = (
  envelope: CanonicalEnvelope,
  key: PreparedKeyInfo,
  sha256: Sha256,
): UnsignedEnvelope => {
  checkEnvelope(envelope)
  const { bytes, namespace, appHdr, document, signatureAt } = envelope
  const header = bytes.subarray(appHdr.from + appHdrOpen.length, appHdr.to)
  const body = bytes.subarray(document.from + documentOpen.length, document.to)
  const signedInfo = key.signedInfo.slice()
  writeDigest(signedInfo, key.appHdrDigestAt, sha256(withNamespace('AppHdr', namespace, header)))
  writeDigest(signedInfo, key.documentDigestAt, sha256(withNamespace('Document', namespace, body)))
  return {
    signedInfo,
    complete: (signature) => {
      const parts = [
        bytes.subarray(0, signatureAt),
        signatureOpen,
        signedInfo.subarray(signedInfoOpen.length),
        beforeValue,
        ascii(signature.toBase64()),
        afterValue,
        key.keyInfo,
        signatureClose,
        bytes.subarray(signatureAt),
      ]
      const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
      let at = 0
      for (const part of parts) {
        out.set(part, at)
        at += part.length
      }
      return out
    },
  }
}

/**
 * Signs a message.
 *
 * @param sign - RSASSA-PKCS1-v1_5 with SHA-256 by the key that `key` names
 * @returns the whole message with `ds:Signature` inside `Sgntr`
 * @throws CodecError `envelope_slices`; whatever `sign` rejects with
 */
export const signEnvelope = async (
  envelope: CanonicalEnvelope,
  key: PreparedKeyInfo,
  sha256: Sha256,
  sign: (signedInfo: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> => {
  const unsigned = prepareSignature(envelope, key, sha256)
  return unsigned.complete(await sign(unsigned.signedInfo))
}
