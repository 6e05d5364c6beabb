import {
  ATTRIBUTE_COUNT_SHIFT,
  ELEMENT,
  NAMESPACE_SHIFT,
  NODE_CONTENT,
  NODE_END,
  NODE_NAME,
  NODE_NEXT,
  NODE_START,
  NODE_STRIDE,
} from './document.ts'
import type { XmlLimits } from './limits.ts'
import { Namespaces } from './namespaces.ts'
import type { XmlNative } from './scanner.ts'
import {
  START_STATE,
  TAG_ATTRIBUTES_SHIFT,
  TAG_DECLARES,
  TAG_FLAGS,
  TAG_IS_EMPTY,
  TAG_IS_SIMPLE,
  TAG_LENGTH,
  TAG_LOCAL,
  TAG_NAME,
  TAG_NAME_END,
  TAG_PREFIX,
  TAG_STRIDE,
  TAGS_MAX,
  TagCache,
} from './tags.ts'
import { Tape } from './tape.ts'
import { NameTable, type XmlVocabulary } from './vocabulary.ts'

const LT = 0x3c
const GT = 0x3e
const SLASH = 0x2f

/**
 * Where tags are new this often they are so each time, as `KeyInfo` with an Id of its own for each signature:
 * remembering those would only push out what comes again.
 */
export const SURPRISES_MAX = 16

/** More bytes than any element has, and a small integer: comparing with those is fast. */
const NEVER = 0x3fffffff

/** Slots of the table of guesses; a collision is a wrong guess, no more. */
const GUESSES = 4096

/** The elements of the tape: which are open, what is remembered of their tags, what is expected next. */
export class Elements extends Tape {
  readonly names: NameTable
  readonly namespaces = new Namespaces()
  readonly tags = new TagCache()
  readonly guesses = new Uint16Array(GUESSES)
  /** By state: how often a tag came there that was in no document before. */
  readonly surprises = new Uint8Array(GUESSES)
  elements = 0
  depth = 0
  /** What came last, as an index into the guesses. */
  state = START_STATE
  /** Where {@link expected} has stopped behind an element, as another of its name is expected to follow. */
  repeatedAt = -1
  /** {@link expected} stops where an element ends at this depth; at 0, with the document. */
  pause = 0
  /** Behind elements of fewer bytes it goes on. */
  protected repeatedBytesMin = NEVER
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
    this.state = START_STATE
    this.pause = 0
    this.names.reset()
    this.namespaces.reset()
    if (this.tags.count === TAGS_MAX) {
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
    const room = Math.min(nodes.length / NODE_STRIDE - 1, this.count + elementsMax - this.elements)
    let at = from
    let lastPrefix = 0
    let lastNamespace = namespace
    let { depth, count, state, elements } = this
    while (count < room) {
      if (b[at] !== LT) {
        const end = this.plainText(at)
        if (end < 0) break
        const record = count * NODE_STRIDE
        nodes[record] = this.textFlags
        nodes[record + NODE_NAME] = -1
        nodes[record + NODE_START] = at
        nodes[record + NODE_CONTENT] = at
        nodes[record + NODE_END] = end
        nodes[record + NODE_NEXT] = ++count
        at = end
      } else if (b[at + 1] === SLASH) {
        const bytes = openNameBytes[depth] as number
        const record = (open[depth] as number) * NODE_STRIDE
        const after = at + 2 + bytes
        const start = nodes[record + NODE_START] as number
        if (b[after] !== GT || depth === innermost || !this.sameBytes(at + 2, start + 1, bytes)) {
          break
        }
        at = after + 1
        nodes[record + NODE_END] = at
        nodes[record + NODE_NEXT] = count
        const tag = openTag[depth] as number
        state = stateOf(tag, openTag[depth - 1] as number, 1)
        if (--depth === pause) break
        if (at - start >= repeatedBytesMin && guesses[state] === tag) {
          this.repeatedAt = at
          break
        }
      } else {
        const guess = guesses[state] as number
        const tag = guess * TAG_STRIDE
        const flags = records[tag + TAG_FLAGS] as number
        if ((flags & TAG_IS_SIMPLE) === 0 || depth === depthMax) break
        if (!tags.matches(guess, view, at)) break
        const record = count * NODE_STRIDE
        nodes[record + NODE_NAME] = records[tag + TAG_NAME] as number
        const prefix = records[tag + TAG_PREFIX] as number
        if (prefix !== lastPrefix) {
          lastNamespace =
            prefix === 0
              ? namespace
              : this.namespaces.ofPrefix(b, at + 1, at + (records[tag + TAG_LOCAL] as number) - 1)
          lastPrefix = prefix
        }
        nodes[record] = ELEMENT | (lastNamespace << NAMESPACE_SHIFT)
        nodes[record + NODE_START] = at
        open[++depth] = count++
        elements++
        const length = records[tag + TAG_LENGTH] as number
        if (flags >> TAG_ATTRIBUTES_SHIFT === 0) nodes[record + NODE_CONTENT] = at + length
        else this.knownAttributes(record, guess, at)
        at += length
        openNameBytes[depth] = (records[tag + TAG_NAME_END] as number) - 1
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
    const flags = this.tags.records[tag * TAG_STRIDE + TAG_FLAGS] as number
    const count = flags >> TAG_ATTRIBUTES_SHIFT
    this.nodes[record] = (this.nodes[record] as number) | (count << ATTRIBUTE_COUNT_SHIFT)
    this.nodes[record + NODE_CONTENT] = this.attributes.count
    this.attributes.copy(this.tags, tag, from, count)
  }

  knownTag(tag: number, from: number): number {
    const tags = this.tags
    const node = this.element(from)
    const { records } = tags
    const at = tag * TAG_STRIDE
    const end = from + (records[at + TAG_LENGTH] as number)
    const record = node * NODE_STRIDE
    const nodes = this.nodes
    const flags = records[at + TAG_FLAGS] as number
    const count = flags >> TAG_ATTRIBUTES_SHIFT
    const local = records[at + TAG_LOCAL] as number
    const nameEnd = records[at + TAG_NAME_END] as number
    const known = records[at + TAG_NAME] as number
    nodes[record + NODE_NAME] =
      known >= 0
        ? known
        : this.names.intern(this.buffer, from + local, from + nameEnd, tags.hash[tag] as number)
    nodes[record + NODE_CONTENT] = count === 0 ? end : this.attributes.count
    if (count > 0) this.attributes.copy(tags, tag, from, count)
    if ((flags & TAG_DECLARES) !== 0) {
      this.attributes.declareAgain(this.buffer, count, this.namespaces, this.depth)
    }
    const namespace =
      local === 1
        ? this.namespaces.defaultId
        : this.namespaces.ofPrefix(this.buffer, from + 1, from + local - 1)
    nodes[record] = ELEMENT | (count << ATTRIBUTE_COUNT_SHIFT) | (namespace << NAMESPACE_SHIFT)
    this.enter(node, tag, nameEnd - 1, end, (flags & TAG_IS_EMPTY) !== 0)
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
    return this.node(ELEMENT, from)
  }

  /** Leaves the element open, or closes it at once where its tag is empty. */
  enter(node: number, tag: number, nameBytes: number, end: number, isEmpty: boolean): void {
    const depth = this.depth
    const above = this.openTag[depth - 1] as number
    if (isEmpty) {
      const record = node * NODE_STRIDE
      this.nodes[record + NODE_END] = end
      this.nodes[record + NODE_NEXT] = this.count
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
