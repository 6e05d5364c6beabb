import { AttributeReader, predefinedEnd } from './attributes.ts'
import { classOf, plainSpace, space, valueStop } from './characters.ts'
import {
  absent,
  beyondAscii,
  cdata,
  comment,
  needsDecoding,
  nodeContent,
  nodeEnd,
  nodeKind,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  textKind,
  whitespaceOnly,
} from './document.ts'
import type { XmlLimits } from './limits.ts'
import type { XmlNative } from './scanner.ts'
import { Source } from './source.ts'
import { grown } from './vocabulary.ts'

const lt = 0x3c
const gt = 0x3e
const amp = 0x26
const dash = 0x2d
const bracket = 0x5d

/** Nodes of one array. Documents share it, one behind the other, until it is full: that spares allocations. */
const arrayNodes = 8192
/** A document starts in a new array when fewer nodes than this are left. */
const arrayNodesLeftMin = 1024
/** An array grows by these factors, as the bytes still to come suggest. */
const growthMin = 1.25
const growthMax = 8
/** A larger array is kept for further documents up to this size. */
const keepNodesMax = 65_536

/** The tape that a scan writes, and the nodes that have nothing beneath them: text, CDATA, comments. */
export class Tape extends Source {
  readonly attributes: AttributeReader
  readonly reuse: boolean
  nodes = new Int32Array(arrayNodes * nodeStride)
  /** The node that comes next; nodes before the document's first belong to earlier documents. */
  count = 0
  /** Flags of the last run of plain text. */
  textFlags = textKind

  constructor(limits: XmlLimits, native: XmlNative, reuse: boolean) {
    super(limits, native)
    this.reuse = reuse
    this.attributes = new AttributeReader(limits, reuse)
  }

  /** Makes room for a new document behind the earlier ones. */
  rewind(): void {
    if (this.reuse) this.count = 0
    const size = this.nodes.length / nodeStride
    const sizeMax = this.reuse ? keepNodesMax : arrayNodes
    if (size - this.count < arrayNodesLeftMin || size > sizeMax) {
      this.nodes = new Int32Array(arrayNodes * nodeStride)
      this.count = 0
    }
    this.attributes.reset()
  }

  /** The nodes that the document keeps: one that has an array of its own keeps no more than it fills. */
  takenNodes(): Int32Array {
    const isOwn = this.nodes.length > arrayNodes * nodeStride
    return isOwn && !this.reuse ? this.nodes.slice(0, this.count * nodeStride) : this.nodes
  }

  node(kind: number, start: number): number {
    const node = this.count++
    const record = node * nodeStride
    if (record + nodeStride > this.nodes.length) this.enlarge(record, start)
    this.nodes[record + nodeKind] = kind
    this.nodes[record + nodeStart] = start
    return node
  }

  /** Makes room for so many more nodes, the first of which stands at `start`. */
  reserve(count: number, start: number): void {
    const needed = (this.count + count) * nodeStride
    while (this.nodes.length < needed) this.enlarge(this.nodes.length, start)
  }

  /** Room for what the rest of the document holds if it goes on as it began: seldom a second time. */
  enlarge(ints: number, at: number): void {
    const whole = ((ints * this.length) / at) * 1.05
    this.nodes = grown(this.nodes, Math.ceil(Math.min(ints * growthMax, whole)), growthMin)
  }

  endLeaf(node: number, content: number, end: number): void {
    const record = node * nodeStride
    this.nodes[record + nodeName] = -1
    this.nodes[record + nodeContent] = content
    this.nodes[record + nodeEnd] = end
    this.nodes[record + nodeNext] = node + 1
  }

  /** The end of a run of plain text within the limit, or -1 where it holds anything else. */
  plainText(from: number): number {
    const b = this.buffer
    let at = from
    if ((b[at] as number) <= 0x20) {
      while ((classOf[b[at] as number] as number) & plainSpace) at++
      if (b[at] === lt) {
        this.textFlags = textKind | whitespaceOnly
        return at - from > this.limits.textBytesMax ? -1 : at
      }
    }
    const end = this.plain(at)
    this.textFlags = (this.runHigh & 0x80808080) === 0 ? textKind : textKind | beyondAscii
    return b[end] !== lt || end - from > this.limits.textBytesMax ? -1 : end
  }

  text(from: number): number {
    const b = this.buffer
    let at = from
    let flags = textKind | whitespaceOnly
    while ((classOf[b[at] as number] as number) & space) {
      if (b[at] === 0x0d) flags |= needsDecoding
      at++
    }
    if (b[at] !== lt) {
      flags &= ~whitespaceOnly
      for (;;) {
        at = this.plain(at)
        if ((this.runHigh & 0x80808080) !== 0) flags |= beyondAscii
        const byte = b[at] as number
        if (byte === lt) break
        if (byte === amp) {
          at = this.attributes.reference(b, at, this.length)
          flags |= needsDecoding
        } else if (byte === 0x0d) {
          flags |= needsDecoding
          at++
        } else if (byte === gt) {
          // Before a text stands the '>' of a tag or the like, never a bracket.
          if (b[at - 1] === bracket && b[at - 2] === bracket) {
            throw this.error('cdata_end_in_text', at - 2)
          }
          at++
        } else throw this.error('character_forbidden', at)
      }
    }
    this.checkTextLength(from, at)
    const node = this.node(flags, from)
    this.endLeaf(node, from, at)
    return at
  }

  /**
   * The end of text that is not white space alone and ends with a tag or the like; its flags are left in
   * {@link textFlags}. {@link ABSENT} where it takes more than a look to know that.
   */
  valueText(from: number): number {
    const b = this.buffer
    let at = this.plain(from)
    let flags = (this.runHigh & 0x80808080) === 0 ? textKind : textKind | beyondAscii
    while (b[at] === amp) {
      const end = predefinedEnd(b, at)
      if (end === absent) return absent
      at = this.plain(end)
      flags |= needsDecoding
      if ((this.runHigh & 0x80808080) !== 0) flags |= beyondAscii
    }
    this.textFlags = flags
    return b[at] === lt ? at : absent
  }

  /** The end of an attribute value that is its bytes, all of them ASCII; else {@link ABSENT}. */
  valueOfAttribute(from: number, quote: number): number {
    const b = this.buffer
    let at = from
    let byte = b[at] as number
    while (byte < 0x80 && ((classOf[byte] as number) & valueStop) === 0) byte = b[++at] as number
    return byte === quote ? at : absent
  }

  comment(from: number): number {
    const b = this.buffer
    if (b[from + 3] !== dash) throw this.error('comment_invalid', from)
    const close = this.find(from + 4, dash, dash)
    if (b[close + 2] !== gt) throw this.error('comment_invalid', close)
    this.checkTextLength(from + 4, close)
    const node = this.node(comment, from)
    this.endLeaf(node, from + 4, close + 3)
    return close + 3
  }

  cdata(from: number): number {
    const b = this.buffer
    const opening = '<![CDATA['
    for (let i = 3; i < opening.length; i++) {
      if (b[from + i] !== opening.charCodeAt(i)) throw this.error('cdata_invalid', from)
    }
    let close = this.find(from + 9, bracket, bracket)
    while (b[close + 2] !== gt) close = this.find(close + 1, bracket, bracket)
    this.checkTextLength(from + 9, close)
    const node = this.node(cdata, from)
    this.endLeaf(node, from + 9, close + 3)
    return close + 3
  }
}
