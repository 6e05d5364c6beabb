import {
  attributeCountOf,
  attributeNamespace,
  attributeStride,
  elementKind,
  kindMask,
  nodeContent,
  nodeEnd,
  nodeStart,
  nodeStride,
  type XmlDocument,
  type XmlShape,
} from './document.ts'

/** What may differ between documents whose markup is the same. */
export type Value = {
  /** Otherwise an attribute's. */
  readonly isText: boolean
  /** Of its node, or of its attribute. */
  readonly index: number
  readonly start: number
  readonly end: number
}

/** A document, and all that may be values in it. */
export type Sample = { readonly bytes: Uint8Array; readonly candidates: readonly Value[] }

/** Of one value that is no text. */
export const noNode = -1

/**
 * What documents share that are the same around values of their own, and the tape of the last one of them. Offsets
 * in a tape move with the stretch between two values that they point into; all else in it is the same for all.
 */
export class Shape implements XmlShape {
  readonly variableTexts: Int32Array
  readonly variableAttributes: Int32Array
  /** The document that it was learned from. */
  readonly sample: Sample
  readonly values: readonly Value[]
  readonly nodes: Int32Array
  readonly attributes: Int32Array
  readonly namespaces: readonly string[]
  readonly root: number
  readonly endNode: number
  readonly elementCount: number
  /** By value: the first int of the text's node. */
  protected readonly textPlaces: Int32Array
  protected readonly nodeOffsets: Offsets
  protected readonly attributeOffsets: Offsets

  /** @param values those of the sample that are its own */
  constructor(document: XmlDocument, sample: Sample, values: readonly Value[]) {
    const starts = [0, ...values.map(({ end }) => end)]
    this.sample = sample
    this.values = values
    this.nodes = document.nodes.slice(0, document.endNode * nodeStride)
    this.attributes = document.attributes.slice(0, attributeTotal(document) * attributeStride)
    this.namespaces = document.namespaces
    this.root = document.root
    this.endNode = document.endNode
    this.elementCount = document.elementCount
    const indexes = (ofTexts: boolean) =>
      Int32Array.from(
        values.filter(({ isText }) => isText === ofTexts),
        ({ index }) => index,
      )
    this.variableTexts = indexes(true)
    this.variableAttributes = indexes(false)
    this.textPlaces = Int32Array.from(values, ({ isText, index }) =>
      isText ? index * nodeStride : noNode,
    )
    this.nodeOffsets = offsetsOf(this.nodes, offsetsInNodes(this.nodes), starts)
    const inAttributes = this.attributes.keys().filter(isOffsetOfAttribute)
    this.attributeOffsets = offsetsOf(this.attributes, [...inAttributes], starts)
  }

  /** Makes the tape that of the document whose stretches begin at `starts`, its texts flagged so. */
  moveTo(starts: Int32Array, textFlags: Int32Array): void {
    const { nodes, textPlaces } = this
    move(nodes, this.nodeOffsets, starts)
    move(this.attributes, this.attributeOffsets, starts)
    for (let i = 0; i < textPlaces.length; i++) {
      const place = textPlaces[i] as number
      if (place !== noNode) nodes[place] = textFlags[i] as number
    }
  }
}

/** By stretch between two values, the places of a tape that point into it. */
export type Offsets = {
  /** Place, and how far behind the start of the stretch it points; two ints each. */
  readonly places: Int32Array
  /** By stretch: where its places end. */
  readonly ends: Int32Array
  /** By stretch: where it began in the last document. */
  readonly starts: Int32Array
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

/** The index of the last of ascending numbers that is not above a value, the first of them being not. */
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

const offsetsInNodes = (nodes: Int32Array): readonly number[] => {
  const places: number[] = []
  for (let at = 0; at < nodes.length; at += nodeStride) {
    const kind = nodes[at] as number
    const isElement = (kind & kindMask) === elementKind
    places.push(at + nodeStart, at + nodeEnd)
    // That of an element with attributes is the index of the first.
    if (!isElement || attributeCountOf(kind) === 0) places.push(at + nodeContent)
  }
  return places
}

const isOffsetOfAttribute = (place: number): boolean =>
  place % attributeStride !== attributeNamespace

const attributeTotal = ({ nodes, firstNode, endNode }: XmlDocument): number => {
  let total = 0
  for (let node = firstNode; node < endNode; node++) {
    const kind = nodes[node * nodeStride] as number
    if ((kind & kindMask) === elementKind) total += attributeCountOf(kind)
  }
  return total
}
