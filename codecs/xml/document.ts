import type { XmlNative } from './scanner.ts'
import { decodeText, decodeValue } from './text.ts'

/** Kinds of nodes. */
export const ELEMENT = 1
export const TEXT = 2
export const CDATA = 3
export const COMMENT = 4

/** Flags of a node, above its kind. */
export const KIND_MASK = 0x0f
/** Text that holds references or carriage returns: its value is not its bytes. */
export const NEEDS_DECODING = 0x10
/** Text of nothing but white space. */
export const WHITESPACE_ONLY = 0x20
/** Text with bytes beyond ASCII: it is decoded, not cut from the string that has a character for each byte. */
export const BEYOND_ASCII = 0x40
/**
 * An element has no flags: above its kind stand the number of its attributes, and above that the index of its
 * namespace among the document's.
 */
export const ATTRIBUTE_COUNT_SHIFT = 4
export const ATTRIBUTE_COUNT_MASK = 0x7f
export const NAMESPACE_SHIFT = 11

/** Ints of one node record. */
export const NODE_STRIDE = 6
export const NODE_KIND = 0
/** Element: id of the local name. */
export const NODE_NAME = 1
/** First byte of the node: the '<' of a tag, comment or CDATA section, or the first byte of text. */
export const NODE_START = 2
/**
 * Element with attributes: index of the first one. Element without: the byte after its start tag. Otherwise:
 * first byte of the content.
 */
export const NODE_CONTENT = 3
/** The byte after the node, end tag included. */
export const NODE_END = 4
/** Index of the node after this one and all beneath it. */
export const NODE_NEXT = 5

/** Ints of one attribute record. */
export const ATTRIBUTE_STRIDE = 6
export const ATTRIBUTE_NAME_START = 0
export const ATTRIBUTE_LOCAL_START = 1
export const ATTRIBUTE_NAME_END = 2
export const ATTRIBUTE_VALUE_START = 3
export const ATTRIBUTE_VALUE_END = 4
/** Namespace index × 4, plus the flags below. */
export const ATTRIBUTE_NAMESPACE = 5
export const VALUE_NEEDS_DECODING = 1
export const IS_NAMESPACE_DECLARATION = 2

export const ABSENT = -1

const GT = 0x3e

/** Of an element, by the first int of its record. */
export const attributeCountOf = (kind: number): number =>
  (kind >> ATTRIBUTE_COUNT_SHIFT) & ATTRIBUTE_COUNT_MASK

/**
 * What documents, or parts of them, have in common that are the same, byte for byte, around values of their own: all
 * of their tapes but offsets and the flags of those values. One object for one shape, so that what follows from what
 * is the same can be remembered by it. Numbers of nodes and attributes are a part's own, from 0 on.
 */
export type XmlShape = {
  /** The text nodes and the attributes whose values are the document's own; those of all others are the same. */
  readonly variableTexts: Int32Array
  readonly variableAttributes: Int32Array
}

/**
 * Elements of a document that are of a shape, with all in them; in document order, none within another. Each is
 * written without prefixes and declares no namespace, so that all elements in it have the namespace of the first.
 */
export type XmlParts = {
  readonly shapes: readonly XmlShape[]
  /** Of each the first node, and the index that its first attribute has or would have; two numbers each. */
  readonly places: readonly number[]
}

export const noParts: XmlParts = { shapes: [], places: [] }

/** Decoding a document costs what decoding a text by itself does for each so many of its bytes. */
const BYTES_FOR_A_CUT = 256

/**
 * A well-formed document as a flat tape of offsets into its bytes, in document order; strings are made when
 * asked for. Node numbers mean something in this document only; {@link root} is the root element.
 */
export class XmlDocument {
  /** The bytes that were scanned, not a copy. */
  readonly bytes: Uint8Array
  readonly nodes: Int32Array
  readonly attributes: Int32Array
  readonly root: number
  /** The document's nodes are those from here to before {@link endNode}. */
  readonly firstNode: number
  readonly endNode: number
  readonly elementCount: number
  /** Namespace URIs by index; 0 is "no namespace". */
  readonly namespaces: readonly string[]
  /** True where every byte is one character. */
  readonly isAscii: boolean
  /** Undefined where it is not one that the scanner has learned. */
  readonly shape: XmlShape | undefined
  /** None where the document itself has a shape. */
  readonly parts: XmlParts
  private readonly native: XmlNative
  private text: string | undefined
  private cuts = 0

  constructor(parts: {
    readonly bytes: Uint8Array
    readonly nodes: Int32Array
    readonly attributes: Int32Array
    readonly root: number
    readonly firstNode: number
    readonly endNode: number
    readonly elementCount: number
    readonly namespaces: readonly string[]
    readonly isAscii: boolean
    readonly shape?: XmlShape
    readonly parts?: XmlParts
    readonly native: XmlNative
  }) {
    this.bytes = parts.bytes
    this.nodes = parts.nodes
    this.attributes = parts.attributes
    this.root = parts.root
    this.namespaces = parts.namespaces
    this.firstNode = parts.firstNode
    this.endNode = parts.endNode
    this.elementCount = parts.elementCount
    this.isAscii = parts.isAscii
    this.shape = parts.shape
    this.parts = parts.parts ?? noParts
    this.native = parts.native
  }

  kind(node: number): number {
    return (this.nodes[node * NODE_STRIDE] as number) & KIND_MASK
  }

  nameId(node: number): number {
    return this.nodes[node * NODE_STRIDE + NODE_NAME] as number
  }

  namespaceId(node: number): number {
    return (this.nodes[node * NODE_STRIDE] as number) >>> NAMESPACE_SHIFT
  }

  namespaceUri(node: number): string {
    return this.namespaces[this.namespaceId(node)] as string
  }

  /** The first byte of the node. */
  start(node: number): number {
    return this.nodes[node * NODE_STRIDE + NODE_START] as number
  }

  /** The byte after the node, end tag included. */
  end(node: number): number {
    return this.nodes[node * NODE_STRIDE + NODE_END] as number
  }

  /** The node after this one and all beneath it; not necessarily a sibling. */
  next(node: number): number {
    return this.nodes[node * NODE_STRIDE + NODE_NEXT] as number
  }

  /** The first element directly beneath, or -1. */
  firstChild(node: number): number {
    return this.elementFrom(node + 1, this.next(node))
  }

  /** The next element with the same parent, or -1. `parent` bounds the search. */
  nextSibling(node: number, parent: number): number {
    return this.elementFrom(this.next(node), this.next(parent))
  }

  private elementFrom(from: number, limit: number): number {
    const { nodes } = this
    for (let node = from; node < limit; node = nodes[node * NODE_STRIDE + NODE_NEXT] as number) {
      if (((nodes[node * NODE_STRIDE] as number) & KIND_MASK) === ELEMENT) return node
    }
    return ABSENT
  }

  /** The qualified name as written. */
  qualifiedName(node: number): string {
    const start = this.start(node) + 1
    let end = start
    while (!endsName(this.bytes[end] as number)) end++
    return this.raw(start, end)
  }

  localName(node: number): string {
    const name = this.qualifiedName(node)
    return name.slice(name.indexOf(':') + 1)
  }

  /**
   * The document's own characters between two offsets that fall on character bounds. Ranges of ASCII, after the
   * first few, are cut from one string of the whole document, which costs less than decoding each; bytes beyond
   * ASCII elsewhere come out wrong in it and are never asked for.
   */
  raw(start: number, end: number): string {
    return this.isAscii || isAsciiRange(this.bytes, start, end)
      ? this.cut(start, end)
      : this.decoded(start, end)
  }

  /** The bytes between two offsets, one character (U+0000 to U+00FF) for each. */
  octets(start: number, end: number): string {
    this.text ??= this.native.latin1(this.bytes, 0, this.bytes.length)
    return this.text.substring(start, end)
  }

  private cut(start: number, end: number): string {
    if (this.text === undefined && ++this.cuts * BYTES_FOR_A_CUT <= this.bytes.length) {
      return this.native.latin1(this.bytes, start, end)
    }
    return this.octets(start, end)
  }

  private decoded(start: number, end: number): string {
    return this.native.utf8(this.bytes, start, end)
  }

  /** The text that is all there is in an element, references and line ends as written; -1 for any other content. */
  onlyText(node: number): number {
    const leaf = node + 1
    return this.next(node) === leaf + 1 && this.kind(leaf) === TEXT ? leaf : ABSENT
  }

  /** XPath string value: all text and CDATA beneath, references resolved, line ends normalised. */
  textOf(node: number): string {
    const { nodes } = this
    const leaf = (node + 1) * NODE_STRIDE
    const limit = nodes[leaf - NODE_STRIDE + NODE_NEXT] as number
    // As nearly every element with a text: that alone, and nothing in it to resolve.
    if (limit === node + 2 && nodes[leaf] === TEXT) {
      return this.cut(nodes[leaf + NODE_CONTENT] as number, nodes[leaf + NODE_END] as number)
    }
    const first = node + 1
    if (first === limit) return this.kind(node) === ELEMENT ? '' : this.ownText(node)
    if (first + 1 === limit && this.kind(first) !== ELEMENT) return this.ownText(first)
    let text = ''
    for (let at = first; at < limit; at++) text += this.ownText(at)
    return text
  }

  private ownText(node: number): string {
    const at = node * NODE_STRIDE
    const kind = this.nodes[at] as number
    const start = this.nodes[at + NODE_CONTENT] as number
    const end = this.nodes[at + NODE_END] as number
    switch (kind & KIND_MASK) {
      case TEXT: {
        const text = kind & BEYOND_ASCII ? this.decoded(start, end) : this.cut(start, end)
        return kind & NEEDS_DECODING ? decodeText(text, true) : text
      }
      case CDATA:
        return decodeText(this.raw(start, end - 3), false)
      default:
        return ''
    }
  }

  attributeCount(node: number): number {
    return attributeCountOf(this.nodes[node * NODE_STRIDE] as number)
  }

  /** The index of an element's first attribute; the others follow it. Namespace declarations are among them. */
  firstAttribute(node: number): number {
    const at = node * NODE_STRIDE
    return attributeCountOf(this.nodes[at] as number) === 0
      ? 0
      : (this.nodes[at + NODE_CONTENT] as number)
  }

  /** The byte after an element's start tag. */
  contentStart(node: number): number {
    const count = this.attributeCount(node)
    const content = this.nodes[node * NODE_STRIDE + NODE_CONTENT] as number
    if (count === 0) return content
    const last = (content + count - 1) * ATTRIBUTE_STRIDE
    // Behind the quote of the last value stand white space and a '/' at most.
    let at = (this.attributes[last + ATTRIBUTE_VALUE_END] as number) + 1
    while (this.bytes[at] !== GT) at++
    return at + 1
  }

  attributeName(attribute: number): string {
    const at = attribute * ATTRIBUTE_STRIDE
    return this.raw(
      this.attributes[at + ATTRIBUTE_NAME_START] as number,
      this.attributes[at + ATTRIBUTE_NAME_END] as number,
    )
  }

  attributeNamespaceId(attribute: number): number {
    return (this.attributes[attribute * ATTRIBUTE_STRIDE + ATTRIBUTE_NAMESPACE] as number) >> 2
  }

  isNamespaceDeclaration(attribute: number): boolean {
    const flags = this.attributes[attribute * ATTRIBUTE_STRIDE + ATTRIBUTE_NAMESPACE] as number
    return (flags & IS_NAMESPACE_DECLARATION) !== 0
  }

  /** The value after normalisation (XML 1.0, 3.3.3). */
  attributeValue(attribute: number): string {
    const at = attribute * ATTRIBUTE_STRIDE
    const raw = this.raw(
      this.attributes[at + ATTRIBUTE_VALUE_START] as number,
      this.attributes[at + ATTRIBUTE_VALUE_END] as number,
    )
    const flags = this.attributes[at + ATTRIBUTE_NAMESPACE] as number
    return flags & VALUE_NEEDS_DECODING ? decodeValue(raw) : raw
  }

  /** The value of the attribute of that ASCII name in no namespace; undefined where there is none. */
  attribute(node: number, name: string): string | undefined {
    const first = this.firstAttribute(node)
    for (let at = first; at < first + this.attributeCount(node); at++) {
      if (this.isNamed(at, name)) return this.attributeValue(at)
    }
    return undefined
  }

  private isNamed(attribute: number, name: string): boolean {
    const at = attribute * ATTRIBUTE_STRIDE
    const start = this.attributes[at + ATTRIBUTE_NAME_START] as number
    if ((this.attributes[at + ATTRIBUTE_NAME_END] as number) - start !== name.length) return false
    for (let i = 0; i < name.length; i++) {
      if (this.bytes[start + i] !== name.charCodeAt(i)) return false
    }
    return true
  }
}

export const isAsciiRange = (bytes: Uint8Array, start: number, end: number): boolean => {
  let high = 0
  for (let at = start; at < end; at++) high |= bytes[at] as number
  return high < 0x80
}

/** White space, '/', '>' or the end. */
const endsName = (byte: number): boolean => byte <= 0x20 || byte === 0x2f || byte === 0x3e
