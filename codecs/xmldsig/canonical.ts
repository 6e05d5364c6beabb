import { absent, nodeKind, type XmlDocument } from '#codecs/xml'
import { exclusiveC14n } from './exclusive-c14n.ts'
import { joined, type Memory, newMemory } from './scratch.ts'

const lt = 0x3c
const gt = 0x3e
const slash = 0x2f
const space = 0x20
const quote = 0x22
const equalsSign = 0x3d
const amp = 0x26
const carriageReturn = 0x0d
const colon = 0x3a

const encoder = new TextEncoder()

/** The references that the canonical form writes in text. */
const textReferences = ['&amp;', '&lt;', '&gt;', '&#xD;'].map((text) => encoder.encode(text))

const nameForm = /^[\x21-\x7e]+$/
const uriForm = /^[\x21\x23-\x25\x27-\x3b\x3d-\x7e]+$/
/** ASCII without the characters that the canonical form escapes. */
const valueForm = /^[\x20\x21\x23-\x25\x27-\x3b\x3d-\x7e]*$/

/** Whether these bytes stand at that place. */
export const startsWith = (bytes: Uint8Array, at: number, expected: Uint8Array): boolean => {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false
  return true
}

/** Whether a text holds only references that the canonical form writes, and no literal ">" or carriage return. */
const isCanonicalText = (document: XmlDocument, node: number): boolean => {
  const { bytes } = document
  const end = document.end(node)
  let at = document.start(node)
  if (document.isPlainText(node)) {
    while (at < end) if (bytes[at++] === gt) return false
    return true
  }
  for (; at < end; at++) {
    const byte = bytes[at]!
    if (byte === gt || byte === carriageReturn) return false
    if (byte === amp && !textReferences.some((text) => startsWith(bytes, at, text))) return false
  }
  return true
}

/** The byte after an element's name. */
const nameEnd = (bytes: Uint8Array, start: number): number => {
  let at = start + 1
  while (bytes[at]! > space && bytes[at] !== gt && bytes[at] !== slash) at++
  return at
}

/** Bytes of the prefix with its colon; 0 for a name without one. */
const prefixBytes = (bytes: Uint8Array, start: number, end: number): number => {
  for (let at = start + 1; at < end; at++) if (bytes[at] === colon) return at - start
  return 0
}

/** Whether the bytes are `name="value"`, between one blank and the end of the tag. */
const isCanonicalAttribute = (document: XmlDocument, element: number, from: number): boolean => {
  const { bytes } = document
  const attribute = document.firstAttribute(element)
  if (document.isNamespaceDeclaration(attribute)) return false
  const name = document.attributeName(attribute)
  const value = document.attributeValue(attribute)
  if (name.includes(':') || !valueForm.test(value)) return false
  const equals = from + 1 + name.length
  const close = equals + 2 + value.length
  return (
    bytes[from] === space &&
    bytes[equals] === equalsSign &&
    bytes[equals + 1] === quote &&
    bytes[close] === quote &&
    bytes[close + 1] === gt &&
    // In the value, a line break or tab is a blank of the same length.
    document.raw(equals + 2, close) === value
  )
}

/** Whether `</name>` without blanks ends the element whose name lies in [from, to). */
const endsCanonically = (bytes: Uint8Array, from: number, to: number, end: number): boolean => {
  const close = end - (to - from) - 3
  return bytes[close] === lt && bytes[close + 1] === slash && close >= to
}

type Apex = { readonly namespaceId: number; readonly start: number; readonly prefix: number }

/** Whether the name in [from, to) has the apex's prefix, or none if the apex has none. */
const hasPrefix = (bytes: Uint8Array, from: number, to: number, apex: Apex): boolean => {
  const { prefix } = apex
  for (let at = from; at < to; at++) {
    if (bytes[at] === colon) {
      if (at - from + 1 !== prefix) return false
      for (let i = 0; i < prefix; i++) {
        if (bytes[from + i] !== bytes[apex.start + 1 + i]) return false
      }
      return true
    }
  }
  return prefix === 0
}

/** Whether an element below the apex is written canonically. */
const isCanonicalElement = (document: XmlDocument, node: number, apex: Apex): boolean => {
  const { bytes } = document
  if (document.namespaceId(node) !== apex.namespaceId) return false
  const start = document.start(node)
  const content = document.contentStart(node)
  const end = document.end(node)
  const attributes = document.attributeCount(node)
  // Without attributes, anything but the name in a start tag is white space or "/" at its end.
  const to = attributes === 0 ? content - 1 : nameEnd(bytes, start)
  if (bytes[to - 1]! <= space || bytes[to - 1] === slash) return false
  return (
    hasPrefix(bytes, start + 1, to, apex) &&
    endsCanonically(bytes, start + 1, to, end) &&
    (attributes === 0 || (attributes === 1 && isCanonicalAttribute(document, node, to)))
  )
}

/**
 * The canonical start tag of the apex: its name, its namespace, then its attribute if it has one. Undefined if it has
 * more, or characters beyond ASCII.
 */
const apexTag = (document: XmlDocument, node: number): string | undefined => {
  const name = document.qualifiedName(node)
  const uri = document.namespaceUri(node)
  const colon = name.indexOf(':')
  const declared = colon < 0 ? 'xmlns' : `xmlns:${name.slice(0, colon)}`
  if (!nameForm.test(name) || !uriForm.test(uri)) return undefined
  let tag = `<${name} ${declared}="${uri}"`
  const first = document.firstAttribute(node)
  let attributes = 0
  for (let at = first; at < first + document.attributeCount(node); at++) {
    if (document.isNamespaceDeclaration(at)) continue
    const attribute = document.attributeName(at)
    const value = document.attributeValue(at)
    if (attribute.includes(':') || !valueForm.test(value)) return undefined
    if (++attributes > 1) return undefined
    tag += ` ${attribute}="${value}"`
  }
  return `${tag}>`
}

/**
 * The exclusive canonical form of an element that is canonical already, except for its inherited namespace. Takes one
 * pass over the tape and one copy. Undefined for any other layout, which needs the general canonicaliser.
 *
 * @param omit - a descendant that is left out (the enveloped signature), or -1
 */
export const canonicalCopy = (
  document: XmlDocument,
  node: number,
  omit: number = absent,
  memory: Memory = newMemory,
): Uint8Array | undefined => {
  const { bytes } = document
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
    const isCanonical =
      kind === nodeKind.element
        ? isCanonicalElement(document, at, apex)
        : kind === nodeKind.text && isCanonicalText(document, at)
    if (!isCanonical) return undefined
  }
  const tag = apexTag(document, node)
  if (tag === undefined) return undefined
  const content = node + 1 < limit ? document.start(node + 1) : end - (to - start) - 2
  const cutFrom = omit === absent ? end : document.start(omit)
  const cutTo = omit === absent ? end : document.end(omit)
  return joined(bytes, tag, [content, cutFrom, cutTo, end], memory)
}

/** The exclusive canonical form of an element (http://www.w3.org/2001/10/xml-exc-c14n#). */
export const canonicalForm = (
  document: XmlDocument,
  node: number,
  omit: number = absent,
  memory: Memory = newMemory,
): Uint8Array =>
  canonicalCopy(document, node, omit, memory) ?? exclusiveC14n(document, node, { omit })
