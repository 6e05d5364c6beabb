import type { XmlDocument } from '#codecs/xml'
import { decodeBase64 } from './base64.ts'
import { NAME_CHARS_MAX } from './distinguished-name.ts'
import type { SignatureParts } from './grammar.ts'
import { joined } from './joined.ts'
import { scratchBytes } from './scratch.ts'
import {
  DIGEST_BYTES,
  DSIG,
  ENVELOPED,
  EXC_C14N,
  RSA_SHA256,
  SHA256,
  SIGNATURE_BYTES,
} from './vocabulary.ts'

// Signatures in one of the two layouts that writers really produce, read by comparing bytes: the
// prefix ds, no white space between elements, and empty elements either as a pair of tags or as
// one. Any other layout is left to the grammar, which accepts all of these too.

type Layout = {
  /** What stands between the parts that vary, in order. */
  readonly fixed: readonly string[]
  /** True when SignedInfo is canonical as it stands. */
  readonly canonical: boolean
}

const encoder = new TextEncoder()

function fixedParts(close: (name: string) => string): readonly string[] {
  const method = (name: string, uri: string) =>
    `<ds:${name} Algorithm="${uri}"${close(`ds:${name}`)}`
  const transform = (...uris: readonly string[]) =>
    `<ds:Transforms>${uris.map((uri) => method('Transform', uri)).join('')}</ds:Transforms>`
  const digest = `${method('DigestMethod', SHA256)}<ds:DigestValue>`
  const next = '</ds:DigestValue></ds:Reference>'
  return [
    `<ds:Signature xmlns:ds="${DSIG}"><ds:SignedInfo>${method('CanonicalizationMethod', EXC_C14N)}${method('SignatureMethod', RSA_SHA256)}<ds:Reference URI="#`,
    `">${transform(EXC_C14N)}${digest}`,
    `${next}<ds:Reference URI="">${transform(ENVELOPED, EXC_C14N)}${digest}`,
    `${next}<ds:Reference>${transform(EXC_C14N)}${digest}`,
    `${next}</ds:SignedInfo><ds:SignatureValue>`,
    '</ds:SignatureValue><ds:KeyInfo Id="',
    '"><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>',
    '</ds:X509IssuerName><ds:X509SerialNumber>',
    '</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo></ds:Signature>',
  ]
}

const PAIRS = fixedParts((name) => `></${name}>`)
const LAYOUTS: readonly Layout[] = [
  { fixed: PAIRS, canonical: true },
  { fixed: fixedParts(() => '/>'), canonical: false },
]

const SIGNATURE_OPEN = `<ds:Signature xmlns:ds="${DSIG}">`
const SIGNATURE_CLOSE = '</ds:Signature>'
const SIGNED_INFO_TAG = '<ds:SignedInfo>'
/** The canonical start tag, which declares what SignedInfo inherits. */
const SIGNED_INFO_OPEN = `<ds:SignedInfo xmlns:ds="${DSIG}">`
const KEY_INFO_OPEN = `<ds:KeyInfo xmlns:ds="${DSIG}" Id="`
const VALUE_OPEN = '<ds:SignatureValue>'
const VALUE_CLOSE = '</ds:SignatureValue>'

/** Ends of each varying part: identifier, three digests, value, identifier, issuer, serial. */
function locateParts(
  text: string,
  from: number,
  to: number,
  fixed: readonly string[],
): readonly number[] | undefined {
  const places: number[] = []
  let at = from
  for (let i = 0; i < fixed.length; i++) {
    const part = fixed[i]!
    if (!text.startsWith(part, at)) return undefined
    at += part.length
    if (i === fixed.length - 1) break
    places.push(at)
    // A part ends where the next fixed one begins: at a quotation mark or a tag.
    at = text.indexOf(fixed[i + 1]!.charAt(0), at)
    if (at < 0) return undefined
    places.push(at)
  }
  return at === to ? places : undefined
}

/** The same parts in the canonical layout. */
function assemble(texts: readonly string[]): Uint8Array {
  let out = SIGNED_INFO_OPEN + PAIRS[0]!.slice(SIGNATURE_OPEN.length + SIGNED_INFO_TAG.length)
  for (let i = 0; i < 4; i++) out += texts[i]! + PAIRS[i + 1]!
  return encoder.encode(out.slice(0, -VALUE_OPEN.length))
}

const ID = /^[A-Za-z_][A-Za-z0-9._-]*$/
/** ASCII alone: beyond it the text is octets, not characters. */
const ISSUER = /^[\t\n\x20-\x25\x27-\x3b\x3d\x3f-\x7e]+$/
const SERIAL = /^\d{1,60}$/

/**
 * Reads a signature in one of the two layouts; undefined for any other, which says nothing about
 * whether it is valid.
 */
export function readTemplate(document: XmlDocument, signature: number): SignatureParts | undefined {
  const { bytes } = document
  const from = document.start(signature)
  const to = document.end(signature)
  // One character for each byte, so that places in the text are places in the bytes.
  const text = document.octets(0, bytes.length)
  for (const layout of LAYOUTS) {
    const places = locateParts(text, from, to, layout.fixed)
    if (places !== undefined) return partsAt(bytes, text, layout, places)
  }
  return undefined
}

function partsAt(
  bytes: Uint8Array,
  text: string,
  { fixed, canonical }: Layout,
  places: readonly number[],
): SignatureParts | undefined {
  const start = (part: number): number => places[2 * part]!
  const end = (part: number): number => places[2 * part + 1]!
  const textOf = (part: number): string => text.slice(start(part), end(part))
  const decoded = (part: number, length: number, into?: Uint8Array) =>
    decodeBase64(bytes, start(part), end(part), length, into)
  const id = textOf(0)
  const issuer = textOf(6)
  const serial = textOf(7)
  const namesFit =
    id === textOf(5) &&
    ID.test(id) &&
    issuer.length <= NAME_CHARS_MAX &&
    ISSUER.test(issuer) &&
    SERIAL.test(serial)
  if (!namesFit) return undefined
  const keyInfoDigest = decoded(1, DIGEST_BYTES)
  const appHdrDigest = decoded(2, DIGEST_BYTES)
  const documentDigest = decoded(3, DIGEST_BYTES)
  const signatureValue = decoded(4, SIGNATURE_BYTES, scratchBytes(SIGNATURE_BYTES))
  if (
    keyInfoDigest === undefined ||
    appHdrDigest === undefined ||
    documentDigest === undefined ||
    signatureValue === undefined
  ) {
    return undefined
  }
  const signedInfoAt = start(0) - fixed[0]!.length + SIGNATURE_OPEN.length
  const signedInfoEnd = end(3) + fixed[4]!.length - VALUE_OPEN.length
  const keyInfoEnd = end(7) + fixed[8]!.length - SIGNATURE_CLOSE.length
  return {
    signedInfo: canonical
      ? joined(bytes, SIGNED_INFO_OPEN, [
          signedInfoAt + SIGNED_INFO_TAG.length,
          signedInfoEnd,
          0,
          0,
        ])
      : assemble([0, 1, 2, 3].map(textOf)),
    signedInfoAt,
    keyInfo: joined(bytes, `${KEY_INFO_OPEN}${id}`, [end(5), keyInfoEnd, 0, 0]),
    keyInfoAt: end(4) + VALUE_CLOSE.length,
    signatureValue,
    digests: [keyInfoDigest, appHdrDigest, documentDigest],
    issuer,
    serial: serial.replace(/^0+(?=\d)/, ''),
  }
}
