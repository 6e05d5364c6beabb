import { AttributeReader } from './attributes.ts'
import { cdataOpen, isInName, isSpace, startsName } from './characters.ts'
import {
  absent,
  elementFlags,
  needsDecoding,
  nodeContent,
  nodeEnd,
  nodeFlags,
  nodeKind,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  whiteSpaceOnly,
} from './layout.ts'
import { Namespaces } from './namespaces.ts'
import type { Source } from './source.ts'
import { startsWith } from './stretch.ts'
import type { Tape } from './tape.ts'
import { NameTable, type XmlVocabulary } from './vocabulary.ts'

const lt = 0x3c
const gt = 0x3e
const slash = 0x2f
const bang = 0x21
const question = 0x3f
const colon = 0x3a
const dash = 0x2d
const amp = 0x26
const openBracket = 0x5b
const closeBracket = 0x5d
const carriageReturn = 0x0d

/**
 * Known elements are looked for behind one where the element around it holds so many times its bytes: in a short row
 * that costs more than it spares.
 */
export const rowMin = 8

/** More bytes than any element has, yet a small integer, which is fast to compare with. */
const never = 0x3fffffff

/** The scan proper: checks the elements of a document and all in them, and writes their tape. */
export class Markup {
  readonly source: Source
  readonly tape: Tape
  readonly names: NameTable
  readonly namespaces = new Namespaces()
  private readonly attributes: AttributeReader
  /** Elements so far, and how many are open. */
  elements = 0
  depth = 0
  /** By depth: the open element, and the bytes of its qualified name. */
  private readonly open: Int32Array
  private readonly openNameBytes: Int32Array
  /** {@link usual} stops where an element ends at this depth; 0 means the end of the document. */
  pause = 0
  /** Where {@link usual} stopped behind an element because another of the same name follows. */
  repeatedAt: number = absent
  /** {@link usual} does not stop behind elements of fewer bytes. */
  repeatedBytesMin = never

  constructor(source: Source, tape: Tape, vocabulary: XmlVocabulary) {
    const levels = source.limits.depthMax + 1
    this.source = source
    this.tape = tape
    this.names = new NameTable(vocabulary)
    this.attributes = new AttributeReader(source, tape.attributes, this.namespaces)
    this.open = new Int32Array(levels)
    this.openNameBytes = new Int32Array(levels)
  }

  /** Forgets the last document. */
  rewind(): void {
    this.elements = 0
    this.depth = 0
    this.pause = 0
    this.repeatedAt = absent
    this.names.reset()
    this.namespaces.reset()
  }

  /** Whether {@link usual} stopped here so that remembered elements can be tried. */
  hasStopped(at: number): boolean {
    return this.depth === this.pause || at === this.repeatedAt
  }

  /** The element that has just ended. */
  get closedNode(): number {
    return this.open[this.depth + 1] as number
  }

  /**
   * Goes on while everything is as it is written nearly always: start tags of names of the vocabulary, without
   * attributes and in the default namespace or that of the prefix used last; plain text; end tags. State is in local
   * variables only; at anything else it is written back, and {@link next} takes over. This loop is where the time of a
   * scan goes.
   */
  usual(from: number): number {
    const { source, tape, namespaces, open, openNameBytes, pause, repeatedBytesMin } = this
    const { buffer: b, view } = source
    const { index } = this.names
    const { innermost, defaultId, lastAt, lastBytes, lastId } = namespaces
    const { depthMax, elementsMax, nameBytesMax } = source.limits
    const nodes = tape.nodes.ints
    const room = Math.min(
      nodes.length / nodeStride - 1,
      tape.nodes.count + elementsMax - this.elements,
    )
    let at = from
    let { depth, elements } = this
    let { count } = tape.nodes
    while (count < room) {
      const record = count * nodeStride
      if (b[at] !== lt) {
        const end = source.plainText(at)
        if (end === absent) break
        nodes[record] = source.textFlags
        nodes[record + nodeName] = absent
        nodes[record + nodeStart] = at
        nodes[record + nodeContent] = at
        nodes[record + nodeEnd] = end
        nodes[record + nodeNext] = ++count
        at = end
      } else if (b[at + 1] === slash) {
        const bytes = openNameBytes[depth] as number
        const opened = (open[depth] as number) * nodeStride
        const start = nodes[opened + nodeStart] as number
        if (depth === innermost || !source.sameBytes(at + 2, start + 1, bytes)) break
        let after = at + 2 + bytes
        while (isSpace(b[after])) after++
        if (b[after] !== gt) break
        at = after + 1
        nodes[opened + nodeEnd] = at
        nodes[opened + nodeNext] = count
        if (--depth === pause) break
        const around = nodes[(open[depth] as number) * nodeStride + nodeStart] as number
        const isInRow = at - around >= rowMin * (at - start)
        if (at - start >= repeatedBytesMin && isInRow && this.isRepeated(at, start, bytes)) break
      } else {
        let local = at + 1
        let namespace = defaultId
        const hasPrefix = lastBytes > 0 && b[local + lastBytes] === colon
        if (hasPrefix && source.sameBytes(local, lastAt, lastBytes)) {
          local += lastBytes + 1
          namespace = lastId
        }
        let end = local
        while (isInName(b[end])) end++
        if (b[end] !== gt || depth === depthMax || end - at > nameBytesMax) break
        const name = index.idAt(view, local, end)
        if (name === absent) break
        nodes[record] = elementFlags(0, namespace)
        nodes[record + nodeName] = name
        nodes[record + nodeStart] = at
        nodes[record + nodeContent] = end + 1
        open[++depth] = count++
        elements++
        openNameBytes[depth] = end - at - 1
        at = end + 1
      }
    }
    this.depth = depth
    tape.nodes.count = count
    this.elements = elements
    return at
  }

  /** Whether behind an element comes another whose name is written with the same bytes; {@link repeatedAt} then. */
  private isRepeated(end: number, start: number, nameBytes: number): boolean {
    const { source } = this
    let at = end
    while (isSpace(source.buffer[at])) at++
    if (!source.sameBytes(at, start, nameBytes + 1)) return false
    this.repeatedAt = end
    return true
  }

  /** Reads what stands in an element, whatever it is. */
  next(at: number): number {
    const b = this.source.buffer
    if (b[at] !== lt) return this.text(at)
    const next = b[at + 1] as number
    if (next === slash) return this.endTag(at)
    if (next === question) throw this.source.error('processing_instruction_forbidden', at)
    if (next !== bang) return this.tag(at)
    if (b[at + 2] === dash) return this.comment(at)
    if (b[at + 2] === openBracket) return this.cdata(at)
    throw this.source.declarationError(at)
  }

  text(from: number): number {
    const { source } = this
    const b = source.buffer
    let at = from
    let flags: number = nodeKind.text | whiteSpaceOnly
    for (; isSpace(b[at]); at++) if (b[at] === carriageReturn) flags |= needsDecoding
    if (b[at] !== lt) {
      flags &= ~whiteSpaceOnly
      for (;;) {
        at = source.plain(at)
        flags |= source.runFlags
        const byte = b[at] as number
        if (byte === lt) break
        if (byte === amp) {
          at = source.reference(at)
          flags |= needsDecoding
        } else if (byte === carriageReturn) {
          flags |= needsDecoding
          at++
        } else if (byte === gt) {
          // A text follows the '>' of a tag or similar, never a bracket.
          if (b[at - 1] === closeBracket && b[at - 2] === closeBracket) {
            throw source.error('cdata_end_in_text', at - 2)
          }
          at++
        } else throw source.error('character_forbidden', at)
      }
    }
    return this.leaf(flags, from, from, at, at)
  }

  comment(from: number): number {
    const { source } = this
    const b = source.buffer
    if (b[from + 3] !== dash) throw source.error('comment_invalid', from)
    const close = source.find(from + 4, dash, dash)
    if (b[close + 2] !== gt) throw source.error('comment_invalid', close)
    return this.leaf(nodeKind.comment, from, from + 4, close, close + 3)
  }

  private cdata(from: number): number {
    const { source } = this
    if (!startsWith(source.buffer, from, cdataOpen)) throw source.error('cdata_invalid', from)
    let close = source.find(from + 9, closeBracket, closeBracket)
    while (source.buffer[close + 2] !== gt)
      close = source.find(close + 1, closeBracket, closeBracket)
    return this.leaf(nodeKind.cdata, from, from + 9, close, close + 3)
  }

  /** A node with nothing beneath it; its content is what lies in `[content, contentEnd)`. */
  private leaf(
    flags: number,
    start: number,
    content: number,
    contentEnd: number,
    end: number,
  ): number {
    this.source.checkTextLength(content, contentEnd)
    const node = this.node(flags, start)
    const record = node * nodeStride
    const { ints } = this.tape.nodes
    ints[record + nodeName] = absent
    ints[record + nodeContent] = content
    ints[record + nodeEnd] = end
    ints[record + nodeNext] = node + 1
    return end
  }

  private node(flags: number, start: number): number {
    const { nodes } = this.tape
    nodes.reserve(1, this.source, start)
    const node = nodes.count++
    nodes.ints[node * nodeStride + nodeFlags] = flags
    nodes.ints[node * nodeStride + nodeStart] = start
    return node
  }

  /** A start tag. */
  tag(from: number): number {
    const { source, tape, namespaces } = this
    const b = source.buffer
    let at = from + 1
    if (!startsName(b[at])) throw source.error('markup_invalid', at)
    let local = at
    let high = 0
    for (;;) {
      const byte = b[at] as number
      if (isInName(byte)) {
        high |= byte
        at++
      } else if (byte === colon && local === from + 1) {
        local = ++at
        if (!startsName(b[at])) throw source.error('name_invalid', at)
      } else break
    }
    const nameEnd = at
    source.checkName(from + 1, nameEnd, high)
    const node = this.element(from)
    const first = tape.attributes.count
    if (b[at] !== gt && b[at] !== slash) at = this.attributes.read(at, this.depth)
    const isEmpty = b[at] === slash
    if (isEmpty) at++
    if (b[at] !== gt) throw source.error('markup_invalid', at)
    at++
    const count = tape.attributes.count - first
    const known = this.names.index.idAt(source.view, local, nameEnd)
    const nameId = known === absent ? this.names.idOf(source.string(local, nameEnd)) : known
    const prefixBytes = Math.max(0, local - from - 2)
    const flags = elementFlags(count, namespaces.ofPrefixAt(source, from + 1, prefixBytes))
    this.enter(node, flags, nameId, count === 0 ? at : first, nameEnd - from - 1)
    if (isEmpty) this.closed(at)
    return at
  }

  /** A new element one level deeper, within the limits. */
  private element(from: number): number {
    const { depthMax, elementsMax } = this.source.limits
    if (++this.elements > elementsMax) {
      throw this.source.error('elements_exceeded', from, { elementsMax })
    }
    if (this.depth === depthMax) throw this.source.error('depth_exceeded', from, { depthMax })
    this.depth++
    return this.node(nodeKind.element, from)
  }

  /** Writes the record of an element whose start tag has been read. */
  private enter(
    node: number,
    flags: number,
    nameId: number,
    content: number,
    nameBytes: number,
  ): void {
    const { depth } = this
    const { ints } = this.tape.nodes
    const record = node * nodeStride
    ints[record] = flags
    ints[record + nodeName] = nameId
    ints[record + nodeContent] = content
    this.open[depth] = node
    this.openNameBytes[depth] = nameBytes
  }

  /** The innermost element ends before `end`. */
  private closed(end: number): void {
    const { depth } = this
    const record = (this.open[depth] as number) * nodeStride
    this.tape.nodes.ints[record + nodeEnd] = end
    this.tape.nodes.ints[record + nodeNext] = this.tape.nodes.count
    if (this.namespaces.innermost === depth) this.namespaces.leave(depth)
    this.depth--
  }

  private endTag(from: number): number {
    const { source, depth } = this
    const b = source.buffer
    const bytes = this.openNameBytes[depth] as number
    const open = (this.open[depth] as number) * nodeStride
    const start = (this.tape.nodes.ints[open + nodeStart] as number) + 1
    if (!source.sameBytes(from + 2, start, bytes)) {
      const seen = source.length - from - 2
      const isCut = seen < bytes && source.sameBytes(from + 2, start, seen)
      throw source.error('tag_mismatch', isCut ? source.length : from)
    }
    let at = from + 2 + bytes
    if (isInName(b[at]) || b[at] === colon) throw source.error('tag_mismatch', from)
    while (isSpace(b[at])) at++
    if (b[at] !== gt) throw source.error('markup_invalid', at)
    this.closed(at + 1)
    return at + 1
  }
}
