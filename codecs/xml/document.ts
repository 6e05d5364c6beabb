import type { XmlNative } from './scanner.ts'
import { decodeText, decodeValue } from './text.ts'

/** Kinds of nodes. */
export const elementKind = 1
export const textKind = 2
export const cdata = 3
export const comment = 4

/** Flags of a node, above its kind. */
export const kindMask = 0x0f
/** Text that holds references or carriage returns: its value is not its bytes. */
export const needsDecoding = 0x10
/** Text of nothing but white space. */
export const whitespaceOnly = 0x20
/** Text with bytes beyond ASCII: it is decoded, not cut from the string that has a character for each byte. */
export const beyondAscii = 0x40
/**
 * An element has no flags: above its kind stand the number of its attributes, and above that the index of its
 * namespace among the document's.
 */
export const attributeCountShift = 4
export const attributeCountMask = 0x7f
export const namespaceShift = 11

/** Ints of one node record. */
export const nodeStride = 6
export const nodeKind = 0
/** Element: id of the local name. */
export const nodeName = 1
/** First byte of the node: the '<' of a tag, comment or CDATA section, or the first byte of text. */
export const nodeStart = 2
/**
 * Element with attributes: index of the first one. Element without: the byte after its start tag. Otherwise:
 * first byte of the content.
 */
export const nodeContent = 3
/** The byte after the node, end tag included. */
export const nodeEnd = 4
/** Index of the node after this one and all beneath it. */
export const nodeNext = 5

/** Ints of one attribute record. */
export const attributeStride = 6
export const attributeNameStart = 0
export const attributeLocalStart = 1
export const attributeNameEnd = 2
export const attributeValueStart = 3
export const attributeValueEnd = 4
/** Namespace index × 4, plus the flags below. */
export const attributeNamespace = 5
export const valueNeedsDecoding = 1
export const isNamespaceDeclaration = 2

export const absent = -1

const gt = 0x3e

/** Of an element, by the first int of its record. */
export const attributeCountOf = (kind: number): number =>
  (kind >> attributeCountShift) & attributeCountMask

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
const bytesForACut = 256

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
    return (this.nodes[node * nodeStride] as number) & kindMask
  }

  nameId(node: number): number {
    return this.nodes[node * nodeStride + nodeName] as number
  }

  namespaceId(node: number): number {
    return (this.nodes[node * nodeStride] as number) >>> namespaceShift
  }

  namespaceUri(node: number): string {
    return this.namespaces[this.namespaceId(node)] as string
  }

  /** The first byte of the node. */
  start(node: number): number {
    return this.nodes[node * nodeStride + nodeStart] as number
  }

  /** The byte after the node, end tag included. */
  end(node: number): number {
    return this.nodes[node * nodeStride + nodeEnd] as number
  }

  /** The node after this one and all beneath it; not necessarily a sibling. */
  next(node: number): number {
    return this.nodes[node * nodeStride + nodeNext] as number
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
    for (let node = from; node < limit; node = nodes[node * nodeStride + nodeNext] as number) {
      if (((nodes[node * nodeStride] as number) & kindMask) === elementKind) return node
    }
    return absent
  }

  /** The qualified name as written. */
  qualifiedName(node: number): string {
    const start = this.start(node) + 1
    let end = start
    while (end < this.bytes.length && !endsName(this.bytes[end] as number)) end++
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
    if (this.text === undefined && ++this.cuts * bytesForACut <= this.bytes.length) {
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
    return this.next(node) === leaf + 1 && this.kind(leaf) === textKind ? leaf : absent
  }

  /** XPath string value: all text and CDATA beneath, references resolved, line ends normalised. */
  textOf(node: number): string {
    const { nodes } = this
    const leaf = (node + 1) * nodeStride
    const limit = nodes[leaf - nodeStride + nodeNext] as number
    // As nearly every element with a text: that alone, and nothing in it to resolve.
    if (limit === node + 2 && nodes[leaf] === textKind) {
      return this.cut(nodes[leaf + nodeContent] as number, nodes[leaf + nodeEnd] as number)
    }
    const first = node + 1
    if (first === limit) return this.kind(node) === elementKind ? '' : this.ownText(node)
    if (first + 1 === limit && this.kind(first) !== elementKind) return this.ownText(first)
    let text = ''
    for (let at = first; at < limit; at++) text += this.ownText(at)
    return text
  }

  private ownText(node: number): string {
    const at = node * nodeStride
    const kind = this.nodes[at] as number
    const start = this.nodes[at + nodeContent] as number
    const end = this.nodes[at + nodeEnd] as number
    switch (kind & kindMask) {
      case textKind: {
        const text = kind & beyondAscii ? this.decoded(start, end) : this.cut(start, end)
        return kind & needsDecoding ? decodeText(text, true) : text
      }
      case cdata:
        return decodeText(this.raw(start, end - 3), false)
      default:
        return ''
    }
  }

  attributeCount(node: number): number {
    return attributeCountOf(this.nodes[node * nodeStride] as number)
  }

  /** The index of an element's first attribute; the others follow it. Namespace declarations are among them. */
  firstAttribute(node: number): number {
    const at = node * nodeStride
    return attributeCountOf(this.nodes[at] as number) === 0
      ? 0
      : (this.nodes[at + nodeContent] as number)
  }

  /** The byte after an element's start tag. */
  contentStart(node: number): number {
    const count = this.attributeCount(node)
    const content = this.nodes[node * nodeStride + nodeContent] as number
    if (count === 0) return content
    const last = (content + count - 1) * attributeStride
    // Behind the quote of the last value stand white space and a '/' at most.
    let at = (this.attributes[last + attributeValueEnd] as number) + 1
    while (this.bytes[at] !== gt) at++
    return at + 1
  }

  attributeName(attribute: number): string {
    const at = attribute * attributeStride
    return this.raw(
      this.attributes[at + attributeNameStart] as number,
      this.attributes[at + attributeNameEnd] as number,
    )
  }

  attributeNamespaceId(attribute: number): number {
    return (this.attributes[attribute * attributeStride + attributeNamespace] as number) >> 2
  }

  isNamespaceDeclaration(attribute: number): boolean {
    const flags = this.attributes[attribute * attributeStride + attributeNamespace] as number
    return (flags & isNamespaceDeclaration) !== 0
  }

  /** The value after normalisation (XML 1.0, 3.3.3). */
  attributeValue(attribute: number): string {
    const at = attribute * attributeStride
    const raw = this.raw(
      this.attributes[at + attributeValueStart] as number,
      this.attributes[at + attributeValueEnd] as number,
    )
    const flags = this.attributes[at + attributeNamespace] as number
    return flags & valueNeedsDecoding ? decodeValue(raw) : raw
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
    const at = attribute * attributeStride
    const start = this.attributes[at + attributeNameStart] as number
    if ((this.attributes[at + attributeNameEnd] as number) - start !== name.length) return false
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
