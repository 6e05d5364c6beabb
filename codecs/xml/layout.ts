/*
 * How the tape of a document is laid out: records of ints, one for each node and one for each attribute. Only this
 * codec knows the layout; readers of a document use `XmlDocument`.
 */

/** Kinds of nodes. */
export const nodeKind = { element: 1, text: 2, cdata: 3, comment: 4 } as const

/** No node, no attribute, no place. */
export const absent = -1

/** Ints of a node's record. */
export const nodeStride = 6
/** The kind, and above it the flags below. An element's flags are the number of its attributes and its namespace. */
export const nodeFlags = 0
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

export const kindMask = 0x0f
/** Text that holds references or carriage returns: its value is not its bytes. */
export const needsDecoding = 0x10
/** Text that is white space only. */
export const whiteSpaceOnly = 0x20
/** Text with bytes beyond ASCII: it is decoded, not cut from the string that has a character for each byte. */
export const beyondAscii = 0x40
/** The bits of an element that hold the number of its attributes, and those that hold the index of its namespace. */
const attributeCountShift = 4
export const attributeCountMax = 0x7f
const namespaceShift = 11

/** The first int of an element's record. */
export const elementFlags = (attributeCount: number, namespace: number): number =>
  nodeKind.element | (attributeCount << attributeCountShift) | (namespace << namespaceShift)

export const isElement = (flags: number): boolean => (flags & kindMask) === nodeKind.element

/** How many attributes an element has. */
export const attributeCountOf = (flags: number): number =>
  (flags >> attributeCountShift) & attributeCountMax

/** The index of an element's namespace among those of the document. */
export const namespaceOf = (flags: number): number => flags >>> namespaceShift

/** Ints of an attribute's record. The first five are offsets in the document. */
export const attributeStride = 6
export const attributeStart = 0
export const attributeLocalStart = 1
export const attributeNameEnd = 2
export const attributeValueStart = 3
export const attributeValueEnd = 4
/** Namespace index × 4, plus the two flags below. */
export const attributeFlags = 5
export const valueNeedsDecoding = 1
export const isDeclaration = 2

/** A scanned document, or a part of one, without its bytes. */
export type Scanned = {
  readonly nodes: Int32Array
  readonly attributes: Int32Array
  readonly root: number
  /** The nodes are those from here to before {@link endNode}. */
  readonly firstNode: number
  readonly endNode: number
  readonly elementCount: number
  /** Namespace URIs by index; 0 is "no namespace". */
  readonly namespaces: readonly string[]
}
