import { plainDeclaration } from './attributes.ts'
import {
  absent,
  attributeFlags,
  attributeLocalStart,
  attributeNameEnd,
  attributeStart,
  attributeStride,
  attributeValueEnd,
  attributeValueStart,
  valueNeedsDecoding,
} from './layout.ts'
import type { Source } from './source.ts'
import { Stretch } from './stretch.ts'
import type { Records } from './tape.ts'

/** Distinct start tags remembered; a scanner that meets more forgets all and learns anew. */
const tagsMax = 1024
/** Longer tags are read each time. */
const tagBytesMax = 160
/** Slots of the table of tags by their bytes: at most half of them are taken. */
const slotCount = 2 * tagsMax
const signs = 0x80808080
/** Slots of the table of guesses; a collision is a wrong guess, no more. */
const guessCount = 4096
/**
 * After so many new tags in a row in one place, expect them to be new each time, such as `KeyInfo` with a new Id for
 * each signature. Remembering those would only push out tags that recur.
 */
const surprisesMax = 16

type Declaration = { readonly prefix: string; readonly uri: string; readonly start: number }

/** A start tag as it was read; offsets are those of the document. */
export type ReadTag = {
  readonly start: number
  /** Id of its local name. */
  readonly local: number
  readonly nameEnd: number
  readonly end: number
  readonly isEmpty: boolean
  /** Index of its first attribute. */
  readonly first: number
}

/**
 * The bytes of a start tag in an earlier document, and all that follows from its bytes alone. Fields without `#`:
 * JavaScriptCore is slow with those.
 */
export class Tag {
  /** From 1 on. */
  readonly id: number
  readonly stretch: Stretch
  readonly prefix: string
  readonly name: string
  /** Id in the vocabulary, or -1. */
  readonly nameId: number
  /** Bytes of the qualified name. */
  readonly nameBytes: number
  readonly isEmpty: boolean
  readonly attributeCount: number
  readonly declarations: readonly Declaration[]
  /** Opens an element of the vocabulary and declares nothing. */
  readonly isSimple: boolean
  /** Records whose offsets count from the `<`. */
  private readonly attributes: Int32Array

  constructor(id: number, nameId: number, source: Source, tag: ReadTag, records: Int32Array) {
    const { start, local, nameEnd, end, isEmpty } = tag
    this.id = id
    this.stretch = new Stretch(source.buffer.slice(start, end))
    this.prefix = source.string(start + 1, Math.max(start + 1, local - 1))
    this.name = source.string(local, nameEnd)
    this.nameId = nameId
    this.nameBytes = nameEnd - start - 1
    this.isEmpty = isEmpty
    this.attributeCount = records.length / attributeStride
    this.attributes = records.map((value, i) =>
      i % attributeStride === attributeFlags ? value : value - start,
    )
    this.declarations = recordsOf(records)
      .filter((at) => records[at + attributeFlags] === plainDeclaration)
      .map((at) => declarationAt(source, records, at, start))
    this.isSimple = nameId >= 0 && !isEmpty && this.declarations.length === 0
  }

  /** Whether the `nameBytes` bytes at `start` are this tag's qualified name. */
  isNamed(b: Uint8Array, start: number, nameBytes: number): boolean {
    const { bytes } = this.stretch
    if (this.nameBytes !== nameBytes) return false
    for (let i = 0; i < nameBytes; i++) if (b[start + i] !== bytes[i + 1]) return false
    return true
  }

  /** Writes the records of its attributes, for a tag at `start` in the document. */
  writeAttributes(records: Records, source: Source, start: number): void {
    const { attributes, attributeCount } = this
    records.reserve(attributeCount, source, start)
    const { ints } = records
    let to = records.count * attributeStride
    for (let from = 0; from < attributes.length; from += attributeStride) {
      for (let i = 0; i < attributeFlags; i++) ints[to++] = (attributes[from + i] as number) + start
      ints[to++] = attributes[from + attributeFlags] as number
    }
    records.count += attributeCount
  }
}

const recordsOf = (records: Int32Array): readonly number[] =>
  Array.from({ length: records.length / attributeStride }, (_, i) => i * attributeStride)

const declarationAt = (
  source: Source,
  records: Int32Array,
  at: number,
  tagStart: number,
): Declaration => {
  const start = records[at + attributeStart] as number
  const local = records[at + attributeLocalStart] as number
  const string = (from: number, to: number) =>
    source.string(records[at + from] as number, records[at + to] as number)
  return {
    prefix: local === start ? '' : string(attributeLocalStart, attributeNameEnd),
    uri: string(attributeValueStart, attributeValueEnd),
    start: start - tagStart,
  }
}

/**
 * Start tags of earlier documents. Messages of one kind repeat the same tags in the same order, so the tag after the
 * last one is nearly always the one that came there before: then a few comparisons replace reading it. A wrong guess
 * costs one comparison and changes nothing. What a tag means follows from its bytes, apart from namespaces: a tag
 * with a prefixed attribute is not kept, and what a tag declares is declared anew. A tag with bytes beyond ASCII is not
 * kept either, as only the end of the document tells whether they are UTF-8.
 */
export class TagMemory {
  /** Stands for a tag that is not remembered. */
  readonly none: Tag
  /** By {@link stateOf}: the tag that came there last. */
  readonly guesses: Tag[]
  /** By {@link stateOf}: the tag that came there before that one. */
  private readonly others: Tag[]
  /** By the hash of their bytes, or in the next free slot behind it. */
  private readonly slots: Tag[]
  private count = 0
  /** By {@link stateOf}: how many tags in a row came there that no document had before. */
  private readonly surprises = new Uint8Array(guessCount)
  /** Where the tag that {@link known} has just not found would be remembered. */
  private free: number = absent

  constructor(source: Source) {
    const nothing = { start: 0, local: 0, nameEnd: 0, end: 0, isEmpty: true, first: 0 }
    this.none = new Tag(0, -1, source, nothing, new Int32Array(0))
    this.guesses = new Array(guessCount).fill(this.none)
    this.others = new Array(guessCount).fill(this.none)
    this.slots = new Array(slotCount).fill(this.none)
  }

  /** Forgets all if there is no room for more. */
  rewind(): void {
    if (this.count < tagsMax) return
    this.count = 0
    this.slots.fill(this.none)
    this.guesses.fill(this.none)
    this.others.fill(this.none)
    this.surprises.fill(0)
  }

  /** The tag that is expected behind a state, if it stands at `at`; {@link none} otherwise. */
  expected(state: number, { buffer, view }: Source, at: number): Tag {
    const guess = this.guesses[state] as Tag
    if (guess === this.none || guess.stretch.isAt(buffer, view, at)) return guess
    const other = this.others[state] as Tag
    if (other === this.none || !other.stretch.isAt(buffer, view, at)) return this.none
    this.guess(state, other)
    return other
  }

  private guess(state: number, tag: Tag): void {
    this.others[state] = this.guesses[state] as Tag
    this.guesses[state] = tag
  }

  /** The tag that stands in `[start, end)`, if it is remembered. It becomes the guess for this state. */
  known(state: number, source: Source, start: number, end: number): Tag {
    const slot = end - start > tagBytesMax ? absent : this.slotOf(source, start, end)
    this.free = slot
    const tag = slot === absent ? this.none : (this.slots[slot] as Tag)
    if (tag === this.none) return tag
    this.guess(state, tag)
    this.surprises[state] = 0
    return tag
  }

  /** Where the tag of these bytes is or would be remembered; {@link absent} if they are not all ASCII. */
  private slotOf({ buffer, view }: Source, start: number, end: number): number {
    const bytes = end - start
    let hash = bytes
    let high = 0
    // The shortest tag has three bytes. The last word overlaps the one before it, and one that is too long is cut.
    for (let at = start; at < end; at += 4) {
      const word =
        bytes < 4 ? view.getInt32(at, true) << 8 : view.getInt32(Math.min(at, end - 4), true)
      hash = Math.imul(hash ^ word, 0x9e3779b1)
      hash ^= hash >>> 15
      high |= word
    }
    if ((high & signs) !== 0) return absent
    for (let slot = hash & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
      const tag = this.slots[slot] as Tag
      if (
        tag === this.none ||
        (tag.stretch.length === bytes && tag.stretch.isAt(buffer, view, start))
      ) {
        return slot
      }
    }
  }

  /**
   * Remembers the tag that {@link known} has just not found, read in full behind that state, if it may be remembered.
   *
   * @param nameId of the vocabulary, or -1
   * @returns the remembered tag, or {@link none}
   */
  learn(state: number, nameId: number, source: Source, read: ReadTag, records: Records): Tag {
    const { count, free } = this
    const surprises = this.surprises[state] as number
    if (surprises === surprisesMax || count === tagsMax || free === absent) return this.none
    const own = records.ints.slice(read.first * attributeStride, records.count * attributeStride)
    const isPlain = recordsOf(own).every((at) => isOwn(own[at + attributeFlags] as number))
    if (!isPlain) return this.none
    const tag = new Tag(count + 1, nameId, source, read, own)
    this.surprises[state] = surprises + 1
    this.slots[free] = tag
    this.count++
    this.guess(state, tag)
    return tag
  }
}

/** Whether an attribute has no namespace, or is a declaration whose value is its bytes. */
const isOwn = (flags: number): boolean =>
  flags === plainDeclaration || (flags & ~valueNeedsDecoding) === 0

/** State of a scanner that has just begun a document. */
export const startState = 0

/** The place in the table of guesses for what follows a tag, open (0) or closed (1), beneath another. */
export const stateOf = (tag: Tag, above: Tag, closed: number): number =>
  (Math.imul(tag.id * 2 + closed, 0x9e3779b1) ^ Math.imul(above.id, 0x85ebca6b)) >>> 20
