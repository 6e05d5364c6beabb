import type { XmlDocument } from '#codecs/xml'
import type { SignatureParts } from './grammar.ts'
import { DSIG, ENVELOPED, EXC_C14N, RSA_SHA256, SHA256 } from './vocabulary.ts'

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

/** `<ds:Signature …><ds:SignedInfo>`: what the canonical SignedInfo replaces by its own start tag. */
const SIGNED_INFO_AT = `<ds:Signature xmlns:ds="${DSIG}"><ds:SignedInfo>`.length
const SIGNED_INFO_OPEN = `<ds:SignedInfo xmlns:ds="${DSIG}">`
const VALUE_OPEN = '<ds:SignatureValue>'
const VALUE_CLOSE = '</ds:SignatureValue>'
const SIGNED_INFO_START = encoder.encode(SIGNED_INFO_OPEN)

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Where each varying part lies: identifier, three digests, value, identifier, issuer, serial. */
function locateParts(text: string, fixed: readonly string[]): readonly number[] | undefined {
  const places: number[] = []
  let at = 0
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
  return at === text.length ? places : undefined
}

/** The same parts in the canonical layout. */
function assemble(texts: readonly string[]): Uint8Array {
  let out = SIGNED_INFO_OPEN + PAIRS[0]!.slice(SIGNED_INFO_AT)
  for (let i = 0; i < 4; i++) out += texts[i]! + PAIRS[i + 1]!
  return encoder.encode(out.slice(0, -VALUE_OPEN.length))
}

function joined(start: Uint8Array, rest: Uint8Array): Uint8Array {
  const out = new Uint8Array(start.length + rest.length)
  out.set(start)
  out.set(rest, start.length)
  return out
}

const DIGEST = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/
/** 256 bytes. */
const VALUE = /^[A-Za-z0-9+/]{341}[AQgw]==$/

/**
 * Reads a signature in one of the two layouts; undefined for any other, which says nothing about
 * whether it is valid.
 */
export function readTemplate(document: XmlDocument, signature: number): SignatureParts | undefined {
  const { bytes } = document
  const from = document.start(signature)
  const to = document.end(signature)
  const text = decoder.decode(bytes.subarray(from, to))
  // Beyond ASCII, places in the text are not places in the bytes.
  if (text.length !== to - from) return undefined
  for (const { fixed, canonical } of LAYOUTS) {
    const places = locateParts(text, fixed)
    if (places === undefined) continue
    const texts: string[] = []
    for (let i = 0; i < places.length; i += 2) texts.push(text.slice(places[i], places[i + 1]))
    const [id, keyInfoDigest, appHdrDigest, documentDigest, value, secondId, issuer, serial] =
      texts as [string, string, string, string, string, string, string, string]
    const fits =
      id === secondId &&
      /^[A-Za-z_][A-Za-z0-9._-]*$/.test(id) &&
      [keyInfoDigest, appHdrDigest, documentDigest].every((text) => DIGEST.test(text)) &&
      VALUE.test(value) &&
      /^[^<>&\r]+$/.test(issuer) &&
      /^\d{1,60}$/.test(serial)
    if (!fits) return undefined
    const signedInfoEnd = from + places[7]! + fixed[4]!.length - VALUE_OPEN.length
    const keyInfoStart = encoder.encode(`<ds:KeyInfo xmlns:ds="${DSIG}" Id="${id}`)
    return {
      signedInfo: canonical
        ? joined(SIGNED_INFO_START, bytes.subarray(from + SIGNED_INFO_AT, signedInfoEnd))
        : assemble(texts),
      signedInfoAt: from + SIGNED_INFO_AT - '<ds:SignedInfo>'.length,
      keyInfo: joined(
        keyInfoStart,
        bytes.subarray(from + places[11]!, to - '</ds:Signature>'.length),
      ),
      keyInfoAt: from + places[9]! + VALUE_CLOSE.length,
      signatureValue: Uint8Array.fromBase64(value),
      digests: [
        Uint8Array.fromBase64(keyInfoDigest),
        Uint8Array.fromBase64(appHdrDigest),
        Uint8Array.fromBase64(documentDigest),
      ],
      issuer,
      serial: serial.replace(/^0+(?=\d)/, ''),
    }
  }
  return undefined
}
