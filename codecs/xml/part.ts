import {
  attributeCountOf,
  attributeStride,
  elementKind,
  kindMask,
  namespaceShift,
  nodeContent,
  nodeNext,
  nodeStride,
  type XmlDocument,
} from './document.ts'
import { noNode, type Offsets, type Sample, Shape, type Value } from './shape.ts'

const belowNamespace = (1 << namespaceShift) - 1

/** The shape of one element and all in it, of which a document has many; its tape is copied into theirs. */
export class Part extends Shape {
  /** Of elements within one another, itself counted. */
  readonly depth: number
  readonly attributeCount: number
  private namespace: number
  /** First ints of the elements. */
  private readonly elementPlaces: Int32Array
  /** Where the tape has the index of an attribute. */
  private readonly attributePlaces: Int32Array

  constructor(document: XmlDocument, sample: Sample, values: readonly Value[]) {
    super(document, sample, values)
    const { nodes } = this
    const places = Array.from({ length: this.endNode }, (_, node) => node * nodeStride)
    const elements = places.filter((at) => ((nodes[at] as number) & kindMask) === elementKind)
    this.namespace = (nodes[0] as number) >>> namespaceShift
    this.depth = depthOf(nodes, elements)
    this.attributeCount = this.attributes.length / attributeStride
    this.elementPlaces = Int32Array.from(elements)
    this.attributePlaces = Int32Array.from(
      elements.filter((at) => attributeCountOf(nodes[at] as number) > 0),
      (at) => at + nodeContent,
    )
  }

  /**
   * Writes the nodes and the attributes from the places given on, where there is room for them.
   *
   * @param namespace that of the elements
   * @param starts offsets in the document at which the stretches begin
   */
  copyTo(
    nodes: Int32Array,
    node: number,
    attributes: Int32Array,
    attribute: number,
    namespace: number,
    starts: Int32Array,
    textFlags: Int32Array,
  ): void {
    if (namespace !== this.namespace) this.moveToNamespace(namespace)
    const { textPlaces, attributePlaces } = this
    const first = node * nodeStride
    const end = first + this.nodes.length
    nodes.set(this.nodes, first)
    place(nodes, first, this.nodeOffsets, starts)
    for (let at = first + nodeNext; at < end; at += nodeStride) {
      nodes[at] = (nodes[at] as number) + node
    }
    for (let i = 0; i < textPlaces.length; i++) {
      const at = textPlaces[i] as number
      if (at !== noNode) nodes[first + at] = textFlags[i] as number
    }
    if (attributePlaces.length === 0) return
    for (let i = 0; i < attributePlaces.length; i++) {
      const at = first + (attributePlaces[i] as number)
      nodes[at] = (nodes[at] as number) + attribute
    }
    const firstRecord = attribute * attributeStride
    attributes.set(this.attributes, firstRecord)
    place(attributes, firstRecord, this.attributeOffsets, starts)
  }

  private moveToNamespace(namespace: number): void {
    const { nodes } = this
    for (const at of this.elementPlaces) {
      nodes[at] = ((nodes[at] as number) & belowNamespace) | (namespace << namespaceShift)
    }
    this.namespace = namespace
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

const depthOf = (nodes: Int32Array, elements: readonly number[]): number => {
  const ends: number[] = []
  let depth = 0
  for (const at of elements) {
    while (ends.length > 0 && at >= (ends.at(-1) as number)) ends.pop()
    depth = Math.max(depth, ends.push((nodes[at + nodeNext] as number) * nodeStride))
  }
  return depth
}
