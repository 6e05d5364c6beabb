import type { XmlShape } from './document.ts'
import {
  attributeCountOf,
  attributeFlags,
  attributeStride,
  elementFlags,
  isElement,
  namespaceOf,
  nodeContent,
  nodeEnd,
  nodeNext,
  nodeStart,
  nodeStride,
  type Scanned,
} from './layout.ts'

/** A value that may differ between documents with the same markup. */
export type Value = {
  /** False for the value of an attribute. */
  readonly isText: boolean
  /** The index of its node, or of its attribute. */
  readonly index: number
  readonly start: number
  readonly end: number
}

/** A document, or a part of one with offsets, nodes and attributes counted from its own first. */
export type Sample = { readonly bytes: Uint8Array; readonly scanned: Scanned }

/** For each stretch between two values: the ints of a tape that point into the stretch. */
type Offsets = {
  /** Two numbers for each: the index of the int, and how far behind the start of the stretch it points. */
  readonly places: Int32Array
  /** By stretch: where its places end. */
  readonly ends: Int32Array
  /** By stretch: where it began in the last document. */
  readonly starts: Int32Array
}

/** The place of a value that is not a text. */
const noPlace = -1

/**
 * The common part of documents, or parts, that differ only in their values, with a tape. Each offset in a tape moves
 * with the stretch between two values that it points into; the rest is the same for all.
 */
export class Shape implements XmlShape {
  readonly variableTexts: Int32Array
  readonly variableAttributes: Int32Array
  readonly notes = new Map<unknown, unknown>()
  /** The document that the shape was learned from: its bytes, all that may be values in it, and those that are. */
  readonly bytes: Uint8Array
  readonly candidates: readonly Value[]
  readonly values: readonly Value[]
  /** The scan of the last document that had this shape. */
  readonly scanned: Scanned
  readonly attributeCount: number
  /** How many elements stand within one another. */
  readonly depth: number
  private namespace: number
  /** The elements' first ints, and those of them that have attributes. */
  private readonly elements: readonly number[]
  private readonly attributed: readonly number[]
  /** By value: the first int of the text's node. */
  private readonly textPlaces: Int32Array
  private readonly nodeOffsets: Offsets
  private readonly attributeOffsets: Offsets

  constructor({ bytes, scanned }: Sample, candidates: readonly Value[], values: readonly Value[]) {
    const starts = [0, ...values.map(({ end }) => end)]
    const indexes = (ofTexts: boolean) =>
      Int32Array.from(
        values.filter(({ isText }) => isText === ofTexts),
        ({ index }) => index,
      )
    const nodes = scanned.nodes.slice(0, scanned.endNode * nodeStride)
    const countAt = (at: number) => attributeCountOf(nodes[at] as number)
    this.elements = Array.from({ length: scanned.endNode }, (_, node) => node * nodeStride).filter(
      (at) => isElement(nodes[at] as number),
    )
    this.attributed = this.elements.filter((at) => countAt(at) > 0)
    this.attributeCount = this.attributed.reduce((count, at) => count + countAt(at), 0)
    const attributes = scanned.attributes.slice(0, this.attributeCount * attributeStride)
    this.bytes = bytes.slice()
    this.candidates = candidates
    this.values = values
    this.scanned = { ...scanned, nodes, attributes }
    this.variableTexts = indexes(true)
    this.variableAttributes = indexes(false)
    this.depth = depthOf(nodes, this.elements)
    this.namespace = namespaceOf(nodes[scanned.root * nodeStride] as number)
    this.textPlaces = Int32Array.from(values, ({ isText, index }) =>
      isText ? index * nodeStride : noPlace,
    )
    this.nodeOffsets = offsetsOf(nodes, offsetsInNodes(nodes), starts)
    const inAttributes = attributes.keys().filter((at) => at % attributeStride !== attributeFlags)
    this.attributeOffsets = offsetsOf(attributes, [...inAttributes], starts)
  }

  /** Changes the tape into that of the document whose stretches begin at `starts` and whose texts have these flags. */
  moveTo(starts: Int32Array, textFlags: Int32Array): void {
    const { nodes, attributes } = this.scanned
    move(nodes, this.nodeOffsets, starts)
    move(attributes, this.attributeOffsets, starts)
    this.flagTexts(nodes, 0, textFlags)
  }

  /**
   * Appends the tape of a part of this shape to the document's tape, which must have room for it.
   *
   * @param node the first of its nodes, @param attribute the first of its attributes
   * @param namespace that of its elements
   * @param starts offsets in the document at which the stretches begin
   */
  copyTo(
    into: { readonly nodes: Int32Array; readonly attributes: Int32Array },
    node: number,
    attribute: number,
    namespace: number,
    starts: Int32Array,
    textFlags: Int32Array,
  ): void {
    if (namespace !== this.namespace) this.moveToNamespace(namespace)
    const own = this.scanned
    const { nodes, attributes } = into
    const first = node * nodeStride
    const end = first + own.nodes.length
    nodes.set(own.nodes, first)
    place(nodes, first, this.nodeOffsets, starts)
    for (let at = first + nodeNext; at < end; at += nodeStride) {
      nodes[at] = (nodes[at] as number) + node
    }
    this.flagTexts(nodes, first, textFlags)
    if (this.attributeCount === 0) return
    for (const at of this.attributed) {
      nodes[first + at + nodeContent] = (own.nodes[at + nodeContent] as number) + attribute
    }
    attributes.set(own.attributes, attribute * attributeStride)
    place(attributes, attribute * attributeStride, this.attributeOffsets, starts)
  }

  private flagTexts(nodes: Int32Array, first: number, textFlags: Int32Array): void {
    const { textPlaces } = this
    for (let i = 0; i < textPlaces.length; i++) {
      const at = textPlaces[i] as number
      if (at !== noPlace) nodes[first + at] = textFlags[i] as number
    }
  }

  private moveToNamespace(namespace: number): void {
    const { nodes } = this.scanned
    for (const at of this.elements) {
      nodes[at] = elementFlags(attributeCountOf(nodes[at] as number), namespace)
    }
    this.namespace = namespace
  }
}

const offsetsOf = (
  tape: Int32Array,
  all: readonly number[],
  starts: readonly number[],
): Offsets => {
  const inStretch: number[][] = starts.map(() => [])
  for (const place of all) {
    const offset = tape[place] as number
    const stretch = lastNotAbove(starts, offset)
    inStretch[stretch]?.push(place, offset - (starts[stretch] as number))
  }
  let end = 0
  return {
    places: Int32Array.from(inStretch.flat()),
    ends: Int32Array.from(inStretch, ({ length }) => (end += length)),
    starts: Int32Array.from(starts),
  }
}

/** The index of the last of these ascending numbers that is at most `value`; the first of them always is. */
const lastNotAbove = (ascending: readonly number[], value: number): number => {
  let low = 0
  let high = ascending.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((ascending[middle] as number) <= value) low = middle
    else high = middle - 1
  }
  return low
}

const move = (tape: Int32Array, offsets: Offsets, starts: Int32Array): void => {
  const { places, ends, starts: last } = offsets
  let at = 0
  for (let i = 0; i < ends.length; i++) {
    const start = starts[i] as number
    const end = ends[i] as number
    // Much of a message is of fixed length.
    if (start !== last[i]) {
      last[i] = start
      for (; at < end; at += 2) tape[places[at] as number] = start + (places[at + 1] as number)
    }
    at = end
  }
}

const place = (tape: Int32Array, first: number, offsets: Offsets, starts: Int32Array): void => {
  const { places, ends } = offsets
  let at = 0
  for (let i = 0; i < ends.length; i++) {
    const start = starts[i] as number
    const end = ends[i] as number
    for (; at < end; at += 2) {
      tape[first + (places[at] as number)] = start + (places[at + 1] as number)
    }
  }
}

const offsetsInNodes = (nodes: Int32Array): readonly number[] => {
  const places: number[] = []
  for (let at = 0; at < nodes.length; at += nodeStride) {
    const flags = nodes[at] as number
    places.push(at + nodeStart, at + nodeEnd)
    // The content of an element with attributes is the index of the first.
    if (!isElement(flags) || attributeCountOf(flags) === 0) places.push(at + nodeContent)
  }
  return places
}

const depthOf = (nodes: Int32Array, elements: readonly number[]): number => {
  const ends: number[] = []
  let depth = 0
  for (const at of elements) {
    while (ends.length > 0 && at >= (ends.at(-1) as number)) ends.pop()
    depth = Math.max(depth, ends.push((nodes[at + nodeNext] as number) * nodeStride))
  }
  return depth
}
