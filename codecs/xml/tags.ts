import {
  ATTRIBUTE_NAMESPACE,
  ATTRIBUTE_STRIDE,
  IS_NAMESPACE_DECLARATION,
  VALUE_NEEDS_DECODING,
} from './document.ts'
import { XMLNS_NAMESPACE_ID } from './namespaces.ts'

/** Distinct start tags remembered; a scanner that meets more forgets all and learns anew. */
export const TAGS_MAX = 1024
/** Longer tags, or tags shorter than a word, are read each time. */
const TAG_BYTES_MAX = 160
const TAG_BYTES_MIN = 4
/** Longer tags have their words apart from their record. */
const INLINE_BYTES_MAX = 40
const LONG_WORDS = TAG_BYTES_MAX / 8
const ATTRIBUTES_MAX = 4
/** The record of a namespace declaration whose value is its bytes. */
const declaration = IS_NAMESPACE_DECLARATION | (XMLNS_NAMESPACE_ID << 2)

/** State of a scanner that has just begun a document. */
export const START_STATE = 0

/** Ints of a tag's record: one line of the processor's cache, since a message meets a hundred of them. */
export const TAG_STRIDE = 16
/** Bytes of the whole start tag, `<` and `>` included. */
export const TAG_LENGTH = 0
/** Id of the local name in the vocabulary, or -1. */
export const TAG_NAME = 1
/** A number of its own for each prefix; 0 without one. */
export const TAG_PREFIX = 2
/** Offset of the local name from the `<`; 1 without a prefix. */
export const TAG_LOCAL = 3
/** Offset behind the qualified name from the `<`. */
export const TAG_NAME_END = 4
/** The flags below, and from {@link TAG_ATTRIBUTES_SHIFT} on the number of attributes. */
export const TAG_FLAGS = 5
/** Opens an element of the vocabulary and declares nothing. */
export const TAG_IS_SIMPLE = 1
export const TAG_IS_EMPTY = 2
/** An attribute declares a namespace. */
export const TAG_DECLARES = 4
export const TAG_ATTRIBUTES_SHIFT = 3
/** Behind these come the bytes of a short tag, as numbers of eight bytes. */
const RECORD_WORDS = TAG_STRIDE / 2
const INLINE_WORD = 3

/**
 * Start tags as they stood in earlier documents, byte for byte. Messages of one kind repeat the same tags in
 * the same order, so the tag after the last one is nearly always the one that came there before: then a few
 * word comparisons replace reading it. What a tag means follows from its bytes alone (names, attribute
 * offsets, references checked), apart from namespaces: attributes with a prefix are not kept, and what a tag
 * declares is declared anew. Nor are tags with bytes beyond ASCII: whether those are UTF-8 is only known when
 * the document ends. A wrong guess costs one comparison and changes nothing.
 *
 * Tags are numbered from 1.
 */
export class TagCache {
  count = 0
  /** By tag: its record. */
  readonly records = new Int32Array((TAGS_MAX + 1) * TAG_STRIDE)
  /** The same memory, for the bytes of short tags. */
  private readonly words = new Float64Array(this.records.buffer)
  private readonly longWords = new Float64Array((TAGS_MAX + 1) * LONG_WORDS)
  /** By tag: hash of the local name. */
  readonly hash = new Int32Array(TAGS_MAX + 1)
  /** By tag: attribute records with offsets from the `<`. */
  private readonly attributes = new Int32Array((TAGS_MAX + 1) * ATTRIBUTES_MAX * ATTRIBUTE_STRIDE)
  readonly #byHash = new Map<number, number>()
  readonly #prefixes = new Map<string, number>()

  reset(): void {
    this.count = 0
    this.#byHash.clear()
    this.#prefixes.clear()
  }

  /**
   * True when the bytes at `at` are this tag. Compared as numbers of eight bytes, the last one overlapping;
   * bytes that make no number (NaN) differ from themselves, which is one more wrong guess.
   */
  matches(tag: number, view: DataView, at: number): boolean {
    const records = this.records
    const length = records[tag * TAG_STRIDE] as number
    if (length < 8) {
      const inline = tag * TAG_STRIDE + INLINE_WORD * 2
      return (
        view.getInt32(at, true) === records[inline] &&
        view.getInt32(at + length - 4, true) === records[inline + 1]
      )
    }
    const isLong = length > INLINE_BYTES_MAX
    const words = isLong ? this.longWords : this.words
    let word = isLong ? tag * LONG_WORDS : tag * RECORD_WORDS + INLINE_WORD
    const last = length - 8
    for (let i = 0; i < last; i += 8) {
      if (view.getFloat64(at + i, true) !== words[word++]) return false
    }
    return view.getFloat64(at + last, true) === words[word]
  }

  /** Keeps a start tag that was read in full and gives its number; 0 where it cannot be kept. */
  learn(
    view: DataView,
    tag: {
      readonly start: number
      readonly local: number
      readonly nameEnd: number
      readonly end: number
      readonly hash: number
      readonly nameId: number
      readonly isEmpty: boolean
    },
    records: Int32Array,
    first: number,
    count: number,
    remembers: boolean,
  ): number {
    const { start } = tag
    let declares = 0
    const length = tag.end - start
    if (length > TAG_BYTES_MAX || length < TAG_BYTES_MIN || count > ATTRIBUTES_MAX) return 0
    for (let i = first; i < first + count; i++) {
      const flags = records[i * ATTRIBUTE_STRIDE + ATTRIBUTE_NAMESPACE] as number
      if (flags === declaration) declares = TAG_DECLARES
      else if ((flags & ~VALUE_NEEDS_DECODING) !== 0) return 0
    }
    const key = this.#key(view, start, length)
    const known = this.#byHash.get(key)
    if (known !== undefined) {
      return this.records[known * TAG_STRIDE] === length && this.matches(known, view, start)
        ? known
        : 0
    }
    if (!remembers || this.count === TAGS_MAX || !isAscii(view, start, length)) return 0
    const id = ++this.count
    this.#byHash.set(key, id)
    const isSimple = tag.nameId >= 0 && !tag.isEmpty && declares === 0
    const record = id * TAG_STRIDE
    this.records[record + TAG_LENGTH] = length
    this.records[record + TAG_NAME] = tag.nameId
    this.records[record + TAG_PREFIX] = this.#prefixId(view, start + 1, tag.local - 1)
    this.records[record + TAG_LOCAL] = tag.local - start
    this.records[record + TAG_NAME_END] = tag.nameEnd - start
    this.records[record + TAG_FLAGS] =
      (isSimple ? TAG_IS_SIMPLE : 0) |
      (tag.isEmpty ? TAG_IS_EMPTY : 0) |
      declares |
      (count << TAG_ATTRIBUTES_SHIFT)
    this.hash[id] = tag.hash
    this.#keepWords(id, view, start, length)
    const to = id * ATTRIBUTES_MAX * ATTRIBUTE_STRIDE
    for (let i = 0; i < count * ATTRIBUTE_STRIDE; i++) {
      const value = records[first * ATTRIBUTE_STRIDE + i] as number
      this.attributes[to + i] = i % ATTRIBUTE_STRIDE === ATTRIBUTE_NAMESPACE ? value : value - start
    }
    return id
  }

  /** Writes the attribute records of a tag that stands at `start`. */
  copyAttributes(tag: number, start: number, records: Int32Array, to: number): void {
    const from = tag * ATTRIBUTES_MAX * ATTRIBUTE_STRIDE
    const flags = this.records[tag * TAG_STRIDE + TAG_FLAGS] as number
    const end = from + (flags >> TAG_ATTRIBUTES_SHIFT) * ATTRIBUTE_STRIDE
    let at = to
    for (let i = from; i < end; i += ATTRIBUTE_STRIDE) {
      for (let j = 0; j < ATTRIBUTE_NAMESPACE; j++) {
        records[at++] = (this.attributes[i + j] as number) + start
      }
      records[at++] = this.attributes[i + ATTRIBUTE_NAMESPACE] as number
    }
  }

  #keepWords(id: number, view: DataView, start: number, length: number): void {
    if (length < 8) {
      const inline = id * TAG_STRIDE + INLINE_WORD * 2
      this.records[inline] = view.getInt32(start, true)
      this.records[inline + 1] = view.getInt32(start + length - 4, true)
      return
    }
    const isLong = length > INLINE_BYTES_MAX
    const words = isLong ? this.longWords : this.words
    let word = isLong ? id * LONG_WORDS : id * RECORD_WORDS + INLINE_WORD
    for (let i = 0; i < length - 8; i += 8) words[word++] = view.getFloat64(start + i, true)
    words[word] = view.getFloat64(start + length - 8, true)
  }

  #prefixId(view: DataView, start: number, end: number): number {
    if (end <= start) return 0
    let prefix = ''
    for (let at = start; at < end; at++) prefix += String.fromCharCode(view.getUint8(at))
    const id = this.#prefixes.get(prefix) ?? this.#prefixes.size + 1
    this.#prefixes.set(prefix, id)
    return id
  }

  #key(view: DataView, start: number, length: number): number {
    let key = length
    for (let i = 0; i < length - 4; i += 4) {
      key = (Math.imul(key, 0x01000193) ^ view.getInt32(start + i, true)) | 0
    }
    return (Math.imul(key, 0x01000193) ^ view.getInt32(start + length - 4, true)) | 0
  }
}

const isAscii = (view: DataView, start: number, length: number): boolean => {
  for (let at = start; at < start + length; at++) if (view.getUint8(at) >= 0x80) return false
  return true
}
