import { ABSENT, ELEMENT, NEEDS_DECODING, NODE_STRIDE, TEXT, type XmlDocument } from '#codecs/xml'
import { exclusiveC14n } from './exclusive-c14n.ts'

const LT = 0x3c
const GT = 0x3e
const SLASH = 0x2f
const SPACE = 0x20
const QUOTE = 0x22
const EQUALS = 0x3d
const AMP = 0x26
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a

const encoder = new TextEncoder()

/** The references that the canonical form writes in text. */
const TEXT_REFERENCES = ['&amp;', '&lt;', '&gt;', '&#xD;'].map((text) => encoder.encode(text))

function startsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false
  return true
}

/** No reference but those that the canonical form writes, no ">" and no carriage return as such. */
function isCanonicalText(
  { bytes }: XmlDocument,
  from: number,
  end: number,
  plain: boolean,
): boolean {
  if (plain) {
    for (let at = from; at < end; at++) if (bytes[at] === GT) return false
    return true
  }
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!
    if (byte === GT || byte === CARRIAGE_RETURN) return false
    if (byte === AMP && !TEXT_REFERENCES.some((text) => startsWith(bytes, at, text))) return false
  }
  return true
}

/** The byte after an element's name. */
function nameEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (bytes[at]! > SPACE && bytes[at] !== GT && bytes[at] !== SLASH) at++
  return at
}

/** Bytes of the prefix with its colon; 0 for a name without one. */
function prefixBytes(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) if (bytes[at] === COLON) return at - start
  return 0
}

/** Whether the bytes are `name="value"` with one blank before and the end of the tag behind. */
function isCanonicalAttribute(document: XmlDocument, element: number, from: number): boolean {
  const { bytes } = document
  const attribute = document.firstAttribute(element)
  if (document.isNamespaceDeclaration(attribute)) return false
  const name = document.attributeName(attribute)
  const value = document.attributeValue(attribute)
  // Any character that the canonical form escapes, or that normalisation changed, is left alone.
  if (name.includes(':') || !/^[\x20\x21\x23-\x25\x27-\x3b\x3d-\x7e]*$/.test(value)) return false
  const equals = from + 1 + name.length
  const close = equals + 2 + value.length
  return (
    bytes[from] === SPACE &&
    bytes[equals] === EQUALS &&
    bytes[equals + 1] === QUOTE &&
    bytes[close] === QUOTE &&
    bytes[close + 1] === GT
  )
}

/** Whether `</name>` without blanks ends the element whose name lies in [from, to). */
function endsCanonically(bytes: Uint8Array, from: number, to: number, end: number): boolean {
  const close = end - (to - from) - 3
  return bytes[close] === LT && bytes[close + 1] === SLASH && close >= to
}

type Apex = { readonly namespaceId: number; readonly start: number; readonly prefix: number }

/** Whether an element below the apex is written as the canonical form writes it. */
function isCanonicalElement(document: XmlDocument, node: number, apex: Apex): boolean {
  if (document.namespaceId(node) !== apex.namespaceId) return false
  const { bytes } = document
  const start = document.start(node)
  // One walk finds the end of the name and the prefix.
  let to = start + 1
  let prefix = 0
  for (let byte = bytes[to]!; byte > SPACE && byte !== GT && byte !== SLASH; byte = bytes[++to]!) {
    if (byte === COLON) prefix = to - start
  }
  if (prefix !== apex.prefix) return false
  for (let i = 1; i < prefix; i++) if (bytes[start + i] !== bytes[apex.start + i]) return false
  if (bytes[to] === GT) {
    return (
      document.attributeCount(node) === 0 &&
      endsCanonically(bytes, start + 1, to, document.end(node))
    )
  }
  return (
    document.attributeCount(node) === 1 &&
    isCanonicalAttribute(document, node, to) &&
    endsCanonically(bytes, start + 1, to, document.end(node))
  )
}

/** The canonical start tag of the apex: its name, its namespace, then its attribute if it has one. */
function apexTag(document: XmlDocument, node: number): string | undefined {
  const name = document.qualifiedName(node)
  const uri = document.namespaceUri(node)
  const colon = name.indexOf(':')
  const declared = colon < 0 ? 'xmlns' : `xmlns:${name.slice(0, colon)}`
  if (uri === '' || !/^[\x21\x23-\x25\x27-\x3b\x3d-\x7e]+$/.test(uri)) return undefined
  let tag = `<${name} ${declared}="${uri}"`
  const first = document.firstAttribute(node)
  let attributes = 0
  for (let at = first; at < first + document.attributeCount(node); at++) {
    if (document.isNamespaceDeclaration(at)) continue
    const attribute = document.attributeName(at)
    const value = document.attributeValue(at)
    if (attribute.includes(':') || !/^[\x20\x21\x23-\x25\x27-\x3b\x3d-\x7e]*$/.test(value)) {
      return undefined
    }
    if (++attributes > 1) return undefined
    tag += ` ${attribute}="${value}"`
  }
  return `${tag}>`
}

/**
 * The exclusive canonical form of an element that is written canonically but for the namespace it
 * inherits: one pass over the tape and one copy. Undefined for any other layout, which the general
 * canonicaliser has to handle.
 *
 * @param omit - a descendant that is left out (the enveloped signature), or -1
 */
export function canonicalCopy(
  document: XmlDocument,
  node: number,
  omit: number = ABSENT,
): Uint8Array | undefined {
  const { bytes, nodes } = document
  const limit = document.next(node)
  const start = document.start(node)
  const to = nameEnd(bytes, start)
  const end = document.end(node)
  if (!endsCanonically(bytes, start + 1, to, end)) return undefined
  const apex = {
    namespaceId: document.namespaceId(node),
    start,
    prefix: prefixBytes(bytes, start, to),
  }
  for (let at = node + 1; at < limit; at++) {
    if (at === omit) {
      at = document.next(omit) - 1
      continue
    }
    const kind = document.kind(at)
    if (kind === ELEMENT) {
      if (!isCanonicalElement(document, at, apex)) return undefined
      continue
    }
    const plain = (nodes[at * NODE_STRIDE]! & NEEDS_DECODING) === 0
    if (kind !== TEXT || !isCanonicalText(document, document.start(at), document.end(at), plain)) {
      return undefined
    }
  }
  const tag = apexTag(document, node)
  if (tag === undefined) return undefined
  const content = node + 1 < limit ? document.start(node + 1) : end - (to - start) - 2
  return join(bytes, tag, content, end, omit === ABSENT ? undefined : document, omit)
}

function join(
  bytes: Uint8Array,
  tag: string,
  content: number,
  end: number,
  document: XmlDocument | undefined,
  omit: number,
): Uint8Array {
  const cutFrom = document === undefined ? end : document.start(omit)
  const cutTo = document === undefined ? end : document.end(omit)
  const out = new Uint8Array(tag.length * 2 + (cutFrom - content) + (end - cutTo))
  let at = encoder.encodeInto(tag, out).written
  out.set(bytes.subarray(content, cutFrom), at)
  at += cutFrom - content
  out.set(bytes.subarray(cutTo, end), at)
  return out.subarray(0, at + (end - cutTo))
}

/** The exclusive canonical form of an element (http://www.w3.org/2001/10/xml-exc-c14n#). */
export function canonicalForm(
  document: XmlDocument,
  node: number,
  omit: number = ABSENT,
): Uint8Array {
  return canonicalCopy(document, node, omit) ?? exclusiveC14n(document, node, { omit })
}
