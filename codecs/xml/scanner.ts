import type { CodecError } from '#codecs/bytes'
import { AttributeReader } from './attributes.ts'
import { classOf, isChar, NAME, NAME_START, ncNamePattern, SPACE, TEXT_STOP } from './characters.ts'
import { scanDeclaration } from './declaration.ts'
import {
  ATTRIBUTE_COUNT_SHIFT,
  CDATA,
  COMMENT,
  ELEMENT,
  NEEDS_DECODING,
  NODE_ATTRIBUTE,
  NODE_CONTENT,
  NODE_END,
  NODE_KIND,
  NODE_NAME,
  NODE_NAMESPACE,
  NODE_NEXT,
  NODE_START,
  NODE_STRIDE,
  TEXT,
  WHITESPACE_ONLY,
  XmlDocument,
} from './document.ts'
import { type XmlErrorCode, xmlError } from './errors.ts'
import { type XmlLimits, xmlLimits } from './limits.ts'
import { Namespaces } from './namespaces.ts'
import { grown, NameTable, type XmlVocabulary } from './vocabulary.ts'

/** Zero bytes behind the document, so that look-ahead needs no bounds check. */
const SENTINEL_BYTES = 16
const KEEP_BUFFER_BYTES_MAX = 1 << 20

const LT = 0x3c
const GT = 0x3e
const AMP = 0x26
const SLASH = 0x2f
const BANG = 0x21
const QUESTION = 0x3f
const COLON = 0x3a
const DASH = 0x2d
const BRACKET = 0x5d

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export type XmlScanner = {
  /** @throws CodecError with an {@link XmlErrorCode} and the byte offset of the first fault */
  readonly scan: (bytes: Uint8Array) => XmlDocument
}

/**
 * A scanner of XML 1.0 (5th edition) with Namespaces 1.0 for UTF-8 documents without DOCTYPE and processing
 * instructions. It checks well-formedness fully and gives offsets, not strings. Keep one and reuse it: its
 * buffers and its name table are what makes it fast.
 */
export const createXmlScanner = (
  options: { readonly vocabulary?: XmlVocabulary; readonly limits?: Partial<XmlLimits> } = {},
): XmlScanner => {
  const vocabulary = options.vocabulary ?? { names: [], size: 0, idOf: () => -1 }
  const run = new Scan(vocabulary, { ...xmlLimits, ...options.limits })
  return { scan: (bytes) => run.document(bytes) }
}

/** The state of one pass, kept between passes for its buffers. */
class Scan {
  readonly #limits: XmlLimits
  readonly #names: NameTable
  readonly #namespaces: Namespaces
  readonly #attributes: AttributeReader
  #buffer = new Uint8Array(65_536)
  #length = 0
  #ascii = true
  #nodes = new Int32Array(2048 * NODE_STRIDE)
  #count = 0
  #elements = 0
  #depth = 0
  /** By depth: the open element, and the bytes of its qualified name. */
  readonly #open: Int32Array
  readonly #openNameBytes: Int32Array

  constructor(vocabulary: XmlVocabulary, limits: XmlLimits) {
    this.#limits = limits
    this.#names = new NameTable(vocabulary)
    this.#namespaces = new Namespaces()
    this.#attributes = new AttributeReader(limits)
    this.#open = new Int32Array(limits.depthMax + 1)
    this.#openNameBytes = new Int32Array(limits.depthMax + 1)
  }

  document(bytes: Uint8Array): XmlDocument {
    if (bytes.length > this.#limits.documentBytesMax) {
      throw xmlError('document_too_large', this.#limits.documentBytesMax, {
        documentBytes: bytes.length,
        documentBytesMax: this.#limits.documentBytesMax,
      })
    }
    const text = this.#begin(bytes)
    const b = this.#buffer
    let at = b[0] === 0xef && b[1] === 0xbb && b[2] === 0xbf ? 3 : 0
    at = scanDeclaration(b, at)
    at = this.#misc(at)
    if (at >= this.#length) throw this.#error('root_missing', at)
    const root = this.#count
    at = this.#content(at)
    at = this.#misc(at)
    if (at < this.#length) throw this.#error('content_after_root', at)
    const document = new XmlDocument({
      bytes,
      nodes: this.#nodes.slice(0, this.#count * NODE_STRIDE),
      attributes: this.#attributes.taken(),
      root,
      namespaces: this.#namespaces.taken(),
      text: this.#ascii ? text : undefined,
    })
    if (b.length > KEEP_BUFFER_BYTES_MAX) this.#buffer = new Uint8Array(65_536)
    return document
  }

  #begin(bytes: Uint8Array): string {
    const needed = bytes.length + SENTINEL_BYTES
    if (this.#buffer.length < needed) this.#buffer = new Uint8Array(needed * 2)
    this.#buffer.set(bytes)
    this.#buffer.fill(0, bytes.length, needed)
    this.#length = bytes.length
    this.#count = 0
    this.#elements = 0
    this.#depth = 0
    this.#names.reset()
    this.#namespaces.reset()
    this.#attributes.reset()
    let text: string
    try {
      text = utf8.decode(bytes)
    } catch {
      throw xmlError('utf8_invalid', firstInvalidUtf8(bytes))
    }
    this.#ascii = text.length === bytes.length
    if (!this.#ascii) {
      const at = text.search(/[\uFFFE\uFFFF]/)
      if (at !== -1) {
        throw xmlError('character_forbidden', new TextEncoder().encode(text.slice(0, at)).length)
      }
    }
    return text
  }

  /** White space and comments, outside the root element. */
  #misc(from: number): number {
    const b = this.#buffer
    let at = from
    for (;;) {
      while ((classOf[b[at] as number] as number) & SPACE) at++
      if (b[at] !== LT) {
        if (at < this.#length) throw this.#error('text_outside_root', at)
        return at
      }
      if (b[at + 1] === BANG) {
        if (b[at + 2] !== DASH) throw this.#declarationError(at, 'markup_invalid')
        at = this.#comment(at)
      } else if (b[at + 1] === QUESTION) {
        throw this.#error('processing_instruction_forbidden', at)
      } else return at
    }
  }

  /** The root element and all in it. */
  #content(from: number): number {
    const b = this.#buffer
    let at = this.#startTag(from)
    while (this.#depth > 0) {
      if (b[at] !== LT) {
        at = this.#text(at)
        continue
      }
      const next = b[at + 1] as number
      if (next === SLASH) at = this.#endTag(at)
      else if (next === BANG) {
        if (b[at + 2] === DASH) at = this.#comment(at)
        else if (b[at + 2] === 0x5b) at = this.#cdata(at)
        else throw this.#declarationError(at, 'markup_invalid')
      } else if (next === QUESTION) throw this.#error('processing_instruction_forbidden', at)
      else at = this.#startTag(at)
    }
    return at
  }

  #startTag(from: number): number {
    const b = this.#buffer
    let at = from + 1
    if (!((classOf[b[at] as number] as number) & NAME_START))
      throw this.#error('markup_invalid', at)
    let local = at
    let hash = 0
    let high = 0
    for (;;) {
      const byte = b[at] as number
      if ((classOf[byte] as number) & NAME) {
        hash = (Math.imul(hash, 31) + byte) | 0
        high |= byte
        at++
      } else if (byte === COLON && local === from + 1) {
        local = ++at
        hash = 0
        if (!((classOf[b[at] as number] as number) & NAME_START)) {
          throw this.#error('name_invalid', at)
        }
      } else break
    }
    if (at - from > this.#limits.nameBytesMax) this.#checkNameLength(from + 1, at)
    if (high >= 0x80) this.#checkName(from + 1, at)
    const node = this.#node(ELEMENT, from)
    if (++this.#elements > this.#limits.elementsMax) {
      throw this.#error('elements_exceeded', from, { elementsMax: this.#limits.elementsMax })
    }
    if (this.#depth === this.#limits.depthMax) {
      throw this.#error('depth_exceeded', from, { depthMax: this.#limits.depthMax })
    }
    const nameEnd = at
    this.#depth++
    let count = 0
    const first = this.#attributes.count
    const byte = b[at] as number
    if (byte !== GT && byte !== SLASH) {
      at = this.#attributes.read(b, at, this.#length, this.#namespaces, this.#depth)
      count = this.#attributes.count - first
    }
    return this.#closeStartTag({ node, from, local, nameEnd, at, hash, first, count })
  }

  #closeStartTag(tag: {
    node: number
    from: number
    local: number
    nameEnd: number
    at: number
    hash: number
    first: number
    count: number
  }): number {
    const b = this.#buffer
    const { node, from, local, nameEnd } = tag
    let { at } = tag
    const empty = b[at] === SLASH
    if (empty) at++
    if (b[at] !== GT)
      throw this.#error(at >= this.#length ? 'document_truncated' : 'markup_invalid', at)
    at++
    const nodes = this.#nodes
    const record = node * NODE_STRIDE
    nodes[record] = ELEMENT | (tag.count << ATTRIBUTE_COUNT_SHIFT)
    nodes[record + NODE_NAME] = this.#names.intern(b, local, nameEnd, tag.hash)
    nodes[record + NODE_NAMESPACE] =
      local === from + 1
        ? this.#namespaces.defaultId
        : this.#namespaces.ofPrefix(b, from + 1, local - 1)
    nodes[record + NODE_CONTENT] = at
    nodes[record + NODE_ATTRIBUTE] = tag.first
    if (empty) {
      nodes[record + NODE_END] = at
      nodes[record + NODE_NEXT] = this.#count
      this.#leave()
    } else {
      this.#open[this.#depth] = node
      this.#openNameBytes[this.#depth] = nameEnd - from - 1
    }
    return at
  }

  #endTag(from: number): number {
    const b = this.#buffer
    const node = this.#open[this.#depth] as number
    const nodes = this.#nodes
    const record = node * NODE_STRIDE
    let start = (nodes[record + NODE_START] as number) + 1
    let at = from + 2
    const end = at + (this.#openNameBytes[this.#depth] as number)
    while (at < end) {
      if (b[at++] !== b[start++]) throw this.#error('tag_mismatch', from)
    }
    if (b[at] !== GT) {
      if ((classOf[b[at] as number] as number) & NAME || b[at] === COLON) {
        throw this.#error('tag_mismatch', from)
      }
      while ((classOf[b[at] as number] as number) & SPACE) at++
      if (b[at] !== GT) {
        throw this.#error(at >= this.#length ? 'document_truncated' : 'markup_invalid', at)
      }
    }
    at++
    nodes[record + NODE_END] = at
    nodes[record + NODE_NEXT] = this.#count
    this.#leave()
    return at
  }

  #leave(): void {
    if (this.#namespaces.innermost === this.#depth) this.#namespaces.leave(this.#depth)
    this.#depth--
  }

  #text(from: number): number {
    const b = this.#buffer
    let at = from
    let flags = TEXT | WHITESPACE_ONLY
    while ((classOf[b[at] as number] as number) & SPACE) {
      if (b[at] === 0x0d) flags |= NEEDS_DECODING
      at++
    }
    if (b[at] !== LT) {
      flags &= ~WHITESPACE_ONLY
      for (;;) {
        while (!((classOf[b[at] as number] as number) & TEXT_STOP)) at++
        const byte = b[at] as number
        if (byte === LT) break
        if (byte === AMP) {
          at = this.#attributes.reference(b, at, this.#length)
          flags |= NEEDS_DECODING
        } else if (byte === 0x0d) {
          flags |= NEEDS_DECODING
          at++
        } else if (byte === BRACKET) {
          if (b[at + 1] === BRACKET && b[at + 2] === GT) throw this.#error('cdata_end_in_text', at)
          at++
        } else
          throw this.#error(at >= this.#length ? 'document_truncated' : 'character_forbidden', at)
      }
    }
    this.#checkTextLength(from, at)
    const node = this.#node(flags, from)
    this.#endLeaf(node, from, at)
    return at
  }

  #comment(from: number): number {
    const b = this.#buffer
    if (b[from + 3] !== DASH) throw this.#error('comment_invalid', from)
    const close = this.#find(from + 4, DASH, DASH)
    if (b[close + 2] !== GT) throw this.#error('comment_invalid', close)
    this.#checkTextLength(from + 4, close)
    const node = this.#node(COMMENT, from)
    this.#endLeaf(node, from + 4, close + 3)
    return close + 3
  }

  #cdata(from: number): number {
    const b = this.#buffer
    const opening = '<![CDATA['
    for (let i = 3; i < opening.length; i++) {
      if (b[from + i] !== opening.charCodeAt(i)) throw this.#error('cdata_invalid', from)
    }
    let close = this.#find(from + 9, BRACKET, BRACKET)
    while (b[close + 2] !== GT) close = this.#find(close + 1, BRACKET, BRACKET)
    this.#checkTextLength(from + 9, close)
    const node = this.#node(CDATA, from)
    this.#endLeaf(node, from + 9, close + 3)
    return close + 3
  }

  /** The next place of two bytes side by side; characters on the way are checked. */
  #find(from: number, first: number, second: number): number {
    const b = this.#buffer
    let at = from
    for (;;) {
      const byte = b[at] as number
      if (byte === first && b[at + 1] === second) return at
      if (byte < 0x20 && !isChar(byte)) {
        throw this.#error(at >= this.#length ? 'document_truncated' : 'character_forbidden', at)
      }
      at++
    }
  }

  #node(kind: number, start: number): number {
    const node = this.#count++
    const record = node * NODE_STRIDE
    if (record + NODE_STRIDE > this.#nodes.length) this.#nodes = grown(this.#nodes, record * 2)
    this.#nodes[record + NODE_KIND] = kind
    this.#nodes[record + NODE_START] = start
    return node
  }

  #endLeaf(node: number, content: number, end: number): void {
    const record = node * NODE_STRIDE
    this.#nodes[record + NODE_NAME] = -1
    this.#nodes[record + NODE_CONTENT] = content
    this.#nodes[record + NODE_END] = end
    this.#nodes[record + NODE_NEXT] = node + 1
  }

  #checkTextLength(from: number, end: number): void {
    if (end - from > this.#limits.textBytesMax) {
      throw this.#error('text_too_long', from, { textBytesMax: this.#limits.textBytesMax })
    }
  }

  #checkNameLength(from: number, end: number): void {
    if (end - from > this.#limits.nameBytesMax) {
      throw this.#error('name_too_long', from, { nameBytesMax: this.#limits.nameBytesMax })
    }
  }

  /** Names with characters beyond ASCII are rare enough to be checked as strings. */
  #checkName(from: number, end: number): void {
    const parts = utf8.decode(this.#buffer.subarray(from, end)).split(':')
    if (!parts.every((part) => ncNamePattern.test(part))) throw this.#error('name_invalid', from)
  }

  #declarationError(at: number, otherwise: XmlErrorCode): CodecError {
    const word = String.fromCharCode(...this.#buffer.subarray(at, at + 9))
    return this.#error(word === '<!DOCTYPE' ? 'doctype_forbidden' : otherwise, at)
  }

  #error(code: XmlErrorCode, at: number, context?: Readonly<Record<string, number>>): CodecError {
    const truncated = at >= this.#length && code !== 'root_missing'
    return xmlError(truncated ? 'document_truncated' : code, Math.min(at, this.#length), context)
  }
}

const firstInvalidUtf8 = (bytes: Uint8Array): number => {
  let good = 0
  let bad = bytes.length
  while (good < bad) {
    const middle = (good + bad + 1) >> 1
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, middle), { stream: true })
      good = middle
    } catch {
      bad = middle - 1
    }
  }
  return good
}
