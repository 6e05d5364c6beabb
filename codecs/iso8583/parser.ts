import { allOf, digit, hexValue } from './characters.ts'
import { type Dialect, fieldMax } from './dialect.ts'
import { bigEndian, digitsNumber, packedNumber, unpackDigits } from './digits.ts'
import {
  checkAlone,
  compileLayout,
  type Field,
  type Layout,
  refuse,
  secretFields,
  wireBytes,
} from './layout.ts'
import { isPlanOf, makePlan, type Plan, type Run } from './plan.ts'
import { isSame, isSound } from './sound.ts'

const empty = new Uint8Array(0)
const stageBytesMin = 512
/** Plans kept at most: new bitmaps replace old ones, so a stranger cannot fill the memory. */
const plansMax = 64
const noPlan = makePlan([], new Int32Array(6))

type Slicing = {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
}
/** Decodes Latin-1 byte by byte. `TextDecoder` takes that name for Windows-1252, and is slower. */
const { latin1Slice } = Buffer.prototype as unknown as Slicing

/**
 * Fields that are most often equal in neighbouring messages: processing code, times, institutions, currency and the
 * like. None of them identifies a card or a person, so their text may be kept after the message.
 */
const recurringFields: ReadonlySet<number> = new Set([
  ...[3, 7, 12, 13, 15, 18, 22, 24, 25, 32, 33, 39, 49, 70],
])
const keptBytesMax = 16

/** The last value of a recurring field: comparing its bytes costs a third of making a string. */
type LastText = { text: string; count: number; bytes: number; readonly kept: Uint8Array }

/**
 * Reads messages of one dialect. `parse` checks everything and keeps offsets; values are decoded on demand. One
 * instance holds one message at a time: the next `parse` replaces it. The input is not copied and must not change
 * meanwhile.
 */
export class Iso8583Parser {
  // Members are plain: private names cost a third of the speed in JavaScriptCore.
  private readonly layout: Layout
  private readonly fieldAt: Layout['fields']
  private readonly plans: Plan[] = new Array(plansMax).fill(noPlan)
  private readonly lasts: readonly (LastText | undefined)[]
  /** Offset of each value; in a run, only of its first. */
  private readonly starts = new Int32Array(fieldMax + 1)
  /** Characters, digits or bytes of each value, without its sign. */
  private readonly counts = new Int32Array(fieldMax + 1)
  /** The bitmaps, 32 bits each, the first bit highest. */
  private readonly words = new Int32Array(6)
  private bytes: Uint8Array = empty
  private end = 0
  private mtiValue = -1
  private plan: Plan = noPlan
  /** How many of the plan's fields were read. */
  private fieldCount = 0
  private stage: Uint8Array = new Uint8Array(stageBytesMin)

  constructor(layout: Layout) {
    this.layout = layout
    this.fieldAt = layout.fields
    this.lasts = layout.fields.map((field, de) =>
      field !== undefined && recurringFields.has(de)
        ? { text: '', count: -1, bytes: 0, kept: new Uint8Array(keptBytesMax) }
        : undefined,
    )
    for (const field of layout.fields) if (field !== undefined) this.counts[field.de] = field.max
  }

  get dialect(): Dialect {
    return this.layout.dialect
  }

  /**
   * Indexes one message, `bytes` from `start` to `end`, to its last byte.
   *
   * @throws CodecError `iso8583_truncated`, `iso8583_trailing_bytes`, `iso8583_mti`, `iso8583_bitmap`,
   *   `iso8583_field_unknown`, `iso8583_length`, `iso8583_character`, `iso8583_padding`; fields read before it stay
   *   readable
   */
  parse(bytes: Uint8Array, start = 0, end = bytes.length): this {
    this.bytes = bytes
    this.end = Math.min(end, bytes.length)
    this.mtiValue = -1
    this.fieldCount = 0
    const at = this.readBitmaps(this.readMti(start))
    this.plan = this.findPlan()
    this.readFields(this.plan, at)
    return this
  }

  /** Four digits; empty before the first message. */
  get mti(): string {
    return this.mtiValue < 0 ? '' : String(this.mtiValue).padStart(4, '0')
  }

  /** The MTI as a number, without making a string. */
  get mtiNumber(): number {
    return this.mtiValue
  }

  /** Numbers of the fields present, ascending. */
  fields(): number[] {
    return Array.from(this.plan.fields.subarray(0, this.fieldCount))
  }

  has(de: number): boolean {
    return this.plan.order[de]! < this.fieldCount
  }

  /** First byte of the value in the input, after its length prefix. */
  offset(de: number): number {
    const place = this.plan.places[de]!
    return this.starts[place & 255]! + (place >> 8)
  }

  /** The value's bytes in the input, as they lie on the wire; empty when absent. No copy. */
  view(de: number): Uint8Array {
    const field = this.fieldAt[de]
    if (field === undefined || !this.has(de)) return empty
    const start = this.offset(de)
    return this.bytes.subarray(start, start + wireBytes(field, this.counts[de]!))
  }

  /** Text of a field that is not of type b, with its zeros and blanks; undefined when absent. */
  text(de: number): string | undefined {
    return this.has(de) ? this.textOf(de) : undefined
  }

  private textOf(de: number): string {
    const field = this.fieldAt[de]!
    const start = this.offset(de)
    const count = this.counts[de]!
    const last = this.lasts[de]
    if (last === undefined) return this.decode(field, start, count)
    const { bytes } = this
    if (last.count === count && isSame(last.kept, bytes, start, last.bytes)) return last.text
    const text = this.decode(field, start, count)
    const size = wireBytes(field, count)
    if (size > keptBytesMax) return text
    for (let i = 0; i < size; i++) last.kept[i] = bytes[start + i]!
    last.bytes = size
    last.count = count
    last.text = text
    return text
  }

  /** A copy of the value as characters (or, for type b, bytes) that the caller can wipe; undefined when absent. */
  copy(de: number): Uint8Array | undefined {
    return this.has(de) ? this.copyOf(de) : undefined
  }

  private copyOf(de: number): Uint8Array {
    const field = this.fieldAt[de]!
    const count = this.counts[de]!
    const out = new Uint8Array(field.signBytes + count)
    this.decodeInto(field, this.offset(de), count, out)
    return out
  }

  /** A field of type b as bytes, any other as text; empty when absent. */
  value(de: number): string | Uint8Array {
    if (this.fieldAt[de]?.type === 'b') return this.copy(de) ?? empty
    return this.text(de) ?? ''
  }

  /** Overwrites card data, PIN and keys with zeros, in the input and in the value decoded last. */
  wipe(): void {
    for (const de of secretFields) this.view(de).fill(0)
    this.stage.fill(0)
  }

  private readMti(start: number): number {
    const { dialect, mtiPage } = this.layout
    const isPacked = dialect.mti === 'bcd'
    const end = start + (isPacked ? 2 : 4)
    if (end > this.end) refuse('iso8583_truncated', 0, start, 'the message ends within it')
    const { bytes } = this
    const value = isPacked
      ? packedNumber(bytes, start, 2)
      : digitsNumber(bytes, start, 4, mtiPage.decode)
    if (value < 0) refuse('iso8583_mti', 0, start, 'four digits')
    this.mtiValue = value
    return end
  }

  /** Reads one to three bitmaps and gives the offset after them. */
  private readBitmaps(start: number): number {
    const { fixed128, bitmap } = this.layout.dialect
    const { words } = this
    const size = bitmap === 'binary' ? 8 : 16
    let at = start
    let count = 0
    do {
      if (at + size > this.end) refuse('iso8583_truncated', 1, at, 'the message ends within it')
      words[count] = size === 8 ? this.wordAt(at) : this.hexWordAt(at)
      words[count + 1] = size === 8 ? this.wordAt(at + 4) : this.hexWordAt(at + 8)
      at += size
      count += 2
    } while (count < 6 && ((fixed128 && count < 4) || words[count - 2]! < 0))
    for (let i = count; i < 6; i++) words[i] = 0
    // Bits 1 and 65 announce another bitmap; they are not fields.
    words[0]! &= 0x7fffffff
    words[2]! &= 0x7fffffff
    return at
  }

  private wordAt(at: number): number {
    const { bytes } = this
    return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }

  private hexWordAt(start: number): number {
    const { decode } = this.layout.bitmapPage
    let word = 0
    for (let at = start; at < start + 8; at++) {
      const value = hexValue[decode[this.bytes[at]!]!]!
      if (value > 15) refuse('iso8583_bitmap', 1, at, 'hexadecimal digits')
      word = (word << 4) | value
    }
    return word
  }

  private findPlan(): Plan {
    const { words, plans } = this
    const mixed = words[0]! ^ Math.imul(words[1]!, 31) ^ Math.imul(words[2]! ^ words[3]!, 17)
    const slot = Math.imul(mixed, 0x9e3779b1) >>> 26
    const known = plans[slot]!
    if (isPlanOf(known, words)) return known
    const made = makePlan(this.layout.fields, words)
    plans[slot] = made
    return made
  }

  private readFields(plan: Plan, start: number): void {
    const { bytes, end, starts } = this
    const { runs } = plan
    let at = start
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i]!
      const { de, check } = run
      if (check === checkAlone) {
        this.fieldCount = run.before
        at = this.readField(de, at)
        continue
      }
      const stop = at + run.wireBytes
      if (stop > end || !isSound(check, bytes, at, stop)) this.readAlone(plan, run, at)
      starts[de] = at
      at = stop
    }
    this.fieldCount = plan.fields.length
    if (at !== end) refuse('iso8583_trailing_bytes', 1, at, 'bytes follow the last field')
  }

  /** Reads the fields of a run one by one, so that the first wrong one is named. */
  private readAlone({ fields }: Plan, { before }: Run, start: number): void {
    this.fieldCount = before
    let at = start
    for (;;) at = this.readField(fields[this.fieldCount]!, at)
  }

  /** Reads and checks one field. @returns the offset after it */
  private readField(de: number, at: number): number {
    const field = this.fieldAt[de]
    if (field === undefined) {
      refuse('iso8583_field_unknown', de, at, 'the dialect does not define it')
    }
    const start = at + field.prefixBytes
    let count = field.max
    if (field.prefixBytes !== 0) {
      if (start > this.end) refuse('iso8583_truncated', de, at, 'the message ends in its length')
      count = this.readCount(field, at)
      if (count > field.max) refuse('iso8583_length', de, at, `at most ${field.max}`)
    }
    const end = start + wireBytes(field, count)
    if (end > this.end) refuse('iso8583_truncated', de, start, 'the message ends within it')
    this.starts[de] = start
    this.counts[de] = count
    this.fieldCount++
    if (field.isChecked) this.check(field, start, end, count)
    return end
  }

  private check(field: Field, start: number, end: number, count: number): void {
    const { kind } = field
    if (kind === 'text') this.checkText(field, field.characters, start, end)
    else if (kind === 'packed') this.checkDigits(field, start, count)
    else if (kind === 'hex') this.checkHex(field, start, end)
    else if (kind !== 'bytes') this.checkSigned(field, start, end)
  }

  /** Length from the prefix, in digits, characters or (type b) bytes. */
  private readCount(field: Field, at: number): number {
    const { bytes } = this
    const { de, prefix, prefixBytes, countsBytes, padNibble } = field
    const counted =
      prefix === 'binary'
        ? bigEndian(bytes, at, prefixBytes)
        : prefix === 'bcd'
          ? packedNumber(bytes, at, prefixBytes)
          : digitsNumber(bytes, at, prefixBytes, field.prefixPage.decode)
    if (counted < 0) refuse('iso8583_length', de, at, 'its length must be digits')
    if (field.kind === 'hex' && !countsBytes) {
      if (counted % 2 === 1) refuse('iso8583_length', de, at, 'an even number of digits')
      return counted >> 1
    }
    if (field.kind !== 'packed' || !countsBytes) return counted
    const start = at + prefixBytes
    // The count has one digit fewer if a filling nibble is not a digit.
    if (padNibble <= 9 || counted === 0 || start + counted > this.end) return counted * 2
    const edge = field.padsRight ? bytes[start + counted - 1]! & 15 : bytes[start]! >> 4
    return counted * 2 - (edge === padNibble ? 1 : 0)
  }

  private checkText(field: Field, mask: number, start: number, end: number): void {
    const { bytes } = this
    const { classes } = field.page
    if (allOf(mask, classes, bytes, start, end)) return
    let at = start
    while ((classes[bytes[at]!]! & mask) !== 0) at++
    refuse('iso8583_character', field.de, at, `type ${field.type}`)
  }

  private checkDigits(field: Field, start: number, count: number): void {
    const { bytes } = this
    const { de, padsRight, padNibble, type } = field
    const end = start + ((count + 1) >> 1)
    if (count % 2 === 1) {
      const edge = padsRight ? end - 1 : start
      const pad = padsRight ? bytes[edge]! & 15 : bytes[edge]! >> 4
      if (pad !== padNibble) refuse('iso8583_padding', de, edge, `filling nibble ${padNibble}`)
    }
    // Nibbles above nine are characters of a track.
    if (type === 'z') return
    for (let i = 0; i < count; i++) {
      const nibble = i + (count % 2 === 1 && !padsRight ? 1 : 0)
      const at = start + (nibble >> 1)
      const value = nibble % 2 === 1 ? bytes[at]! & 15 : bytes[at]! >> 4
      if (value > 9) refuse('iso8583_character', de, at, 'packed digits')
    }
  }

  private checkHex({ de }: Field, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      if (hexValue[this.bytes[at]!]! > 15) refuse('iso8583_character', de, at, 'hexadecimal digits')
    }
  }

  private checkSigned(field: Field, start: number, end: number): void {
    const sign = field.page.decode[this.bytes[start]!]!
    // C credit, D debit; stock peers send 0 where they have no sign.
    if (sign !== 0x43 && sign !== 0x44 && sign !== 0x30) {
      refuse('iso8583_character', field.de, start, 'sign C or D')
    }
    if (field.kind === 'signed_packed') this.checkDigits(field, start + 1, field.max)
    else this.checkText(field, digit, start + 1, end)
  }

  private decode(field: Field, start: number, count: number): string {
    if (field.isPlain) return latin1Slice.call(this.bytes, start, start + count)
    const length = field.signBytes + count
    if (this.stage.length < length) this.stage = new Uint8Array(length)
    this.decodeInto(field, start, count, this.stage)
    return latin1Slice.call(this.stage, 0, length)
  }

  /** Writes the value's characters (of type b: bytes) to `out`. */
  private decodeInto(field: Field, start: number, count: number, out: Uint8Array): void {
    const { bytes } = this
    const { kind, page, signBytes } = field
    if (kind === 'packed' || kind === 'signed_packed') {
      if (signBytes === 1) out[0] = page.decode[bytes[start]!]!
      unpackDigits(bytes, start + signBytes, count, field.padsRight, out, signBytes)
    } else if (kind === 'hex') {
      for (let i = 0; i < count; i++) {
        const high = hexValue[bytes[start + i * 2]!]!
        out[i] = (high << 4) | hexValue[bytes[start + i * 2 + 1]!]!
      }
    } else if (kind === 'bytes') {
      for (let i = 0; i < count; i++) out[i] = bytes[start + i]!
    } else {
      for (let i = 0; i < signBytes + count; i++) out[i] = page.decode[bytes[start + i]!]!
    }
  }
}

/**
 * @param checked the fields whose characters are checked; the lengths of others too, but they may hold what is not of
 *   their type. All when not given
 */
export const createParser = (dialect: Dialect, checked?: ReadonlySet<number>): Iso8583Parser =>
  new Iso8583Parser(compileLayout(dialect, checked))
