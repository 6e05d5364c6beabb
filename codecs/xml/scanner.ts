import { CodecError } from '#codecs/bytes'
import { classOf, name, nameStart, space } from './characters.ts'
import { DeclarationScanner } from './declaration.ts'
import {
  attributeCountMask,
  attributeCountShift,
  elementKind,
  namespaceShift,
  nodeContent,
  nodeEnd,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
  XmlDocument,
} from './document.ts'
import { stateOf, surprisesMax } from './elements.ts'
import { xmlError } from './errors.ts'
import { type XmlLimits, xmlLimits } from './limits.ts'
import { noValue } from './literal.ts'
import { Shape } from './shape.ts'
import { Shapes, shapeBytesMax } from './shapes.ts'
import { Siblings } from './siblings.ts'
import { firstInvalidUtf8, webNative } from './source.ts'
import type { XmlVocabulary } from './vocabulary.ts'

const lt = 0x3c
const gt = 0x3e
const slash = 0x2f
const bang = 0x21
const question = 0x3f
const colon = 0x3a
const dash = 0x2d

export type XmlScannerOptions = {
  readonly vocabulary?: XmlVocabulary
  readonly limits?: Partial<XmlLimits>
  /** What the runtime does faster than the web-standard decoders can. */
  readonly native?: XmlNative
  /**
   * Each document is valid only until the next scan: its arrays are used again. For callers that are done
   * with a document before they scan another, at once and in one thread of control.
   */
  readonly reuse?: boolean
}

export type XmlNative = {
  /** Strict. */
  readonly isUtf8: (bytes: Uint8Array) => boolean
  /** One character for each byte from `start` to before `end`. */
  readonly latin1: (bytes: Uint8Array, start: number, end: number) => string
  /** Of bytes that are UTF-8, a byte order mark among them kept. */
  readonly utf8: (bytes: Uint8Array, start: number, end: number) => string
}

export type XmlScanner = {
  /** @throws CodecError with an {@link XmlErrorCode} and the byte offset of the first fault */
  readonly scan: (bytes: Uint8Array) => XmlDocument
}

/**
 * A scanner of XML 1.0 (5th edition) with Namespaces 1.0 for UTF-8 documents without DOCTYPE and processing
 * instructions. It checks well-formedness fully and gives offsets, not strings. Keep one and reuse it: its
 * buffers and its name table are what makes it fast.
 */
export const createXmlScanner = (options: XmlScannerOptions = {}): XmlScanner => {
  const vocabulary = options.vocabulary ?? { names: [], size: 0, idOf: () => -1 }
  const limits = { ...xmlLimits, ...options.limits }
  if (limits.attributesMax > attributeCountMask) {
    throw new RangeError(`attributesMax is at most ${attributeCountMask}`)
  }
  const run = new Scan(vocabulary, limits, options.native ?? webNative, options.reuse ?? false)
  return { scan: (bytes) => run.document(bytes) }
}

/** One pass after the other; what is kept between them are buffers and what was learned. */
class Scan extends Siblings {
  readonly declaration = new DeclarationScanner()
  /** What {@link startTag} read, as a remembered tag, or 0. */
  learned = 0
  /** Whether a tag that is new is remembered. */
  remembers = true
  /** A document that is used after the next scan has a tape of its own, so none of a shape. */
  readonly shapes = this.reuse ? new Shapes(Shape, noValue) : undefined

  document(bytes: Uint8Array): XmlDocument {
    if (bytes.length > this.limits.documentBytesMax) {
      throw xmlError('document_too_large', this.limits.documentBytesMax, {
        documentBytes: bytes.length,
        documentBytesMax: this.limits.documentBytesMax,
      })
    }
    this.load(bytes)
    return this.alike(bytes) ?? this.scanned(bytes)
  }

  /** The document, if it is of a known shape. */
  alike(bytes: Uint8Array): XmlDocument | undefined {
    const { shapes } = this
    if (shapes === undefined || bytes.length > shapeBytesMax) return undefined
    const shape = shapes.at(this, 0)
    if (shape === undefined) return undefined
    shape.moveTo(shapes.starts, shapes.textFlags)
    const isAscii = (this.high & 0x80808080) === 0
    if (!isAscii) this.checkUtf8(bytes)
    return new XmlDocument({
      bytes,
      nodes: shape.nodes,
      firstNode: 0,
      endNode: shape.endNode,
      elementCount: shape.elementCount,
      attributes: shape.attributes,
      root: shape.root,
      namespaces: shape.namespaces,
      isAscii,
      shape,
      native: this.native,
    })
  }

  scanned(bytes: Uint8Array): XmlDocument {
    this.rewind()
    const b = this.buffer
    const firstNode = this.count
    const root = this.prologAndRoot(b)
    const isAscii = (this.high & 0x80808080) === 0 && (this.attributes.high & 0x80) === 0
    if (!isAscii) this.checkUtf8(bytes)
    const document = new XmlDocument({
      bytes,
      nodes: this.takenNodes(),
      firstNode,
      endNode: this.count,
      elementCount: this.elements,
      attributes: this.attributes.records,
      root,
      namespaces: this.namespaces.taken(),
      isAscii,
      parts: this.parts,
      native: this.native,
    })
    this.shapes?.learn(document, this, 0)
    return document
  }

  prologAndRoot(b: Uint8Array): number {
    try {
      let at = b[0] === 0xef && b[1] === 0xbb && b[2] === 0xbf ? 3 : 0
      if (at > 0) this.high = -1
      at = this.declaration.scan(b, at)
      at = this.misc(at)
      if (at >= this.length) throw this.error('root_missing', at)
      const root = this.count
      at = this.content(at)
      at = this.misc(at)
      if (at < this.length) throw this.error('content_after_root', at)
      return root
    } catch (error) {
      // Bytes that are no UTF-8 are the older fault where they come first.
      const invalid = firstInvalidUtf8(b.subarray(0, this.length))
      if (error instanceof CodecError && invalid < error.offset) {
        throw xmlError('utf8_invalid', invalid)
      }
      throw error
    }
  }

  /** White space and comments, outside the root element. */
  misc(from: number): number {
    const b = this.buffer
    let at = from
    for (;;) {
      while ((classOf[b[at] as number] as number) & space) at++
      if (b[at] !== lt) {
        if (at < this.length) throw this.error('text_outside_root', at)
        return at
      }
      if (b[at + 1] === bang) {
        if (b[at + 2] !== dash) throw this.declarationError(at, 'markup_invalid')
        at = this.comment(at)
      } else if (b[at + 1] === question) {
        throw this.error('processing_instruction_forbidden', at)
      } else return at
    }
  }

  /** The root element and all in it. */
  content(from: number): number {
    const b = this.buffer
    let at = this.tag(from)
    while (this.depth > 0) {
      if (this.depth === this.pause) at = this.remember(at)
      else if (at === this.repeatedAt) at = this.repeated(at)
      at = this.expected(at)
      if (this.depth === this.pause || at === this.repeatedAt) continue
      if (b[at] !== lt) {
        at = this.text(at)
        continue
      }
      const next = b[at + 1] as number
      if (next === slash) at = this.endTag(at)
      else if (next === bang) {
        if (b[at + 2] === dash) at = this.comment(at)
        else if (b[at + 2] === 0x5b) at = this.cdata(at)
        else throw this.declarationError(at, 'markup_invalid')
      } else if (next === question) throw this.error('processing_instruction_forbidden', at)
      else at = this.tag(at)
    }
    return at
  }

  /** A start tag: the one that is expected here, or any other. */
  tag(at: number): number {
    const state = this.state
    const guess = this.guesses[state] as number
    if (guess !== 0 && this.tags.matches(guess, this.view, at)) return this.knownTag(guess, at)
    const surprises = this.surprises[state] as number
    this.remembers = surprises < surprisesMax
    const known = this.tags.count
    const end = this.startTag(at)
    if (this.tags.count > known) this.surprises[state] = surprises + 1
    this.guesses[state] = this.learned
    return end
  }

  startTag(from: number): number {
    const b = this.buffer
    let at = from + 1
    if (!((classOf[b[at] as number] as number) & nameStart)) throw this.error('markup_invalid', at)
    let local = at
    let hash = 0
    let high = 0
    for (;;) {
      const byte = b[at] as number
      if ((classOf[byte] as number) & name) {
        hash = (Math.imul(hash, 31) + byte) | 0
        high |= byte
        at++
      } else if (byte === colon && local === from + 1) {
        local = ++at
        hash = 0
        if (!((classOf[b[at] as number] as number) & nameStart)) {
          throw this.error('name_invalid', at)
        }
      } else break
    }
    if (at - from > this.limits.nameBytesMax) this.checkNameLength(from + 1, at)
    if (high >= 0x80) this.checkName(from + 1, at)
    const node = this.element(from)
    const nameEnd = at
    let count = 0
    const first = this.attributes.count
    const byte = b[at] as number
    if (byte !== gt && byte !== slash) {
      at = this.attributes.read(b, at, this.length, this.namespaces, this.depth)
      count = this.attributes.count - first
    }
    return this.closeStartTag({ node, from, local, nameEnd, at, hash, first, count })
  }

  closeStartTag(tag: {
    node: number
    from: number
    local: number
    nameEnd: number
    at: number
    hash: number
    first: number
    count: number
  }): number {
    const b = this.buffer
    const { node, from, local, nameEnd } = tag
    let { at } = tag
    const empty = b[at] === slash
    if (empty) at++
    if (b[at] !== gt)
      throw this.error(at >= this.length ? 'document_truncated' : 'markup_invalid', at)
    at++
    const nodes = this.nodes
    const record = node * nodeStride
    const nameId = this.names.intern(b, local, nameEnd, tag.hash)
    const namespace =
      local === from + 1
        ? this.namespaces.defaultId
        : this.namespaces.ofPrefix(b, from + 1, local - 1)
    nodes[record] = elementKind | (tag.count << attributeCountShift) | (namespace << namespaceShift)
    nodes[record + nodeName] = nameId
    nodes[record + nodeContent] = tag.count === 0 ? at : tag.first
    this.learned = this.tags.learn(
      this.view,
      {
        start: from,
        local,
        nameEnd,
        end: at,
        hash: tag.hash,
        nameId: this.names.isKnown(nameId) ? nameId : -1,
        isEmpty: empty,
      },
      this.attributes.records,
      tag.first,
      tag.count,
      this.remembers,
    )
    this.enter(node, this.learned, nameEnd - from - 1, at, empty)
    return at
  }

  endTag(from: number): number {
    const b = this.buffer
    const depth = this.depth
    const record = (this.open[depth] as number) * nodeStride
    const nodes = this.nodes
    const bytes = this.openNameBytes[depth] as number
    const start = (nodes[record + nodeStart] as number) + 1
    if (!this.sameBytes(from + 2, start, bytes)) {
      const seen = this.length - from - 2
      const isCut = seen < bytes && this.sameBytes(from + 2, start, seen)
      throw this.error('tag_mismatch', isCut ? this.length : from)
    }
    let at = from + 2 + bytes
    if (b[at] !== gt) at = this.endTagSpace(from, at)
    at++
    nodes[record + nodeEnd] = at
    nodes[record + nodeNext] = this.count
    this.state = stateOf(this.openTag[depth] as number, this.openTag[depth - 1] as number, 1)
    this.leave()
    return at
  }

  /** White space between the name of an end tag and its '>'. */
  endTagSpace(from: number, after: number): number {
    const b = this.buffer
    let at = after
    if ((classOf[b[at] as number] as number) & name || b[at] === colon) {
      throw this.error('tag_mismatch', from)
    }
    while ((classOf[b[at] as number] as number) & space) at++
    if (b[at] !== gt) {
      throw this.error(at >= this.length ? 'document_truncated' : 'markup_invalid', at)
    }
    return at
  }
}
