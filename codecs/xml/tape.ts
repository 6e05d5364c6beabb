import { AttributeReader, predefinedEnd } from './attributes.ts'
import { classOf, PLAIN_SPACE, SPACE, VALUE_STOP } from './characters.ts'
import {
  ABSENT,
  BEYOND_ASCII,
  CDATA,
  COMMENT,
  NEEDS_DECODING,
  NODE_CONTENT,
  NODE_END,
  NODE_KIND,
  NODE_NAME,
  NODE_NEXT,
  NODE_START,
  NODE_STRIDE,
  TEXT,
  WHITESPACE_ONLY,
} from './document.ts'
import type { XmlLimits } from './limits.ts'
import type { XmlNative } from './scanner.ts'
import { Source } from './source.ts'
import { grown } from './vocabulary.ts'

const LT = 0x3c
const GT = 0x3e
const AMP = 0x26
const DASH = 0x2d
const BRACKET = 0x5d

/** Nodes of one array. Documents share it, one behind the other, until it is full: that spares allocations. */
const ARRAY_NODES = 8192
/** A document starts in a new array when fewer nodes than this are left. */
const ARRAY_NODES_LEFT_MIN = 1024
/** An array grows by these factors, as the bytes still to come suggest. */
const GROWTH_MIN = 1.25
const GROWTH_MAX = 8
/** A larger array is kept for further documents up to this size. */
const KEEP_NODES_MAX = 65_536

/** The tape that a scan writes, and the nodes that have nothing beneath them: text, CDATA, comments. */
export class Tape extends Source {
  readonly attributes: AttributeReader
  readonly reuse: boolean
  nodes = new Int32Array(ARRAY_NODES * NODE_STRIDE)
  /** The node that comes next; nodes before the document's first belong to earlier documents. */
  count = 0
  /** Flags of the last run of plain text. */
  textFlags = TEXT

  constructor(limits: XmlLimits, native: XmlNative, reuse: boolean) {
    super(limits, native)
    this.reuse = reuse
    this.attributes = new AttributeReader(limits, reuse)
  }

  /** Makes room for a new document behind the earlier ones. */
  rewind(): void {
    if (this.reuse) this.count = 0
    const size = this.nodes.length / NODE_STRIDE
    const sizeMax = this.reuse ? KEEP_NODES_MAX : ARRAY_NODES
    if (size - this.count < ARRAY_NODES_LEFT_MIN || size > sizeMax) {
      this.nodes = new Int32Array(ARRAY_NODES * NODE_STRIDE)
      this.count = 0
    }
    this.attributes.reset()
  }

  /** The nodes that the document keeps: one that has an array of its own keeps no more than it fills. */
  takenNodes(): Int32Array {
    const isOwn = this.nodes.length > ARRAY_NODES * NODE_STRIDE
    return isOwn && !this.reuse ? this.nodes.slice(0, this.count * NODE_STRIDE) : this.nodes
  }

  node(kind: number, start: number): number {
    const node = this.count++
    const record = node * NODE_STRIDE
    if (record + NODE_STRIDE > this.nodes.length) this.enlarge(record, start)
    this.nodes[record + NODE_KIND] = kind
    this.nodes[record + NODE_START] = start
    return node
  }

  /** Makes room for so many more nodes, the first of which stands at `start`. */
  reserve(count: number, start: number): void {
    const needed = (this.count + count) * NODE_STRIDE
    while (this.nodes.length < needed) this.enlarge(this.nodes.length, start)
  }

  /** Room for what the rest of the document holds if it goes on as it began: seldom a second time. */
  enlarge(ints: number, at: number): void {
    const whole = ((ints * this.length) / at) * 1.05
    this.nodes = grown(this.nodes, Math.ceil(Math.min(ints * GROWTH_MAX, whole)), GROWTH_MIN)
  }

  endLeaf(node: number, content: number, end: number): void {
    const record = node * NODE_STRIDE
    this.nodes[record + NODE_NAME] = -1
    this.nodes[record + NODE_CONTENT] = content
    this.nodes[record + NODE_END] = end
    this.nodes[record + NODE_NEXT] = node + 1
  }

  /** The end of a run of plain text within the limit, or -1 where it holds anything else. */
  plainText(from: number): number {
    const b = this.buffer
    let at = from
    if ((b[at] as number) <= 0x20) {
      while ((classOf[b[at] as number] as number) & PLAIN_SPACE) at++
      if (b[at] === LT) {
        this.textFlags = TEXT | WHITESPACE_ONLY
        return at - from > this.limits.textBytesMax ? -1 : at
      }
    }
    const end = this.plain(at)
    this.textFlags = (this.runHigh & 0x80808080) === 0 ? TEXT : TEXT | BEYOND_ASCII
    return b[end] !== LT || end - from > this.limits.textBytesMax ? -1 : end
  }

  text(from: number): number {
    const b = this.buffer
    let at = from
    let flags = TEXT | WHITESPACE_ONLY
    while ((classOf[b[at] as number] as number) & SPACE) {
      if (b[at] === 0x0d) flags |= NEEDS_DECODING
      at++
    }
    if (b[at] !== LT) {
      flags &= ~WHITESPACE_ONLY
      for (;;) {
        at = this.plain(at)
        if ((this.runHigh & 0x80808080) !== 0) flags |= BEYOND_ASCII
        const byte = b[at] as number
        if (byte === LT) break
        if (byte === AMP) {
          at = this.attributes.reference(b, at, this.length)
          flags |= NEEDS_DECODING
        } else if (byte === 0x0d) {
          flags |= NEEDS_DECODING
          at++
        } else if (byte === GT) {
          // Before a text stands the '>' of a tag or the like, never a bracket.
          if (b[at - 1] === BRACKET && b[at - 2] === BRACKET) {
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
    let flags = (this.runHigh & 0x80808080) === 0 ? TEXT : TEXT | BEYOND_ASCII
    while (b[at] === AMP) {
      const end = predefinedEnd(b, at)
      if (end === ABSENT) return ABSENT
      at = this.plain(end)
      flags |= NEEDS_DECODING
      if ((this.runHigh & 0x80808080) !== 0) flags |= BEYOND_ASCII
    }
    this.textFlags = flags
    return b[at] === LT ? at : ABSENT
  }

  /** The end of an attribute value that is its bytes, all of them ASCII; else {@link ABSENT}. */
  valueOfAttribute(from: number, quote: number): number {
    const b = this.buffer
    let at = from
    let byte = b[at] as number
    while (byte < 0x80 && ((classOf[byte] as number) & VALUE_STOP) === 0) byte = b[++at] as number
    return byte === quote ? at : ABSENT
  }

  comment(from: number): number {
    const b = this.buffer
    if (b[from + 3] !== DASH) throw this.error('comment_invalid', from)
    const close = this.find(from + 4, DASH, DASH)
    if (b[close + 2] !== GT) throw this.error('comment_invalid', close)
    this.checkTextLength(from + 4, close)
    const node = this.node(COMMENT, from)
    this.endLeaf(node, from + 4, close + 3)
    return close + 3
  }

  cdata(from: number): number {
    const b = this.buffer
    const opening = '<![CDATA['
    for (let i = 3; i < opening.length; i++) {
      if (b[from + i] !== opening.charCodeAt(i)) throw this.error('cdata_invalid', from)
    }
    let close = this.find(from + 9, BRACKET, BRACKET)
    while (b[close + 2] !== GT) close = this.find(close + 1, BRACKET, BRACKET)
    this.checkTextLength(from + 9, close)
    const node = this.node(CDATA, from)
    this.endLeaf(node, from + 9, close + 3)
    return close + 3
  }
}
