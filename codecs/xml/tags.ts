import {
  attributeNamespace,
  attributeStride,
  isNamespaceDeclaration,
  valueNeedsDecoding,
} from './document.ts'
import { xmlnsNamespaceId } from './namespaces.ts'

/** Distinct start tags remembered; a scanner that meets more forgets all and learns anew. */
export const tagsMax = 1024
/** Longer tags, or tags shorter than a word, are read each time. */
const tagBytesMax = 160
const tagBytesMin = 4
/** Longer tags have their words apart from their record. */
const inlineBytesMax = 40
const longWords = tagBytesMax / 8
const attributesMax = 4
/** The record of a namespace declaration whose value is its bytes. */
const declaration = isNamespaceDeclaration | (xmlnsNamespaceId << 2)

/** State of a scanner that has just begun a document. */
export const startState = 0

/** Ints of a tag's record: one line of the processor's cache, since a message meets a hundred of them. */
export const tagStride = 16
/** Bytes of the whole start tag, `<` and `>` included. */
export const tagLength = 0
/** Id of the local name in the vocabulary, or -1. */
export const tagName = 1
/** A number of its own for each prefix; 0 without one. */
export const tagPrefix = 2
/** Offset of the local name from the `<`; 1 without a prefix. */
export const tagLocal = 3
/** Offset behind the qualified name from the `<`. */
export const tagNameEnd = 4
/** The flags below, and from {@link tagAttributesShift} on the number of attributes. */
export const tagFlags = 5
/** Opens an element of the vocabulary and declares nothing. */
export const tagIsSimple = 1
export const tagIsEmpty = 2
/** An attribute declares a namespace. */
export const tagDeclares = 4
export const tagAttributesShift = 3
/** Behind these come the bytes of a short tag, as numbers of eight bytes. */
const recordWords = tagStride / 2
const inlineWord = 3

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
  readonly records = new Int32Array((tagsMax + 1) * tagStride)
  /** The same memory, for the bytes of short tags. */
  private readonly words = new Float64Array(this.records.buffer)
  private readonly longWords = new Float64Array((tagsMax + 1) * longWords)
  /** By tag: hash of the local name. */
  readonly hash = new Int32Array(tagsMax + 1)
  /** By tag: attribute records with offsets from the `<`. */
  private readonly attributes = new Int32Array((tagsMax + 1) * attributesMax * attributeStride)
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
    const length = records[tag * tagStride] as number
    if (length < 8) {
      const inline = tag * tagStride + inlineWord * 2
      return (
        view.getInt32(at, true) === records[inline] &&
        view.getInt32(at + length - 4, true) === records[inline + 1]
      )
    }
    const isLong = length > inlineBytesMax
    const words = isLong ? this.longWords : this.words
    let word = isLong ? tag * longWords : tag * recordWords + inlineWord
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
    if (length > tagBytesMax || length < tagBytesMin || count > attributesMax) return 0
    for (let i = first; i < first + count; i++) {
      const flags = records[i * attributeStride + attributeNamespace] as number
      if (flags === declaration) declares = tagDeclares
      else if ((flags & ~valueNeedsDecoding) !== 0) return 0
    }
    const key = this.#key(view, start, length)
    const known = this.#byHash.get(key)
    if (known !== undefined) {
      return this.records[known * tagStride] === length && this.matches(known, view, start)
        ? known
        : 0
    }
    if (!remembers || this.count === tagsMax || !isAscii(view, start, length)) return 0
    const id = ++this.count
    this.#byHash.set(key, id)
    const isSimple = tag.nameId >= 0 && !tag.isEmpty && declares === 0
    const record = id * tagStride
    this.records[record + tagLength] = length
    this.records[record + tagName] = tag.nameId
    this.records[record + tagPrefix] = this.#prefixId(view, start + 1, tag.local - 1)
    this.records[record + tagLocal] = tag.local - start
    this.records[record + tagNameEnd] = tag.nameEnd - start
    this.records[record + tagFlags] =
      (isSimple ? tagIsSimple : 0) |
      (tag.isEmpty ? tagIsEmpty : 0) |
      declares |
      (count << tagAttributesShift)
    this.hash[id] = tag.hash
    this.#keepWords(id, view, start, length)
    const to = id * attributesMax * attributeStride
    for (let i = 0; i < count * attributeStride; i++) {
      const value = records[first * attributeStride + i] as number
      this.attributes[to + i] = i % attributeStride === attributeNamespace ? value : value - start
    }
    return id
  }

  /** Writes the attribute records of a tag that stands at `start`. */
  copyAttributes(tag: number, start: number, records: Int32Array, to: number): void {
    const from = tag * attributesMax * attributeStride
    const flags = this.records[tag * tagStride + tagFlags] as number
    const end = from + (flags >> tagAttributesShift) * attributeStride
    let at = to
    for (let i = from; i < end; i += attributeStride) {
      for (let j = 0; j < attributeNamespace; j++) {
        records[at++] = (this.attributes[i + j] as number) + start
      }
      records[at++] = this.attributes[i + attributeNamespace] as number
    }
  }

  #keepWords(id: number, view: DataView, start: number, length: number): void {
    if (length < 8) {
      const inline = id * tagStride + inlineWord * 2
      this.records[inline] = view.getInt32(start, true)
      this.records[inline + 1] = view.getInt32(start + length - 4, true)
      return
    }
    const isLong = length > inlineBytesMax
    const words = isLong ? this.longWords : this.words
    let word = isLong ? id * longWords : id * recordWords + inlineWord
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
