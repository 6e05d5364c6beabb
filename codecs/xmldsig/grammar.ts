import { absent, nodeKind, type XmlDocument } from '#codecs/xml'
import { decodeBase64 } from './base64.ts'
import { canonicalForm } from './canonical.ts'
import { nameCharsMax } from './distinguished-name.ts'
import { RefusalSignal, type XmldsigRefusalCode } from './refusal.ts'
import {
  digestBytes,
  dsig,
  enveloped,
  excC14n,
  rsaSha256,
  sha256,
  signatureBytes,
} from './vocabulary.ts'

// Signature     = SignedInfo SignatureValue KeyInfo
// SignedInfo    = CanonicalizationMethod(exc-c14n) SignatureMethod(rsa-sha256) 3*3 Reference
//                 (2*2 in a document that is signed whole, without the third)
// Reference     = Transforms DigestMethod(sha256) DigestValue
//   first       URI="#<KeyInfo Id>"  Transform(exc-c14n)
//   second      URI=""               Transform(enveloped-signature) Transform(exc-c14n)
//   third       no URI               Transform(exc-c14n)
// KeyInfo       = X509Data   Id attribute
// X509Data      = X509IssuerSerial = X509IssuerName X509SerialNumber
// Nothing else may stand there: no attribute, no element, no text but white space between elements.

/** XML has four white space characters; `trim` and `\s` accept more, which no digest would cover here. */
const noWhiteSpace = /[^\t\n\r ]/
const serialForm = /^[\t\n\r ]*(\d{1,60})[\t\n\r ]*$/
/** Base64 of 256 bytes with room for line breaks written as "&#13;" and LF. */
const valueCharsMax = 1024

const encoder = new TextEncoder()

type EnvelopeDigests = readonly [keyInfo: Uint8Array, appHdr: Uint8Array, document: Uint8Array]
type WholeDigests = readonly [keyInfo: Uint8Array, root: Uint8Array]

/** A reference: its URI, undefined if it has none, and its transforms. */
type ReferenceForm = readonly [uri: string | undefined, transforms: readonly string[]]

/** The references that follow the one to KeyInfo. */
const envelopeReferences: readonly ReferenceForm[] = [
  ['', [enveloped, excC14n]],
  [undefined, [excC14n]],
]
const wholeReferences: readonly ReferenceForm[] = [['', [enveloped, excC14n]]]

/**
 * A signature that keeps to the profile; nothing in it has been verified yet.
 *
 * @property signedInfo - canonical bytes
 * @property keyInfo - canonical bytes
 */
export type SignatureParts<D extends readonly Uint8Array[] = EnvelopeDigests> = {
  readonly signedInfo: Uint8Array
  readonly signedInfoAt: number
  readonly keyInfo: Uint8Array
  readonly keyInfoAt: number
  readonly signatureValue: Uint8Array
  readonly digests: D
  /** Text of X509IssuerName. */
  readonly issuer: string
  /** Decimal without leading zeros. */
  readonly serial: string
}

/** The places of a signed message. */
export type SignedEnvelope = {
  readonly appHdr: number
  readonly document: number
  readonly signature: number
}

function refuse(document: XmlDocument, node: number, code: XmldsigRefusalCode): never {
  throw new RefusalSignal(code, document.start(node))
}

/** The element children, which only white space may separate. */
const childElements = (
  document: XmlDocument,
  parent: number,
  code: XmldsigRefusalCode,
): readonly number[] => {
  const children: number[] = []
  const limit = document.next(parent)
  for (let node = parent + 1; node < limit; node = document.next(node)) {
    if (document.isElement(node)) children.push(node)
    else if (noWhiteSpace.test(document.textOf(node))) refuse(document, node, code)
  }
  return children
}

/** Attributes that are not namespace declarations, by name. */
const plainAttributes = (document: XmlDocument, node: number): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const first = document.firstAttribute(node)
  for (let at = first; at < first + document.attributeCount(node); at++) {
    if (!document.isNamespaceDeclaration(at)) {
      found.set(document.attributeName(at), document.attributeValue(at))
    }
  }
  return found
}

const checkNoAttributes = (document: XmlDocument, node: number, code: XmldsigRefusalCode): void => {
  if (document.attributeCount(node) > 0 && plainAttributes(document, node).size > 0) {
    refuse(document, node, code)
  }
}

/**
 * Finds AppHdr, Document and the one signature.
 *
 * @throws RefusalSignal if the message holds anything else, or the signature stands elsewhere
 */
export const locate = (document: XmlDocument): SignedEnvelope => {
  const { root } = document
  if (document.localName(root) !== 'Envelope') refuse(document, root, 'envelope_structure')
  checkNoAttributes(document, root, 'envelope_structure')
  const [appHdr = absent, body = absent, third] = childElements(
    document,
    root,
    'envelope_structure',
  )
  const fits =
    appHdr !== absent &&
    body !== absent &&
    third === undefined &&
    document.localName(appHdr) === 'AppHdr' &&
    document.localName(body) === 'Document' &&
    document.namespaceId(appHdr) === document.namespaceId(root) &&
    document.namespaceId(body) === document.namespaceId(root)
  if (!fits) refuse(document, root, 'envelope_structure')
  const signature = locateSignature(document, appHdr)
  checkWhole(document, signature)
  return { appHdr, document: body, signature }
}

const locateSignature = (document: XmlDocument, appHdr: number): number => {
  const namespaceId = document.namespaceId(appHdr)
  const holder = childElements(document, appHdr, 'envelope_structure').at(-1)
  if (
    holder === undefined ||
    document.localName(holder) !== 'Sgntr' ||
    document.namespaceId(holder) !== namespaceId
  ) {
    refuse(document, appHdr, 'signature_missing')
  }
  checkNoAttributes(document, holder, 'signature_misplaced')
  const [signature, second] = childElements(document, holder, 'signature_misplaced')
  if (signature === undefined) refuse(document, holder, 'signature_missing')
  if (
    second !== undefined ||
    document.localName(signature) !== 'Signature' ||
    document.namespaceUri(signature) !== dsig
  ) {
    refuse(document, holder, 'signature_misplaced')
  }
  return signature
}

/**
 * Finds the one signature of a document that is signed whole: a child of the root.
 *
 * @throws RefusalSignal if there is none, or one stands elsewhere
 */
export const locateInRoot = (document: XmlDocument): number => {
  const { root } = document
  const limit = document.next(root)
  for (let node = root + 1; node < limit; node = document.next(node)) {
    if (
      document.isElement(node) &&
      document.localName(node) === 'Signature' &&
      document.namespaceUri(node) === dsig
    ) {
      checkWhole(document, node)
      return node
    }
  }
  return refuse(document, root, 'signature_missing')
}

const identifier = /^(?:.*:)?id$/i

/** Refuses any comment or CDATA, a second XML Signature element, and any other Id. */
const checkWhole = (document: XmlDocument, signature: number): void => {
  const dsig = document.namespaceId(signature)
  const end = document.next(signature)
  for (let node = document.firstNode; node < document.endNode; node++) {
    const kind = document.kind(node)
    if (kind === nodeKind.comment || kind === nodeKind.cdata)
      refuse(document, node, 'markup_not_allowed')
    if (kind !== nodeKind.element || (node >= signature && node < end)) continue
    if (document.namespaceId(node) === dsig) refuse(document, node, 'signature_misplaced')
    const attributes = document.attributeCount(node)
    if (attributes === 0) continue
    const first = document.firstAttribute(node)
    for (let at = first; at < first + attributes; at++) {
      if (!document.isNamespaceDeclaration(at) && identifier.test(document.attributeName(at))) {
        refuse(document, node, 'identifier_foreign')
      }
    }
  }
}

/** Reads one signature by the grammar at the head of this file. */
class SignatureReader {
  readonly #document: XmlDocument
  readonly #namespaceId: number

  constructor(document: XmlDocument, signature: number) {
    this.#document = document
    this.#namespaceId = document.namespaceId(signature)
  }

  read<D extends readonly Uint8Array[]>(
    signature: number,
    references: readonly ReferenceForm[],
  ): SignatureParts<D> {
    const [signedInfo, value, keyInfo] = this.#children(
      signature,
      'SignedInfo',
      'SignatureValue',
      'KeyInfo',
    ) as [number, number, number]
    this.#only(signature)
    this.#only(signedInfo)
    this.#only(value)
    const id = this.#only(keyInfo, 'Id')
    const [issuer, serial] = this.#issuerSerial(keyInfo)
    return {
      signedInfo: canonicalForm(this.#document, signedInfo),
      signedInfoAt: this.#document.start(signedInfo),
      keyInfo: canonicalForm(this.#document, keyInfo),
      keyInfoAt: this.#document.start(keyInfo),
      signatureValue: this.#base64(value, signatureBytes),
      digests: this.#references(
        signedInfo,
        id ?? refuse(this.#document, keyInfo, 'signature_structure'),
        references,
      ) as readonly Uint8Array[] as D,
      issuer,
      serial,
    }
  }

  /** The children, which must have exactly these names in this order. */
  #children(parent: number, ...names: readonly string[]): readonly number[] {
    const document = this.#document
    const children = childElements(document, parent, 'signature_structure')
    const code = names.includes('Reference') ? 'reference_not_allowed' : 'signature_structure'
    if (children.length !== names.length) refuse(document, parent, code)
    children.forEach((child, i) => {
      const fits =
        document.namespaceId(child) === this.#namespaceId && document.localName(child) === names[i]
      if (!fits) refuse(document, child, 'signature_structure')
    })
    return children
  }

  /** The value of the only attribute allowed; undefined when it is absent or none is allowed. */
  #only(node: number, name?: string): string | undefined {
    const attributes = plainAttributes(this.#document, node)
    const value = name === undefined ? undefined : attributes.get(name)
    if (attributes.size > (value === undefined ? 0 : 1)) {
      refuse(this.#document, node, 'signature_structure')
    }
    return value
  }

  /** Checks a method or transform: its algorithm, and that it is empty. */
  #algorithm(node: number, expected: string, code: XmldsigRefusalCode): void {
    if (this.#only(node, 'Algorithm') !== expected) refuse(this.#document, node, code)
    if (childElements(this.#document, node, code).length > 0) refuse(this.#document, node, code)
  }

  #text(node: number, charsMax: number): string {
    const document = this.#document
    this.#only(node)
    if (document.firstChild(node) !== absent) refuse(document, node, 'signature_structure')
    const text = document.textOf(node)
    if (text.length > charsMax) refuse(document, node, 'value_malformed')
    return text
  }

  /** Decodes base64 in lines of any length, which end with LF or with the CR of "&#13;". */
  #base64(node: number, length: number): Uint8Array {
    const text = encoder.encode(this.#text(node, valueCharsMax).replace(/[\t\n\r ]+/g, ''))
    const bytes = decodeBase64(text, 0, text.length, length)
    if (bytes !== undefined) return bytes
    return refuse(this.#document, node, 'value_malformed')
  }

  #references(
    signedInfo: number,
    id: string,
    others: readonly ReferenceForm[],
  ): readonly Uint8Array[] {
    const [canonicalization, method, keyInfo, ...rest] = this.#children(
      signedInfo,
      'CanonicalizationMethod',
      'SignatureMethod',
      'Reference',
      ...others.map(() => 'Reference'),
    ) as [number, number, number, ...number[]]
    this.#algorithm(canonicalization, excC14n, 'algorithm_not_allowed')
    this.#algorithm(method, rsaSha256, 'algorithm_not_allowed')
    return [
      this.#reference(keyInfo, `#${id}`, [excC14n]),
      ...others.map(([uri, transforms], i) => this.#reference(rest[i]!, uri, transforms)),
    ]
  }

  #reference(node: number, uri: string | undefined, transforms: readonly string[]): Uint8Array {
    const document = this.#document
    const attributes = plainAttributes(document, node)
    const expected = uri === undefined ? 0 : 1
    if (attributes.get('URI') !== uri || attributes.size !== expected) {
      refuse(document, node, 'reference_not_allowed')
    }
    const [list, method, value] = this.#children(
      node,
      'Transforms',
      'DigestMethod',
      'DigestValue',
    ) as [number, number, number]
    this.#only(list)
    const given = childElements(document, list, 'transform_not_allowed')
    if (given.length !== transforms.length) refuse(document, list, 'transform_not_allowed')
    given.forEach((transform, i) => {
      const named =
        document.localName(transform) === 'Transform' &&
        document.namespaceId(transform) === this.#namespaceId
      if (!named) refuse(document, transform, 'transform_not_allowed')
      this.#algorithm(transform, transforms[i]!, 'transform_not_allowed')
    })
    this.#algorithm(method, sha256, 'algorithm_not_allowed')
    return this.#base64(value, digestBytes)
  }

  #issuerSerial(keyInfo: number): [string, string] {
    const document = this.#document
    const [data] = this.#children(keyInfo, 'X509Data') as [number]
    this.#only(data)
    const [pair] = this.#children(data, 'X509IssuerSerial') as [number]
    this.#only(pair)
    const [issuer, serial] = this.#children(pair, 'X509IssuerName', 'X509SerialNumber') as [
      number,
      number,
    ]
    const [, digits] = serialForm.exec(this.#text(serial, nameCharsMax)) ?? []
    if (digits === undefined) refuse(document, serial, 'value_malformed')
    return [this.#text(issuer, nameCharsMax), digits.replace(/^0+(?=\d)/, '')]
  }
}

/**
 * Reads a signature under the strict grammar.
 *
 * @throws RefusalSignal for anything outside the profile
 */
export const readSignature = (document: XmlDocument, signature: number): SignatureParts =>
  new SignatureReader(document, signature).read(signature, envelopeReferences)

/**
 * The same of a signature over the whole document that it stands in.
 *
 * @throws RefusalSignal for anything outside the profile
 */
export const readWholeSignature = (
  document: XmlDocument,
  signature: number,
): SignatureParts<WholeDigests> =>
  new SignatureReader(document, signature).read(signature, wholeReferences)
