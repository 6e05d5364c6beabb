import { CodecError } from '#codecs/bytes'
import { isSpace } from './characters.ts'
import { DeclarationScanner } from './declaration.ts'
import { noParts, XmlDocument } from './document.ts'
import { xmlError } from './errors.ts'
import { attributeCountMax } from './layout.ts'
import { type XmlLimits, xmlLimits } from './limits.ts'
import { noValue } from './literal.ts'
import { Markup } from './markup.ts'
import { firstInvalidUtf8, webNative, type XmlNative } from './native.ts'
import { Shapes, shapeBytesMax } from './shapes.ts'
import { Siblings } from './siblings.ts'
import { Source } from './source.ts'
import { structureOf } from './structures.ts'
import { Tape } from './tape.ts'
import { createXmlVocabulary, type XmlVocabulary } from './vocabulary.ts'

const lt = 0x3c
const bang = 0x21
const question = 0x3f
const dash = 0x2d

export type XmlScannerOptions = {
  readonly vocabulary?: XmlVocabulary
  readonly limits?: Partial<XmlLimits>
  /** What the runtime does faster than the web-standard decoders can. */
  readonly native?: XmlNative
  /**
   * Each document is valid only until the next scan, because its arrays are used again. In return, documents that are
   * like earlier ones are compared with those instead of scanned. Use it only if each document is finished with,
   * synchronously, before the next scan.
   */
  readonly reuse?: boolean
}

export type XmlScanner = {
  /** @throws CodecError with an `XmlErrorCode` and the byte offset of the first fault */
  readonly scan: (bytes: Uint8Array) => XmlDocument
}

/**
 * A scanner of XML 1.0 (5th edition) with Namespaces 1.0 for UTF-8 documents without DOCTYPE and processing
 * instructions. It checks well-formedness fully and gives offsets, not strings. Keep one and reuse it: its buffers and
 * its memory of documents make it fast.
 *
 * @example
 * const document = createXmlScanner().scan(new TextEncoder().encode('<a b="1">text</a>'))
 * document.textOf(document.root) // 'text'
 */
export const createXmlScanner = (options: XmlScannerOptions = {}): XmlScanner => {
  const limits = { ...xmlLimits, ...options.limits }
  if (limits.attributesMax > attributeCountMax) {
    throw new RangeError(`attributesMax is at most ${attributeCountMax}`)
  }
  const { vocabulary = createXmlVocabulary([]), native = webNative, reuse = false } = options
  const scanner = new Scanner(vocabulary, limits, native, reuse)
  return { scan: (bytes) => scanner.scan(bytes) }
}

/** Scans one document after the other; between them it keeps buffers and what it has learned. */
class Scanner {
  private readonly source: Source
  private readonly tape: Tape
  private readonly markup: Markup
  private readonly declaration = new DeclarationScanner()
  /** Known documents and elements. Absent if documents may outlive the next scan. */
  private readonly shapes: Shapes | undefined
  private readonly siblings: Siblings | undefined

  constructor(vocabulary: XmlVocabulary, limits: XmlLimits, native: XmlNative, reuse: boolean) {
    this.source = new Source(limits, native)
    this.tape = new Tape(reuse)
    this.markup = new Markup(this.source, this.tape, vocabulary)
    this.shapes = reuse ? new Shapes(this.source, noValue) : undefined
    this.siblings = reuse ? new Siblings(this.markup) : undefined
  }

  scan(bytes: Uint8Array): XmlDocument {
    const { documentBytesMax } = this.source.limits
    if (bytes.length > documentBytesMax) {
      const context = { documentBytes: bytes.length, documentBytesMax }
      throw xmlError('document_too_large', documentBytesMax, context)
    }
    this.source.load(bytes)
    return this.remembered(bytes) ?? this.scanned(bytes)
  }

  /** The document, if it is of a known shape. */
  private remembered(bytes: Uint8Array): XmlDocument | undefined {
    const { shapes, source } = this
    if (shapes === undefined || bytes.length > shapeBytesMax) return undefined
    const shape = shapes.at(0)
    if (shape === undefined) return undefined
    shape.moveTo(shapes.starts, shapes.textFlags)
    const isAscii = source.isAscii()
    if (!isAscii) source.checkUtf8(bytes)
    return new XmlDocument(bytes, shape.scanned, isAscii, source.native, shape, noParts)
  }

  private scanned(bytes: Uint8Array): XmlDocument {
    const { source, tape, markup, siblings } = this
    // A failed comparison may have set it already.
    source.high = 0
    tape.rewind()
    markup.rewind()
    siblings?.rewind()
    const firstNode = tape.nodes.count
    const root = this.prologAndRoot()
    const isAscii = source.isAscii()
    if (!isAscii) source.checkUtf8(bytes)
    const scanned = {
      nodes: tape.nodes.taken(),
      attributes: tape.attributes.taken(),
      root,
      firstNode,
      endNode: tape.nodes.count,
      elementCount: markup.elements,
      namespaces: markup.namespaces.uris,
    }
    const parts = siblings?.parts ?? noParts
    const { shapes } = this
    if (
      shapes?.mayLearn() &&
      shapes.wants(structureOf(scanned.nodes, firstNode, scanned.endNode), bytes.length)
    ) {
      shapes.learn({ bytes, scanned }, 0)
    }
    return new XmlDocument(bytes, scanned, isAscii, source.native, undefined, parts)
  }

  /** Gives the node of the root element. */
  private prologAndRoot(): number {
    const { source } = this
    const b = source.buffer
    try {
      let at = b[0] === 0xef && b[1] === 0xbb && b[2] === 0xbf ? 3 : 0
      if (at > 0) source.high = -1
      at = this.declaration.scan(b, at)
      at = this.misc(at)
      if (at >= source.length) throw source.error('root_missing', at)
      const root = this.tape.nodes.count
      at = this.rootElement(at)
      at = this.misc(at)
      if (at < source.length) throw source.error('content_after_root', at)
      return root
    } catch (error) {
      // If invalid UTF-8 comes first, that is the fault to report.
      const invalid = firstInvalidUtf8(b.subarray(0, source.length))
      if (error instanceof CodecError && invalid < error.offset) {
        throw xmlError('utf8_invalid', invalid)
      }
      throw error
    }
  }

  /** White space and comments, outside the root element. */
  private misc(from: number): number {
    const { source, markup } = this
    const b = source.buffer
    let at = from
    for (;;) {
      while (isSpace(b[at])) at++
      if (b[at] !== lt) {
        if (at < source.length) throw source.error('text_outside_root', at)
        return at
      }
      if (b[at + 1] === question) throw source.error('processing_instruction_forbidden', at)
      if (b[at + 1] !== bang) return at
      if (b[at + 2] !== dash) throw source.declarationError(at)
      at = markup.comment(at)
    }
  }

  /** The root element and all in it. */
  private rootElement(from: number): number {
    const { markup, siblings } = this
    let at = markup.tag(from)
    while (markup.depth > 0) {
      if (siblings !== undefined && markup.hasStopped(at)) at = siblings.goOn(at)
      at = markup.usual(at)
      if (!markup.hasStopped(at)) at = markup.next(at)
    }
    return at
  }
}
