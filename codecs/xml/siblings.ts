import { isInName } from './characters.ts'
import { noParts, type XmlParts, type XmlShape } from './document.ts'
import {
  attributeCountOf,
  attributeFlags,
  attributeStride,
  isElement,
  nodeContent,
  nodeEnd,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  valueNeedsDecoding,
} from './layout.ts'
import { partEnd } from './literal.ts'
import type { Markup } from './markup.ts'
import type { Sample, Shape } from './shape.ts'
import { Shapes } from './shapes.ts'
import { structureOf } from './structures.ts'

const colon = 0x3a
const lt = 0x3c

/** Behind shorter elements, scanning the next one is as fast as comparing it. */
export const partBytesMin = 768
/** Longer elements are scanned each time: they seldom recur. */
export const partBytesMax = 8192
/** Elements of one document that are remembered: each costs more than scanning it. */
export const partsLearnedMax = 32

/** Scanning is nearly as fast as comparing a part: so many known ones pay for what one of a document would. */
const earnedByPart = 1 / 16

/** The start of an element that is to be remembered, and the state of the document before it. */
type Begin = {
  /** The depth of the element around it. */
  readonly depth: number
  readonly at: number
  readonly node: number
  readonly attribute: number
  readonly elements: number
  readonly parts: number
}

/**
 * Elements in a row, such as the transactions of a message, often differ only in their values. Such an element is
 * recognised in the same way as a whole document of known shape, and its part of the tape is copied.
 *
 * The notes on one element hold for every document: it has only names of the vocabulary, no prefix, and declares no
 * namespace. So its elements have the default namespace of the place where it stands.
 */
export class Siblings {
  private readonly markup: Markup
  private readonly known: Shapes
  /** The open elements, each within the one before it. */
  private readonly begins: Begin[] = []
  /** How many were learned from this document. */
  private learned = 0
  private shapes: XmlShape[] = []
  private places: number[] = []

  constructor(markup: Markup) {
    this.markup = markup
    this.known = new Shapes(markup.source, partEnd, earnedByPart)
    markup.repeatedBytesMin = partBytesMin
  }

  rewind(): void {
    if (this.begins.length > 0) this.begins.length = 0
    this.learned = 0
    // The last document keeps those it has.
    if (this.shapes.length === 0) return
    this.shapes = []
    this.places = []
  }

  /** The known elements that were found in the document. */
  get parts(): XmlParts {
    return this.shapes.length === 0 ? noParts : { shapes: this.shapes, places: this.places }
  }

  /** Goes on from where the scan stopped behind an element, and returns how far it came. */
  goOn(at: number): number {
    return this.markup.depth === this.markup.pause ? this.remember(at) : this.repeated(at)
  }

  /**
   * Takes the known elements that follow one of the same name, and returns the place behind them. The first unknown one
   * is remembered when it ends.
   */
  private repeated(from: number): number {
    const { markup, known } = this
    const { source } = markup
    markup.repeatedAt = -1
    const { ints } = markup.tape.nodes
    const closed = markup.closedNode * nodeStride
    const start = ints[closed + nodeStart] as number
    const tagBytes = (ints[closed + nodeContent] as number) - start
    if (attributeCountOf(ints[closed] as number) > 0) return from
    let at = from
    for (;;) {
      if (source.buffer[at] !== lt) at = markup.text(at)
      if (!source.sameBytes(at, start, tagBytes)) return at
      const part = known.at(at)
      if (part === undefined) {
        if (this.learned === partsLearnedMax || !known.mayLearn()) return at
        this.begin(at)
        return markup.tag(at)
      }
      if (!this.fits(part)) return at
      this.copy(part)
      at = known.end
    }
  }

  /** Marks the element that begins here, to be remembered. */
  private begin(at: number): void {
    const { tape, elements, depth } = this.markup
    const { count: node } = tape.nodes
    const { count: attribute } = tape.attributes
    this.begins.push({ depth, at, node, attribute, elements, parts: this.shapes.length })
    this.markup.pause = depth
  }

  private fits({ depth, scanned }: Shape): boolean {
    const { depthMax, elementsMax } = this.markup.source.limits
    return (
      this.markup.depth + depth <= depthMax &&
      this.markup.elements + scanned.elementCount <= elementsMax
    )
  }

  /** Writes the tape of the part that was found last. */
  private copy(part: Shape): void {
    const { markup, known } = this
    const { nodes, attributes } = markup.tape
    const node = nodes.count
    const attribute = attributes.count
    nodes.reserve(part.scanned.endNode, markup.source, known.end)
    attributes.reserve(part.attributeCount, markup.source, known.end)
    part.copyTo(
      { nodes: nodes.ints, attributes: attributes.ints },
      node,
      attribute,
      markup.namespaces.defaultId,
      known.starts,
      known.textFlags,
    )
    nodes.count += part.scanned.endNode
    attributes.count += part.attributeCount
    markup.elements += part.scanned.elementCount
    this.shapes.push(part)
    this.places.push(node, attribute)
  }

  /** Remembers the element that has just ended, and goes on with {@link repeated}. */
  private remember(end: number): number {
    const begin = this.begins.pop() as Begin
    this.markup.pause = this.begins.at(-1)?.depth ?? 0
    const { known } = this
    const { ints, count } = this.markup.tape.nodes
    const bytes = end - begin.at
    if (
      bytes <= partBytesMax &&
      this.isPlain(begin) &&
      known.wants(structureOf(ints, begin.node, count), bytes)
    ) {
      this.learned++
      known.learn(this.sample(begin, end), begin.at)
    }
    return this.repeated(end)
  }

  /** Whether the element's meaning follows from its bytes and the default namespace alone. */
  private isPlain(begin: Begin): boolean {
    const { source, tape, names, elements } = this.markup
    const { nodes, attributes } = tape
    // Comparing a single text is no faster. And an element that holds known parts seldom holds as many next time.
    if (elements - begin.elements < 2 || this.shapes.length > begin.parts) return false
    for (let at = begin.node * nodeStride; at < nodes.count * nodeStride; at += nodeStride) {
      if (!isElement(nodes.ints[at] as number)) continue
      if (!names.isKnown(nodes.ints[at + nodeName] as number)) return false
      let end = (nodes.ints[at + nodeStart] as number) + 1
      while (isInName(source.buffer[end])) end++
      if (source.buffer[end] === colon) return false
    }
    for (let i = begin.attribute; i < attributes.count; i++) {
      const flags = attributes.ints[i * attributeStride + attributeFlags] as number
      if ((flags & ~valueNeedsDecoding) !== 0) return false
    }
    return true
  }

  /** The element that has just ended. */
  private sample(begin: Begin, end: number): Sample {
    const { at, node: first, attribute, elements } = begin
    const { markup } = this
    const { tape } = markup
    const nodes = tape.nodes.ints.slice(first * nodeStride, tape.nodes.count * nodeStride)
    const shift = (record: number, int: number, by: number): void => {
      nodes[record + int] = (nodes[record + int] as number) - by
    }
    for (let record = 0; record < nodes.length; record += nodeStride) {
      const flags = nodes[record] as number
      const hasAttributes = isElement(flags) && attributeCountOf(flags) > 0
      shift(record, nodeStart, at)
      shift(record, nodeContent, hasAttributes ? attribute : at)
      shift(record, nodeEnd, at)
      shift(record, nodeNext, first)
    }
    const attributes = tape.attributes.ints
      .slice(attribute * attributeStride, tape.attributes.count * attributeStride)
      .map((value, i) => (i % attributeStride === attributeFlags ? value : value - at))
    const scanned = {
      nodes,
      attributes,
      root: 0,
      firstNode: 0,
      endNode: tape.nodes.count - first,
      elementCount: markup.elements - elements,
      namespaces: markup.namespaces.uris,
    }
    return { bytes: markup.source.buffer.slice(at, end), scanned }
  }
}
