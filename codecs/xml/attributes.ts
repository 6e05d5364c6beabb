import { classOf, isChar, name, nameStart, ncNamePattern, space, valueStop } from './characters.ts'
import {
  absent,
  attributeLocalStart,
  attributeNameEnd,
  attributeNameStart,
  attributeNamespace,
  attributeStride,
  attributeValueEnd,
  attributeValueStart,
  isNamespaceDeclaration,
  valueNeedsDecoding,
} from './document.ts'
import { type XmlErrorCode, xmlError } from './errors.ts'
import type { XmlLimits } from './limits.ts'
import { type Namespaces, noNamespaceId, xmlnsNamespaceId } from './namespaces.ts'
import { StringCache } from './string-cache.ts'
import type { TagCache } from './tags.ts'
import { decodeValue } from './text.ts'
import { grown } from './vocabulary.ts'

const gt = 0x3e
const slash = 0x2f
const colon = 0x3a
const equals = 0x3d
const amp = 0x26
const lt = 0x3c
const semicolon = 0x3b

/** Attributes of one array, which documents share like that of the nodes. */
const arrayAttributes = 4096
const arrayAttributesLeftMin = 512
const arrayInts = arrayAttributes * attributeStride

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Reads the attributes of start tags, and references wherever they stand. */
export class AttributeReader {
  count = 0
  /** All bytes of names and values seen, or-ed. */
  high = 0
  records = new Int32Array(arrayInts)
  readonly #limits: XmlLimits
  readonly #reuse: boolean
  readonly #strings = new StringCache()
  #length = 0

  constructor(limits: XmlLimits, reuse: boolean) {
    this.#limits = limits
    this.#reuse = reuse
  }

  /** A new document: its records follow those of earlier ones while there is room. */
  reset(): void {
    this.high = 0
    if (this.#reuse) this.count = 0
    const left = arrayAttributes - this.count
    if (left >= arrayAttributesLeftMin && this.records.length === arrayInts) return
    this.records = new Int32Array(arrayInts)
    this.count = 0
  }

  /** The attributes of a remembered tag that stands at `start`. */
  copy(tags: TagCache, tag: number, start: number, count: number): void {
    this.reserve(count)
    tags.copyAttributes(tag, start, this.records, this.count * attributeStride)
    this.count += count
  }

  /** Declares again what the last `count` attributes declare; {@link read} has found them right. */
  declareAgain(b: Uint8Array, count: number, namespaces: Namespaces, depth: number): void {
    for (let i = this.count - count; i < this.count; i++) {
      const record = i * attributeStride
      const flags = this.records[record + attributeNamespace] as number
      if ((flags & isNamespaceDeclaration) === 0) continue
      const start = this.records[record + attributeNameStart] as number
      const local = this.records[record + attributeLocalStart] as number
      const prefix =
        local === start
          ? ''
          : this.#strings.of(b, local, this.records[record + attributeNameEnd] as number)
      const uri = this.#strings.of(
        b,
        this.records[record + attributeValueStart] as number,
        this.records[record + attributeValueEnd] as number,
      )
      namespaces.declare(prefix, uri, depth, start)
    }
  }

  /** Makes room for so many more. */
  reserve(count: number): void {
    const needed = (this.count + count) * attributeStride
    if (needed > this.records.length) this.records = grown(this.records, needed)
  }

  /** All attributes of one start tag, from behind its name to its '>' or '/'. */
  read(b: Uint8Array, from: number, length: number, namespaces: Namespaces, depth: number): number {
    this.#length = length
    const first = this.count
    let at = from
    for (;;) {
      const before = at
      while ((classOf[b[at] as number] as number) & space) at++
      if (b[at] === gt || b[at] === slash) break
      if (at === before || at >= length) throw this.#error('markup_invalid', at)
      if (this.count - first === this.#limits.attributesMax) {
        throw xmlError('attributes_exceeded', at, { attributesMax: this.#limits.attributesMax })
      }
      at = this.#attribute(b, at)
    }
    for (let i = first; i < this.count; i++) this.#declare(b, i, namespaces, depth)
    for (let i = first; i < this.count; i++) this.#resolve(b, i, namespaces)
    if (this.count - first > 1) this.#refuseDuplicates(b, first)
    return at
  }

  #attribute(b: Uint8Array, from: number): number {
    this.reserve(1)
    const record = this.count * attributeStride
    const records = this.records
    let at = this.#name(b, from, record)
    records[record + attributeNameEnd] = at
    while ((classOf[b[at] as number] as number) & space) at++
    if (b[at] !== equals) throw this.#error('attribute_invalid', at)
    at++
    while ((classOf[b[at] as number] as number) & space) at++
    const quote = b[at] as number
    if (quote !== 0x22 && quote !== 0x27) throw this.#error('attribute_invalid', at)
    const start = ++at
    let flags = 0
    for (;;) {
      let byte = b[at] as number
      while (!((classOf[byte] as number) & valueStop)) {
        this.high |= byte
        byte = b[++at] as number
      }
      if (byte === quote) break
      if (byte === amp) {
        at = this.reference(b, at, this.#length)
        flags = valueNeedsDecoding
      } else if (byte === lt) throw this.#error('attribute_less_than', at)
      else if ((classOf[byte] as number) & space) {
        flags = valueNeedsDecoding
        at++
      } else if (byte === 0x22 || byte === 0x27) at++
      else throw this.#error('character_forbidden', at)
    }
    if (at - start > this.#limits.textBytesMax) {
      throw xmlError('text_too_long', start, { textBytesMax: this.#limits.textBytesMax })
    }
    records[record + attributeValueStart] = start
    records[record + attributeValueEnd] = at
    records[record + attributeNamespace] = flags
    this.count++
    return at + 1
  }

  #name(b: Uint8Array, from: number, record: number): number {
    if (!((classOf[b[from] as number] as number) & nameStart)) {
      throw this.#error('attribute_invalid', from)
    }
    let at = from
    let local = from
    let high = 0
    for (;;) {
      const byte = b[at] as number
      if ((classOf[byte] as number) & name) {
        high |= byte
        at++
      } else if (byte === colon && local === from) {
        local = ++at
        if (!((classOf[b[at] as number] as number) & nameStart)) {
          throw this.#error('name_invalid', at)
        }
      } else break
    }
    if (at - from > this.#limits.nameBytesMax) {
      throw xmlError('name_too_long', from, { nameBytesMax: this.#limits.nameBytesMax })
    }
    if (high >= 0x80) {
      this.high |= high
      const parts = utf8.decode(b.subarray(from, at)).split(':')
      if (!parts.every((part) => ncNamePattern.test(part))) throw this.#error('name_invalid', from)
    }
    this.records[record + attributeNameStart] = from
    this.records[record + attributeLocalStart] = local
    return at
  }

  /** `xmlns` and `xmlns:prefix` bind before any name of the tag is resolved. */
  #declare(b: Uint8Array, index: number, namespaces: Namespaces, depth: number): void {
    const records = this.records
    const record = index * attributeStride
    const start = records[record + attributeNameStart] as number
    const local = records[record + attributeLocalStart] as number
    const end = records[record + attributeNameEnd] as number
    const isDefault = local === start && end - start === 5
    if (!(isDefault || local - start === 6) || !startsXmlns(b, start)) return
    const raw = this.#strings.of(
      b,
      records[record + attributeValueStart] as number,
      records[record + attributeValueEnd] as number,
    )
    const flags = records[record + attributeNamespace] as number
    const prefix = isDefault ? '' : this.#strings.of(b, local, end)
    namespaces.declare(prefix, flags ? decodeValue(raw) : raw, depth, start)
    records[record + attributeNamespace] = flags | isNamespaceDeclaration | (xmlnsNamespaceId << 2)
  }

  #resolve(b: Uint8Array, index: number, namespaces: Namespaces): void {
    const records = this.records
    const record = index * attributeStride
    const flags = records[record + attributeNamespace] as number
    if (flags & isNamespaceDeclaration) return
    const start = records[record + attributeNameStart] as number
    const local = records[record + attributeLocalStart] as number
    const id = local === start ? noNamespaceId : namespaces.ofPrefix(b, start, local - 1)
    records[record + attributeNamespace] = flags | (id << 2)
  }

  /** By local name and namespace: two prefixes of one namespace are one name (Namespaces 6.3). */
  #refuseDuplicates(b: Uint8Array, first: number): void {
    for (let i = first + 1; i < this.count; i++) {
      for (let j = first; j < i; j++) {
        if (this.#sameName(b, i, j)) {
          const start = this.records[i * attributeStride + attributeNameStart] as number
          throw xmlError('attribute_duplicate', start)
        }
      }
    }
  }

  #sameName(b: Uint8Array, one: number, other: number): boolean {
    const records = this.records
    const a = one * attributeStride
    const c = other * attributeStride
    const aStart = records[a + attributeLocalStart] as number
    const cStart = records[c + attributeLocalStart] as number
    const length = (records[a + attributeNameEnd] as number) - aStart
    if ((records[c + attributeNameEnd] as number) - cStart !== length) return false
    for (let i = 0; i < length; i++) if (b[aStart + i] !== b[cStart + i]) return false
    return (
      (records[a + attributeNamespace] as number) >> 2 ===
      (records[c + attributeNamespace] as number) >> 2
    )
  }

  /** Checks the reference at '&' and gives the offset behind its ';' (XML 1.0, 4.1). */
  reference(b: Uint8Array, from: number, length: number): number {
    this.#length = length
    let at = from + 1
    if (b[at] === 0x23) return this.#characterReference(b, from)
    const end = predefinedEnd(b, from)
    if (end !== absent) return end
    while ((classOf[b[at] as number] as number) & name) at++
    if (b[at] !== semicolon || at === from + 1) {
      throw this.#error('reference_invalid', at >= length ? at : from)
    }
    throw xmlError('entity_undefined', from)
  }

  #characterReference(b: Uint8Array, from: number): number {
    const hex = b[from + 2] === 0x78
    const digits = from + (hex ? 3 : 2)
    let at = digits
    let code = 0
    for (;;) {
      const digit = digitOf(b[at] as number, hex)
      if (digit < 0) break
      code = Math.min(code * (hex ? 16 : 10) + digit, 0x110000)
      at++
    }
    if (at === digits || b[at] !== semicolon)
      throw this.#error('reference_invalid', at >= this.#length ? at : from)
    if (!isChar(code)) throw xmlError('character_forbidden', from)
    return at + 1
  }

  #error(code: XmlErrorCode, at: number) {
    return at >= this.#length ? xmlError('document_truncated', this.#length) : xmlError(code, at)
  }
}

const startsXmlns = (b: Uint8Array, at: number): boolean =>
  b[at] === 0x78 &&
  b[at + 1] === 0x6d &&
  b[at + 2] === 0x6c &&
  b[at + 3] === 0x6e &&
  b[at + 4] === 0x73

const digitOf = (byte: number, hex: boolean): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  if (!hex) return -1
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** The offset behind a reference to a predefined entity; -1 where `from` is not the '&' of one. */
export const predefinedEnd = (b: Uint8Array, from: number): number => {
  let at = from + 1
  while ((classOf[b[at] as number] as number) & name) at++
  return b[at] === semicolon && isPredefined(b, from + 1, at - from - 1) ? at + 1 : absent
}

/** lt, gt, amp, quot, apos (XML 1.0, 4.6). */
const isPredefined = (b: Uint8Array, at: number, length: number): boolean => {
  const first = b[at]
  const second = b[at + 1]
  const third = b[at + 2]
  switch (length) {
    case 2:
      return (first === 0x6c || first === 0x67) && second === 0x74
    case 3:
      return first === 0x61 && second === 0x6d && third === 0x70
    case 4:
      return first === 0x71
        ? second === 0x75 && third === 0x6f && b[at + 3] === 0x74
        : first === 0x61 && second === 0x70 && third === 0x6f && b[at + 3] === 0x73
    default:
      return false
  }
}
