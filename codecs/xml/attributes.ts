import { isInName, isSpace, startsName } from './characters.ts'
import {
  attributeFlags,
  attributeLocalStart,
  attributeNameEnd,
  attributeStart,
  attributeStride,
  attributeValueEnd,
  attributeValueStart,
  isDeclaration,
  valueNeedsDecoding,
} from './layout.ts'
import { type Namespaces, noNamespaceId, xmlnsNamespaceId } from './namespaces.ts'
import type { Source } from './source.ts'
import { startsWith } from './stretch.ts'
import type { Records } from './tape.ts'
import { decodeValue } from './text.ts'

const gt = 0x3e
const slash = 0x2f
const colon = 0x3a
const equals = 0x3d
const amp = 0x26
const lt = 0x3c
const doubleQuote = 0x22
const singleQuote = 0x27

const xmlns = new TextEncoder().encode('xmlns')

/** The flags of a namespace declaration whose value is its bytes. */
const plainDeclaration = isDeclaration | (xmlnsNamespaceId << 2)

/** Reads the attributes of start tags, and declares the namespaces among them. */
export class AttributeReader {
  private readonly source: Source
  private readonly records: Records
  private readonly namespaces: Namespaces
  /** Whether an attribute of the tag that is read begins as a declaration does, and whether one has a prefix. */
  private mayDeclare = false
  private hasPrefix = false

  constructor(source: Source, records: Records, namespaces: Namespaces) {
    this.source = source
    this.records = records
    this.namespaces = namespaces
  }

  /** All attributes of one start tag, from behind its name to its '>' or '/'. */
  read(from: number, depth: number): number {
    const { source, records } = this
    const { buffer: b } = source
    const { attributesMax } = source.limits
    const first = records.count
    this.mayDeclare = false
    this.hasPrefix = false
    let at = from
    for (;;) {
      const before = at
      while (isSpace(b[at])) at++
      if (b[at] === gt || b[at] === slash) break
      if (at === before || at >= source.length) throw source.error('markup_invalid', at)
      if (records.count - first === attributesMax) {
        throw source.error('attributes_exceeded', at, { attributesMax })
      }
      at = this.attribute(at)
    }
    const end = records.count
    // A declaration holds for all names of its tag, also for those before it.
    if (this.mayDeclare) {
      for (let i = first; i < end; i++) this.declare(i * attributeStride, depth)
    }
    if (this.hasPrefix) {
      for (let i = first; i < end; i++) this.resolve(i * attributeStride)
    }
    if (end - first > 1) this.refuseDuplicates(first * attributeStride, end * attributeStride)
    return at
  }

  private attribute(from: number): number {
    const { source, records } = this
    const b = source.buffer
    records.reserve(1, source, from)
    const { ints } = records
    const record = records.count * attributeStride
    let at = this.name(from, record)
    while (isSpace(b[at])) at++
    if (b[at] !== equals) throw source.error('attribute_invalid', at)
    at++
    while (isSpace(b[at])) at++
    const quote = b[at] as number
    if (quote !== doubleQuote && quote !== singleQuote) throw source.error('attribute_invalid', at)
    const start = ++at
    let flags = 0
    for (;;) {
      at = source.plainValue(at, quote)
      const byte = b[at] as number
      if (byte === quote) break
      if (byte === amp) {
        at = source.reference(at)
        flags = valueNeedsDecoding
      } else if (isSpace(byte)) {
        flags = valueNeedsDecoding
        at++
      } else throw source.error(byte === lt ? 'attribute_less_than' : 'character_forbidden', at)
    }
    source.checkTextLength(start, at)
    ints[record + attributeValueStart] = start
    ints[record + attributeValueEnd] = at
    ints[record + attributeFlags] = flags
    records.count++
    return at + 1
  }

  private name(from: number, record: number): number {
    const { source } = this
    const b = source.buffer
    if (!startsName(b[from])) throw source.error('attribute_invalid', from)
    let at = from
    let local = from
    let high = 0
    for (;;) {
      const byte = b[at] as number
      if (isInName(byte)) {
        high |= byte
        at++
      } else if (byte === colon && local === from) {
        local = ++at
        if (!startsName(b[at])) throw source.error('name_invalid', at)
      } else break
    }
    source.checkName(from, at, high)
    if (local !== from) this.hasPrefix = true
    if (b[from] === xmlns[0]) this.mayDeclare = true
    const { ints } = this.records
    ints[record + attributeStart] = from
    ints[record + attributeLocalStart] = local
    ints[record + attributeNameEnd] = at
    return at
  }

  /** `xmlns` and `xmlns:prefix`. */
  private declare(record: number, depth: number): void {
    const { source } = this
    const { ints } = this.records
    const start = ints[record + attributeStart] as number
    const local = ints[record + attributeLocalStart] as number
    const end = ints[record + attributeNameEnd] as number
    const isDefault = local === start && end - start === 5
    if (!(isDefault || local - start === 6) || !startsWith(source.buffer, start, xmlns)) return
    const flags = ints[record + attributeFlags] as number
    const raw = source.string(
      ints[record + attributeValueStart] as number,
      ints[record + attributeValueEnd] as number,
    )
    const prefix = isDefault ? '' : source.string(local, end)
    this.namespaces.declare(prefix, flags === 0 ? raw : decodeValue(raw), depth, start)
    ints[record + attributeFlags] = flags | plainDeclaration
  }

  private resolve(record: number): void {
    const { ints } = this.records
    const flags = ints[record + attributeFlags] as number
    if (flags & isDeclaration) return
    const start = ints[record + attributeStart] as number
    const local = ints[record + attributeLocalStart] as number
    // The default namespace applies to elements only.
    const id =
      local === start
        ? noNamespaceId
        : this.namespaces.ofPrefix(this.source.string(start, local - 1), start)
    ints[record + attributeFlags] = flags | (id << 2)
  }

  /** Compares local name and namespace: two prefixes of one namespace give one name (Namespaces 6.3). */
  private refuseDuplicates(first: number, end: number): void {
    for (let one = first + attributeStride; one < end; one += attributeStride) {
      for (let other = first; other < one; other += attributeStride) {
        if (!this.isSameName(one, other)) continue
        throw this.source.error(
          'attribute_duplicate',
          this.records.ints[one + attributeStart] as number,
        )
      }
    }
  }

  private isSameName(one: number, other: number): boolean {
    const { ints } = this.records
    const start = ints[one + attributeLocalStart] as number
    const otherStart = ints[other + attributeLocalStart] as number
    const length = (ints[one + attributeNameEnd] as number) - start
    return (
      (ints[other + attributeNameEnd] as number) - otherStart === length &&
      (ints[one + attributeFlags] as number) >> 2 ===
        (ints[other + attributeFlags] as number) >> 2 &&
      this.source.sameBytes(start, otherStart, length)
    )
  }
}
