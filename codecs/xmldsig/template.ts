import type { XmlDocument } from '#codecs/xml'
import { decodeBase64 } from './base64.ts'
import { nameCharsMax } from './distinguished-name.ts'
import type { SignatureParts } from './grammar.ts'
import { joined, type Memory, newMemory } from './scratch.ts'
import {
  digestBytes,
  dsig,
  enveloped,
  excC14n,
  rsaSha256,
  sha256,
  signatureBytes,
} from './vocabulary.ts'

// Signatures in one of the two layouts that writers really produce, read by comparing bytes: the
// prefix ds, no white space between elements, and empty elements either as a pair of tags or as
// one. Any other layout is left to the grammar, which accepts all of these too.

type Layout = {
  /** The fixed texts between the varying parts, in order. */
  readonly fixed: readonly string[]
  /** True if SignedInfo is canonical as written. */
  readonly canonical: boolean
}

const encoder = new TextEncoder()

const fixedParts = (close: (name: string) => string): readonly string[] => {
  const method = (name: string, uri: string) =>
    `<ds:${name} Algorithm="${uri}"${close(`ds:${name}`)}`
  const transform = (...uris: readonly string[]) =>
    `<ds:Transforms>${uris.map((uri) => method('Transform', uri)).join('')}</ds:Transforms>`
  const digest = `${method('DigestMethod', sha256)}<ds:DigestValue>`
  const next = '</ds:DigestValue></ds:Reference>'
  return [
    `<ds:Signature xmlns:ds="${dsig}"><ds:SignedInfo>${method('CanonicalizationMethod', excC14n)}${method('SignatureMethod', rsaSha256)}<ds:Reference URI="#`,
    `">${transform(excC14n)}${digest}`,
    `${next}<ds:Reference URI="">${transform(enveloped, excC14n)}${digest}`,
    `${next}<ds:Reference>${transform(excC14n)}${digest}`,
    `${next}</ds:SignedInfo><ds:SignatureValue>`,
    '</ds:SignatureValue><ds:KeyInfo Id="',
    '"><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>',
    '</ds:X509IssuerName><ds:X509SerialNumber>',
    '</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo></ds:Signature>',
  ]
}

const pairs = fixedParts((name) => `></${name}>`)
const layouts: readonly Layout[] = [
  { fixed: pairs, canonical: true },
  { fixed: fixedParts(() => '/>'), canonical: false },
]

const signatureOpen = `<ds:Signature xmlns:ds="${dsig}">`
const signatureClose = '</ds:Signature>'
const signedInfoTag = '<ds:SignedInfo>'
/** The canonical start tag, which declares what SignedInfo inherits. */
const signedInfoOpen = `<ds:SignedInfo xmlns:ds="${dsig}">`
const keyInfoOpen = `<ds:KeyInfo xmlns:ds="${dsig}" Id="`
const valueOpen = '<ds:SignatureValue>'
const valueClose = '</ds:SignatureValue>'

/** Ends of each varying part: identifier, three digests, value, identifier, issuer, serial. */
const locateParts = (
  text: string,
  from: number,
  to: number,
  fixed: readonly string[],
): readonly number[] | undefined => {
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
const assemble = (texts: readonly string[]): Uint8Array => {
  let out = signedInfoOpen + pairs[0]!.slice(signatureOpen.length + signedInfoTag.length)
  for (let i = 0; i < 4; i++) out += texts[i]! + pairs[i + 1]!
  return encoder.encode(out.slice(0, -valueOpen.length))
}

const idForm = /^[A-Za-z_][A-Za-z0-9._-]*$/
/** ASCII only: other characters are octets in this text. */
const issuerForm = /^[\t\n\x20-\x25\x27-\x3b\x3d\x3f-\x7e]+$/
const serialForm = /^\d{1,60}$/

/** Reads a signature in one of the two layouts; undefined for any other, which may still be valid. */
export const readTemplate = (
  document: XmlDocument,
  signature: number,
  memory: Memory = newMemory,
): SignatureParts | undefined => {
  const { bytes } = document
  const from = document.start(signature)
  const to = document.end(signature)
  // One character for each byte, so that places in the text are places in the bytes.
  const text = document.octets(0, bytes.length)
  for (const layout of layouts) {
    const places = locateParts(text, from, to, layout.fixed)
    if (places !== undefined) return partsAt(bytes, text, layout, places, memory)
  }
  return undefined
}

const partsAt = (
  bytes: Uint8Array,
  text: string,
  { fixed, canonical }: Layout,
  places: readonly number[],
  memory: Memory,
): SignatureParts | undefined => {
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
    idForm.test(id) &&
    issuer.length <= nameCharsMax &&
    issuerForm.test(issuer) &&
    serialForm.test(serial)
  if (!namesFit) return undefined
  const keyInfoDigest = decoded(1, digestBytes)
  const appHdrDigest = decoded(2, digestBytes)
  const documentDigest = decoded(3, digestBytes)
  const signatureValue = decoded(4, signatureBytes, memory.bytes(signatureBytes))
  if (
    keyInfoDigest === undefined ||
    appHdrDigest === undefined ||
    documentDigest === undefined ||
    signatureValue === undefined
  ) {
    return undefined
  }
  const signedInfoAt = start(0) - fixed[0]!.length + signatureOpen.length
  const signedInfoEnd = end(3) + fixed[4]!.length - valueOpen.length
  const keyInfoEnd = end(7) + fixed[8]!.length - signatureClose.length
  return {
    signedInfo: canonical
      ? joined(
          bytes,
          signedInfoOpen,
          [signedInfoAt + signedInfoTag.length, signedInfoEnd, 0, 0],
          memory,
        )
      : assemble([0, 1, 2, 3].map(textOf)),
    signedInfoAt,
    keyInfo: joined(bytes, `${keyInfoOpen}${id}`, [end(5), keyInfoEnd, 0, 0], memory),
    keyInfoAt: end(4) + valueClose.length,
    signatureValue,
    digests: [keyInfoDigest, appHdrDigest, documentDigest],
    issuer,
    serial: serial.replace(/^0+(?=\d)/, ''),
  }
}
