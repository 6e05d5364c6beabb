import {
  absent,
  attributeCountOf,
  attributeFlags,
  attributeNameEnd,
  attributeStart,
  attributeStride,
  attributeValueEnd,
  attributeValueStart,
  beyondAscii,
  isDeclaration,
  isElement,
  kindMask,
  namespaceOf,
  needsDecoding,
  nodeContent,
  nodeEnd,
  nodeKind,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  type Scanned,
  valueNeedsDecoding,
  whiteSpaceOnly,
} from './layout.ts'
import type { XmlNative } from './native.ts'
import { isAscii } from './stretch.ts'
import { decodeText, decodeValue } from './text.ts'

const gt = 0x3e

/**
 * Documents, or parts of them, have one shape if they are equal byte for byte except for their own values: their tapes
 * differ only in offsets and in the flags of those values. Each shape is one object, so that readers can remember in it
 * what they learn. A part numbers its own nodes and attributes from 0.
 */
export type XmlShape = {
  /** The text nodes and the attributes whose values vary; all other values are the same in every document. */
  readonly variableTexts: Int32Array
  readonly variableAttributes: Int32Array
  /** The notes of readers on the shape; each reader has its own key. */
  readonly notes: Map<unknown, unknown>
}

/**
 * Elements of a document that have a known shape, with their contents, in document order; none contains another. They
 * use no prefixes and declare no namespace, so all elements in one have the namespace of its first.
 */
export type XmlParts = {
  readonly shapes: readonly XmlShape[]
  /** Two numbers for each: its first node, and the index that its first attribute has or would have. */
  readonly places: readonly number[]
}

export const noParts: XmlParts = { shapes: [], places: [] }

/** Decoding this many bytes of a document at once costs as much as decoding one text by itself. */
const bytesForACut = 256

/**
 * A well-formed document, read by the numbers of its nodes and attributes: both count in document order, so that
 * `node + 1` is the first node beneath an element and {@link next} the first behind it. Offsets are those of
 * {@link bytes}; strings are made when asked for. Numbers mean something in this document only.
 *
 * @example
 * for (let node = document.root; node < document.endNode; node++) {
 *   if (document.isElement(node)) names.push(document.localName(node))
 * }
 */
export class XmlDocument {
  /** The bytes that were scanned, not a copy. */
  readonly bytes: Uint8Array
  readonly root: number
  /** The document's nodes are those from here to before {@link endNode}. */
  readonly firstNode: number
  readonly endNode: number
  readonly elementCount: number
  /** Namespace URIs by index; 0 is "no namespace". */
  readonly namespaces: readonly string[]
  /** True where every byte is one character. */
  readonly isAscii: boolean
  /** Undefined if the scanner has not learned this shape. */
  readonly shape: XmlShape | undefined
  /** Empty if the document itself has a shape. */
  readonly parts: XmlParts
  private readonly nodes: Int32Array
  private readonly attributes: Int32Array
  private readonly native: XmlNative
  private text: string | undefined
  private cuts = 0

  constructor(
    bytes: Uint8Array,
    scanned: Scanned,
    isAscii: boolean,
    native: XmlNative,
    shape: XmlShape | undefined,
    parts: XmlParts,
  ) {
    this.bytes = bytes
    this.root = scanned.root
    this.firstNode = scanned.firstNode
    this.endNode = scanned.endNode
    this.elementCount = scanned.elementCount
    this.namespaces = scanned.namespaces
    this.isAscii = isAscii
    this.shape = shape
    this.parts = parts
    this.nodes = scanned.nodes
    this.attributes = scanned.attributes
    this.native = native
  }

  /** One of {@link nodeKind}. */
  kind(node: number): number {
    return this.flags(node) & kindMask
  }

  isElement(node: number): boolean {
    return isElement(this.flags(node))
  }

  /** Whether a text is white space only. */
  isWhiteSpace(node: number): boolean {
    return (this.flags(node) & (kindMask | whiteSpaceOnly)) === (nodeKind.text | whiteSpaceOnly)
  }

  /** Whether the node is a text whose value is its bytes: it holds no reference and no CR. */
  isPlainText(node: number): boolean {
    return (this.flags(node) & (kindMask | needsDecoding)) === nodeKind.text
  }

  /** The id of an element's local name. Names outside the vocabulary have ids from the vocabulary's size on. */
  nameId(node: number): number {
    return this.nodes[node * nodeStride + nodeName] as number
  }

  /** The index of an element's namespace in {@link namespaces}. */
  namespaceId(node: number): number {
    return namespaceOf(this.flags(node))
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

  /** The first element directly beneath, or {@link absent}. */
  firstChild(node: number): number {
    return this.elementFrom(node + 1, this.next(node))
  }

  /** The next element with the same parent, or {@link absent}. `parent` bounds the search. */
  nextSibling(node: number, parent: number): number {
    return this.elementFrom(this.next(node), this.next(parent))
  }

  /** All elements directly beneath. */
  childrenOf(node: number): number[] {
    const children: number[] = []
    for (
      let child = this.firstChild(node);
      child !== absent;
      child = this.nextSibling(child, node)
    ) {
      children.push(child)
    }
    return children
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
   * The document's characters between two offsets, which must fall on character bounds. After the first few, ranges of
   * ASCII are cut from one string of the whole document, which is cheaper than decoding each. That string is wrong
   * where the document has bytes beyond ASCII; nobody reads it there.
   */
  raw(start: number, end: number): string {
    return this.isAscii || isAscii(this.bytes, start, end)
      ? this.cut(start, end)
      : this.native.utf8(this.bytes, start, end)
  }

  /** The bytes between two offsets, one character (U+0000 to U+00FF) for each. */
  octets(start: number, end: number): string {
    this.text ??= this.native.latin1(this.bytes, 0, this.bytes.length)
    return this.text.substring(start, end)
  }

  /** The only node in an element, if that is a text; {@link absent} for any other content. */
  onlyText(node: number): number {
    const leaf = node + 1
    return this.next(node) === leaf + 1 && this.kind(leaf) === nodeKind.text ? leaf : absent
  }

  /** XPath string value: all text and CDATA beneath, references resolved, line ends normalised. */
  textOf(node: number): string {
    const { nodes } = this
    const leaf = (node + 1) * nodeStride
    const limit = nodes[leaf - nodeStride + nodeNext] as number
    // Nearly every element with a text holds that alone, with nothing to resolve.
    if (limit === node + 2 && nodes[leaf] === nodeKind.text) {
      return this.cut(nodes[leaf + nodeContent] as number, nodes[leaf + nodeEnd] as number)
    }
    if (!this.isElement(node)) return this.ownText(node)
    let text = ''
    for (let at = node + 1; at < limit; at++) text += this.ownText(at)
    return text
  }

  /** Namespace declarations are among them. */
  attributeCount(node: number): number {
    return attributeCountOf(this.flags(node))
  }

  /** The number of an element's first attribute; the others follow it. */
  firstAttribute(node: number): number {
    return this.attributeCount(node) === 0 ? 0 : this.content(node)
  }

  /** All attributes of an element. */
  attributesOf(node: number): number[] {
    const first = this.firstAttribute(node)
    return Array.from({ length: this.attributeCount(node) }, (_, i) => first + i)
  }

  /** The byte after an element's start tag. */
  contentStart(node: number): number {
    const count = this.attributeCount(node)
    if (count === 0) return this.content(node)
    // Only white space and a '/' may follow the quote of the last value.
    let at = this.attributeValueEnd(this.content(node) + count - 1) + 1
    while (this.bytes[at] !== gt) at++
    return at + 1
  }

  /** The name as written. */
  attributeName(attribute: number): string {
    return this.raw(this.attributeStart(attribute), this.ofAttribute(attribute, attributeNameEnd))
  }

  attributeNamespaceId(attribute: number): number {
    return this.ofAttribute(attribute, attributeFlags) >> 2
  }

  isNamespaceDeclaration(attribute: number): boolean {
    return (this.ofAttribute(attribute, attributeFlags) & isDeclaration) !== 0
  }

  /** Whether the value of an attribute is its bytes. */
  isPlainAttribute(attribute: number): boolean {
    return (this.ofAttribute(attribute, attributeFlags) & valueNeedsDecoding) === 0
  }

  /** The first byte of the name. */
  attributeStart(attribute: number): number {
    return this.ofAttribute(attribute, attributeStart)
  }

  attributeValueStart(attribute: number): number {
    return this.ofAttribute(attribute, attributeValueStart)
  }

  /** Where the closing quote stands. */
  attributeValueEnd(attribute: number): number {
    return this.ofAttribute(attribute, attributeValueEnd)
  }

  /** The value after normalisation (XML 1.0, 3.3.3). */
  attributeValue(attribute: number): string {
    const raw = this.raw(this.attributeValueStart(attribute), this.attributeValueEnd(attribute))
    return this.isPlainAttribute(attribute) ? raw : decodeValue(raw)
  }

  /** The value of the attribute that is written with this ASCII name; undefined if there is none. */
  attribute(node: number, name: string): string | undefined {
    const first = this.firstAttribute(node)
    for (let at = first; at < first + this.attributeCount(node); at++) {
      if (this.isNamed(at, name)) return this.attributeValue(at)
    }
    return undefined
  }

  /** Whether an attribute is written with this ASCII name. */
  isNamed(attribute: number, name: string): boolean {
    const start = this.attributeStart(attribute)
    if (this.ofAttribute(attribute, attributeNameEnd) - start !== name.length) return false
    for (let i = 0; i < name.length; i++) {
      if (this.bytes[start + i] !== name.charCodeAt(i)) return false
    }
    return true
  }

  private flags(node: number): number {
    return this.nodes[node * nodeStride] as number
  }

  private content(node: number): number {
    return this.nodes[node * nodeStride + nodeContent] as number
  }

  private ofAttribute(attribute: number, int: number): number {
    return this.attributes[attribute * attributeStride + int] as number
  }

  private elementFrom(from: number, limit: number): number {
    for (let node = from; node < limit; node = this.next(node))
      if (this.isElement(node)) return node
    return absent
  }

  private cut(start: number, end: number): string {
    if (this.text === undefined && ++this.cuts * bytesForACut <= this.bytes.length) {
      return this.native.latin1(this.bytes, start, end)
    }
    return this.octets(start, end)
  }

  private ownText(node: number): string {
    const flags = this.flags(node)
    const start = this.content(node)
    const end = this.end(node)
    switch (flags & kindMask) {
      case nodeKind.text: {
        const text =
          flags & beyondAscii ? this.native.utf8(this.bytes, start, end) : this.cut(start, end)
        return flags & needsDecoding ? decodeText(text, true) : text
      }
      case nodeKind.cdata:
        return decodeText(this.raw(start, end - ']]>'.length), false)
      default:
        return ''
    }
  }
}

/** White space, '/', '>' or the end. */
const endsName = (byte: number): boolean => byte <= 0x20 || byte === 0x2f || byte === 0x3e
