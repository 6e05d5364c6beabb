import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'
import { canonicalForm, startsWith } from './canonical.ts'
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

const quote = 0x22
const greaterThan = 0x3e

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
  /** As the message has it, where the prefix `ds` is declared outside. */
  readonly keyInfo: Uint8Array
  /** Canonical, with blanks where the two digests go. */
  readonly signedInfo: Uint8Array
  readonly appHdrDigestAt: number
  readonly documentDigestAt: number
}

const escapeText = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/**
 * @property keyInfo - as in the message, where the prefix `ds` is declared outside
 * @property opening - canonical SignedInfo up to the digest of the reference with an empty URI
 */
type KeyInfoTexts = { readonly keyInfo: Uint8Array; readonly opening: string }

const keyInfoTexts = (issuer: string, serial: string, id: string, sha256: Sha256): KeyInfoTexts => {
  if (!/^\d{1,60}$/.test(serial) || !/^[A-Za-z_][A-Za-z0-9._-]{0,63}$/.test(id)) {
    throw new CodecError('key_info', 0, 'serial must be decimal and Id a short name')
  }
  const content =
    ` Id="${id}"><ds:X509Data><ds:X509IssuerSerial>` +
    `<ds:X509IssuerName>${escapeText(issuer)}</ds:X509IssuerName>` +
    `<ds:X509SerialNumber>${serial}</ds:X509SerialNumber>` +
    '</ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo>'
  const digest = sha256(ascii(`<ds:KeyInfo xmlns:ds="${dsig}"${content}`)).toBase64()
  const opening =
    `${signedInfoOpen}${methods}` +
    `<ds:Reference URI="#${id}"><ds:Transforms>${c14nTransform}</ds:Transforms>` +
    `${digestOpen}${digest}${digestClose}` +
    `<ds:Reference URI=""><ds:Transforms>${envelopedTransform}${c14nTransform}</ds:Transforms>` +
    digestOpen
  return { keyInfo: ascii(`<ds:KeyInfo${content}`), opening }
}

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
  const { keyInfo, opening } = keyInfoTexts(issuer, serial, id, sha256)
  const beforeDocument = `${digestClose}<ds:Reference><ds:Transforms>${c14nTransform}</ds:Transforms>${digestOpen}`
  const blank = ' '.repeat(digestChars)
  return {
    keyInfo,
    signedInfo: ascii(`${opening}${blank}${beforeDocument}${blank}${digestClose}</ds:SignedInfo>`),
    appHdrDigestAt: opening.length,
    documentDigestAt: opening.length + digestChars + beforeDocument.length,
  }
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
 * Puts a signature into a message.
 *
 * @param at - where it goes
 * @param signedInfo - canonical
 */
const withSignature = (
  bytes: Uint8Array,
  at: number,
  signedInfo: Uint8Array,
  keyInfo: Uint8Array,
  signature: Uint8Array,
): Uint8Array<ArrayBuffer> => {
  const parts = [
    bytes.subarray(0, at),
    signatureOpen,
    signedInfo.subarray(signedInfoOpen.length),
    beforeValue,
    ascii(signature.toBase64()),
    afterValue,
    keyInfo,
    signatureClose,
    bytes.subarray(at),
  ]
  const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let end = 0
  for (const part of parts) {
    out.set(part, end)
    end += part.length
  }
  return out
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
    complete: (signature) => withSignature(bytes, signatureAt, signedInfo, key.keyInfo, signature),
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

/**
 * Where the content of a canonical element begins: after the first ">" outside attribute values, where the canonical
 * form leaves ">" as it is.
 */
const contentAt = (canonical: Uint8Array): number => {
  let isQuoted = false
  for (let at = 0; at < canonical.length; at++) {
    if (canonical[at] === quote) isQuoted = !isQuoted
    else if (canonical[at] === greaterThan && !isQuoted) return at + 1
  }
  return canonical.length
}

/** Everything that signs for one certificate; see `prepareKeyInfo` for issuer, serial and id. */
export type Signer = {
  readonly issuer: string
  readonly serial: string
  readonly id: string
  /** RSASSA-PKCS1-v1_5 with SHA-256. */
  readonly sign: (signedInfo: Uint8Array) => Promise<Uint8Array>
}

/**
 * Signs a document whole, as the directory of Pix keys has it: two references, KeyInfo and the document, and the
 * signature as the first child of the root.
 *
 * @param document - without a signature; we do not send what its canonical form leaves out (comments, tag layout)
 * @returns the canonical document with `ds:Signature` in its root, in UTF-8 without an XML declaration
 * @throws CodecError `key_info`; `signature_present` if the document holds a signature already; whatever `sign`
 *   rejects with
 */
export const signWhole = async (
  document: XmlDocument,
  { issuer, serial, id, sign }: Signer,
  sha256: Sha256,
): Promise<Uint8Array<ArrayBuffer>> => {
  if (document.namespaces.includes(dsig)) {
    throw new CodecError('signature_present', 0, 'the document holds a signature already')
  }
  const canonical = canonicalForm(document, document.root)
  const { keyInfo, opening } = keyInfoTexts(issuer, serial, id, sha256)
  const digest = sha256(canonical).toBase64()
  const signedInfo = ascii(`${opening}${digest}${digestClose}</ds:SignedInfo>`)
  return withSignature(canonical, contentAt(canonical), signedInfo, keyInfo, await sign(signedInfo))
}
