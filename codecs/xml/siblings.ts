import { classOf, name } from './characters.ts'
import {
  attributeCountOf,
  attributeNamespace,
  attributeStride,
  elementKind,
  kindMask,
  nodeContent,
  nodeEnd,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  noParts,
  valueNeedsDecoding,
  XmlDocument,
  type XmlParts,
  type XmlShape,
} from './document.ts'
import { Elements } from './elements.ts'
import type { XmlLimits } from './limits.ts'
import { partEnd } from './literal.ts'
import { Part } from './part.ts'
import type { XmlNative } from './scanner.ts'
import { Shapes } from './shapes.ts'
import type { XmlVocabulary } from './vocabulary.ts'

const colon = 0x3a
const lt = 0x3c

/** What comes behind shorter elements is scanned as soon as compared. */
export const partBytesMin = 128
/** Longer elements are scanned each time: they seldom recur. */
export const partBytesMax = 8192
/** Elements of one document that are remembered: each costs more than scanning it. */
export const partsLearnedMax = 32

/** Where an element began that is to be remembered, and what the document had before it. */
type Begin = {
  /** Of the element around it. */
  readonly depth: number
  readonly at: number
  readonly node: number
  readonly attribute: number
  readonly elements: number
  readonly parts: number
}

/**
 * Elements that come one after the other, as the transactions of a message, are often the same but for their values.
 * Such a one is found well-formed as a whole document of known shape is, and its part of the tape is copied.
 *
 * What is known of one holds for every document: only names of the vocabulary are in it, no prefix, and nothing
 * that declares a namespace. So its elements have the namespace that is the default one where it stands.
 */
export class Siblings extends Elements {
  private readonly known: Shapes<Part> | undefined
  /** Those that are open, each within the one before it. */
  private readonly begins: Begin[] = []
  /** How many were learned of the document. */
  private learnedParts = 0
  /** Of the document. */
  parts: XmlParts = noParts
  private partShapes: XmlShape[] = []
  private partPlaces: number[] = []

  constructor(vocabulary: XmlVocabulary, limits: XmlLimits, native: XmlNative, reuse: boolean) {
    super(vocabulary, limits, native, reuse)
    if (!reuse) return
    this.known = new Shapes(Part, partEnd)
    this.repeatedBytesMin = partBytesMin
  }

  override rewind(): void {
    super.rewind()
    this.begins.length = 0
    this.learnedParts = 0
    this.parts = noParts
  }

  /**
   * Takes the elements behind one of their name for as long as they are known, and gives the place behind them; what
   * comes first that is not known is remembered when it ends.
   */
  repeated(from: number): number {
    this.repeatedAt = -1
    const known = this.known as Shapes<Part>
    const tag = this.openTag[this.depth + 1] as number
    let at = from
    for (;;) {
      if (this.buffer[at] !== lt) at = this.text(at)
      if (!this.tags.matches(tag, this.view, at)) return at
      const part = known.at(this, at)
      if (part === undefined) return this.begun(tag, at, known)
      if (!this.fits(part)) return at
      at = this.copied(part, known)
    }
  }

  /** Opens an element that is to be remembered, unless enough were. */
  private begun(tag: number, at: number, known: Shapes<Part>): number {
    if (this.learnedParts === partsLearnedMax || !known.mayLearn()) return at
    const { count: node, elements, depth } = this
    const attribute = this.attributes.count
    const parts = this.parts.shapes.length
    this.begins.push({ depth, at, node, attribute, elements, parts })
    this.pause = depth
    return this.knownTag(tag, at)
  }

  private fits({ depth, elementCount }: Part): boolean {
    const { depthMax, elementsMax } = this.limits
    return this.depth + depth <= depthMax && this.elements + elementCount <= elementsMax
  }

  private copied(part: Part, { starts, textFlags, end }: Shapes<Part>): number {
    const { count: node, attributes } = this
    const attribute = attributes.count
    this.reserve(part.endNode, starts[0] as number)
    attributes.reserve(part.attributeCount)
    const namespace = this.namespaces.defaultId
    part.copyTo(this.nodes, node, attributes.records, attribute, namespace, starts, textFlags)
    this.count += part.endNode
    this.elements += part.elementCount
    attributes.count += part.attributeCount
    this.keep(part, node, attribute)
    return end
  }

  private keep(part: Part, node: number, attribute: number): void {
    if (this.parts === noParts) {
      this.partShapes = []
      this.partPlaces = []
      this.parts = { shapes: this.partShapes, places: this.partPlaces }
    }
    this.partShapes.push(part)
    this.partPlaces.push(node, attribute)
  }

  /** Remembers the element that has just ended, and goes on with {@link repeated}. */
  remember(end: number): number {
    const begin = this.begins.pop() as Begin
    this.pause = this.begins.at(-1)?.depth ?? 0
    if (end - begin.at <= partBytesMax && this.isPlain(begin)) {
      this.learnedParts++
      this.known?.learn(this.asDocument(begin, end), this, begin.at)
    }
    return this.repeated(end)
  }

  /** Whether what the element is follows from its bytes and the default namespace. */
  private isPlain(begin: Begin): boolean {
    const { buffer: b, nodes, names, attributes } = this
    // A text alone is compared no faster; and what holds parts that are known seldom has as many another time.
    if (this.elements - begin.elements < 2 || this.parts.shapes.length > begin.parts) return false
    for (let node = begin.node; node < this.count; node++) {
      const record = node * nodeStride
      if (((nodes[record] as number) & kindMask) !== elementKind) continue
      if (!names.isKnown(nodes[record + nodeName] as number)) return false
      let at = (nodes[record + nodeStart] as number) + 1
      while ((classOf[b[at] as number] as number) & name) at++
      if (b[at] === colon) return false
    }
    for (let i = begin.attribute; i < attributes.count; i++) {
      const flags = attributes.records[i * attributeStride + attributeNamespace] as number
      if ((flags & ~valueNeedsDecoding) !== 0) return false
    }
    return true
  }

  /** The element that has just ended, as a document of its own. */
  private asDocument(begin: Begin, end: number): XmlDocument {
    const { at, node: first, attribute, elements } = begin
    const nodes = this.nodes.slice(first * nodeStride, this.count * nodeStride)
    for (let record = 0; record < nodes.length; record += nodeStride) {
      const kind = nodes[record] as number
      const hasAttributes = (kind & kindMask) === elementKind && attributeCountOf(kind) > 0
      nodes[record + nodeStart] = (nodes[record + nodeStart] as number) - at
      nodes[record + nodeContent] =
        (nodes[record + nodeContent] as number) - (hasAttributes ? attribute : at)
      nodes[record + nodeEnd] = (nodes[record + nodeEnd] as number) - at
      nodes[record + nodeNext] = (nodes[record + nodeNext] as number) - first
    }
    const attributes = this.attributes.records.slice(
      attribute * attributeStride,
      this.attributes.count * attributeStride,
    )
    for (let i = 0; i < attributes.length; i++) {
      if (i % attributeStride === attributeNamespace) continue
      attributes[i] = (attributes[i] as number) - at
    }
    return new XmlDocument({
      bytes: this.buffer.slice(at, end),
      nodes,
      attributes,
      root: 0,
      firstNode: 0,
      endNode: this.count - first,
      elementCount: this.elements - elements,
      namespaces: this.namespaces.taken(),
      isAscii: false,
      native: this.native,
    })
  }
}
