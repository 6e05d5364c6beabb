import {
  attributeCountShift,
  elementKind,
  namespaceShift,
  nodeContent,
  nodeEnd,
  nodeName,
  nodeNext,
  nodeStart,
  nodeStride,
} from './document.ts'
import type { XmlLimits } from './limits.ts'
import { Namespaces } from './namespaces.ts'
import type { XmlNative } from './scanner.ts'
import {
  startState,
  TagCache,
  tagAttributesShift,
  tagDeclares,
  tagFlags,
  tagIsEmpty,
  tagIsSimple,
  tagLength,
  tagLocal,
  tagName,
  tagNameEnd,
  tagPrefix,
  tagStride,
  tagsMax,
} from './tags.ts'
import { Tape } from './tape.ts'
import { NameTable, type XmlVocabulary } from './vocabulary.ts'

const lt = 0x3c
const gt = 0x3e
const slash = 0x2f

/**
 * Where tags are new this often they are so each time, as `KeyInfo` with an Id of its own for each signature:
 * remembering those would only push out what comes again.
 */
export const surprisesMax = 16

/** More bytes than any element has, and a small integer: comparing with those is fast. */
const never = 0x3fffffff

/** Slots of the table of guesses; a collision is a wrong guess, no more. */
const guesses = 4096

/** The elements of the tape: which are open, what is remembered of their tags, what is expected next. */
export class Elements extends Tape {
  readonly names: NameTable
  readonly namespaces = new Namespaces()
  readonly tags = new TagCache()
  readonly guesses = new Uint16Array(guesses)
  /** By state: how often a tag came there that was in no document before. */
  readonly surprises = new Uint8Array(guesses)
  elements = 0
  depth = 0
  /** What came last, as an index into the guesses. */
  state = startState
  /** Where {@link expected} has stopped behind an element, as another of its name is expected to follow. */
  repeatedAt = -1
  /** {@link expected} stops where an element ends at this depth; at 0, with the document. */
  pause = 0
  /** Behind elements of fewer bytes it goes on. */
  protected repeatedBytesMin = never
  /** By depth: the open element, the bytes of its qualified name, its remembered tag or 0. */
  readonly open: Int32Array
  readonly openNameBytes: Int32Array
  readonly openTag: Int32Array

  constructor(vocabulary: XmlVocabulary, limits: XmlLimits, native: XmlNative, reuse: boolean) {
    super(limits, native, reuse)
    this.names = new NameTable(vocabulary)
    this.open = new Int32Array(limits.depthMax + 1)
    this.openNameBytes = new Int32Array(limits.depthMax + 1)
    this.openTag = new Int32Array(limits.depthMax + 1)
  }

  /** Forgets the last document; keeps what was learned from it. */
  override rewind(): void {
    super.rewind()
    this.high = 0
    this.elements = 0
    this.depth = 0
    this.state = startState
    this.pause = 0
    this.names.reset()
    this.namespaces.reset()
    if (this.tags.count === tagsMax) {
      this.tags.reset()
      this.guesses.fill(0)
      this.surprises.fill(0)
    }
  }

  /**
   * Goes on while everything is as expected: the remembered next tag, plain text, an end tag without space.
   * State is in local variables only; at the first surprise it is written back, and the general methods
   * take over. This loop is where the time of a scan goes.
   */
  expected(from: number): number {
    const { buffer: b, view, tags, guesses, open, openTag, openNameBytes, nodes } = this
    const { records } = tags
    const namespace = this.namespaces.defaultId
    const innermost = this.namespaces.innermost
    const { depthMax, elementsMax } = this.limits
    const { pause, repeatedBytesMin } = this
    const room = Math.min(nodes.length / nodeStride - 1, this.count + elementsMax - this.elements)
    let at = from
    let lastPrefix = 0
    let lastNamespace = namespace
    let { depth, count, state, elements } = this
    while (count < room) {
      if (b[at] !== lt) {
        const end = this.plainText(at)
        if (end < 0) break
        const record = count * nodeStride
        nodes[record] = this.textFlags
        nodes[record + nodeName] = -1
        nodes[record + nodeStart] = at
        nodes[record + nodeContent] = at
        nodes[record + nodeEnd] = end
        nodes[record + nodeNext] = ++count
        at = end
      } else if (b[at + 1] === slash) {
        const bytes = openNameBytes[depth] as number
        const record = (open[depth] as number) * nodeStride
        const after = at + 2 + bytes
        const start = nodes[record + nodeStart] as number
        if (b[after] !== gt || depth === innermost || !this.sameBytes(at + 2, start + 1, bytes)) {
          break
        }
        at = after + 1
        nodes[record + nodeEnd] = at
        nodes[record + nodeNext] = count
        const tag = openTag[depth] as number
        state = stateOf(tag, openTag[depth - 1] as number, 1)
        if (--depth === pause) break
        if (at - start >= repeatedBytesMin && guesses[state] === tag) {
          this.repeatedAt = at
          break
        }
      } else {
        const guess = guesses[state] as number
        const tag = guess * tagStride
        const flags = records[tag + tagFlags] as number
        if ((flags & tagIsSimple) === 0 || depth === depthMax) break
        if (!tags.matches(guess, view, at)) break
        const record = count * nodeStride
        nodes[record + nodeName] = records[tag + tagName] as number
        const prefix = records[tag + tagPrefix] as number
        if (prefix !== lastPrefix) {
          lastNamespace =
            prefix === 0
              ? namespace
              : this.namespaces.ofPrefix(b, at + 1, at + (records[tag + tagLocal] as number) - 1)
          lastPrefix = prefix
        }
        nodes[record] = elementKind | (lastNamespace << namespaceShift)
        nodes[record + nodeStart] = at
        open[++depth] = count++
        elements++
        const length = records[tag + tagLength] as number
        if (flags >> tagAttributesShift === 0) nodes[record + nodeContent] = at + length
        else this.knownAttributes(record, guess, at)
        at += length
        openNameBytes[depth] = (records[tag + tagNameEnd] as number) - 1
        state = stateOf(guess, openTag[depth - 1] as number, 0)
        openTag[depth] = guess
      }
    }
    this.depth = depth
    this.count = count
    this.state = state
    this.elements = elements
    return at
  }

  knownAttributes(record: number, tag: number, from: number): void {
    const flags = this.tags.records[tag * tagStride + tagFlags] as number
    const count = flags >> tagAttributesShift
    this.nodes[record] = (this.nodes[record] as number) | (count << attributeCountShift)
    this.nodes[record + nodeContent] = this.attributes.count
    this.attributes.copy(this.tags, tag, from, count)
  }

  knownTag(tag: number, from: number): number {
    const tags = this.tags
    const node = this.element(from)
    const { records } = tags
    const at = tag * tagStride
    const end = from + (records[at + tagLength] as number)
    const record = node * nodeStride
    const nodes = this.nodes
    const flags = records[at + tagFlags] as number
    const count = flags >> tagAttributesShift
    const local = records[at + tagLocal] as number
    const nameEnd = records[at + tagNameEnd] as number
    const known = records[at + tagName] as number
    nodes[record + nodeName] =
      known >= 0
        ? known
        : this.names.intern(this.buffer, from + local, from + nameEnd, tags.hash[tag] as number)
    nodes[record + nodeContent] = count === 0 ? end : this.attributes.count
    if (count > 0) this.attributes.copy(tags, tag, from, count)
    if ((flags & tagDeclares) !== 0) {
      this.attributes.declareAgain(this.buffer, count, this.namespaces, this.depth)
    }
    const namespace =
      local === 1
        ? this.namespaces.defaultId
        : this.namespaces.ofPrefix(this.buffer, from + 1, from + local - 1)
    nodes[record] = elementKind | (count << attributeCountShift) | (namespace << namespaceShift)
    this.enter(node, tag, nameEnd - 1, end, (flags & tagIsEmpty) !== 0)
    return end
  }

  /** A new element one level deeper, within the limits. */
  element(from: number): number {
    if (++this.elements > this.limits.elementsMax) {
      throw this.error('elements_exceeded', from, { elementsMax: this.limits.elementsMax })
    }
    if (this.depth === this.limits.depthMax) {
      throw this.error('depth_exceeded', from, { depthMax: this.limits.depthMax })
    }
    this.depth++
    return this.node(elementKind, from)
  }

  /** Leaves the element open, or closes it at once where its tag is empty. */
  enter(node: number, tag: number, nameBytes: number, end: number, isEmpty: boolean): void {
    const depth = this.depth
    const above = this.openTag[depth - 1] as number
    if (isEmpty) {
      const record = node * nodeStride
      this.nodes[record + nodeEnd] = end
      this.nodes[record + nodeNext] = this.count
      this.state = stateOf(tag, above, 1)
      this.leave()
      return
    }
    this.open[depth] = node
    this.openNameBytes[depth] = nameBytes
    this.openTag[depth] = tag
    this.state = stateOf(tag, above, 0)
  }

  leave(): void {
    if (this.namespaces.innermost === this.depth) this.namespaces.leave(this.depth)
    this.depth--
  }
}

/** The place in the table of guesses for what follows a tag, open (0) or closed (1), beneath another. */
export const stateOf = (tag: number, above: number, closed: number): number =>
  (Math.imul(tag * 2 + closed, 0x9e3779b1) ^ Math.imul(above, 0x85ebca6b)) >>> 20
