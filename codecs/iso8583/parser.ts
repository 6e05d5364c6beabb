import { CodecError } from '#codecs/bytes'
import { allOf, packedDigits } from './characters.ts'
import {
  decodedLength,
  decodeFewDigits,
  decodeFewPacked,
  decodeFewText,
  decodeInto,
  decodeLatin1,
  decodePacked,
  decodersOf,
  fewAt,
  fewDigitsAt,
  fewPackedAt,
  latin1Text,
  packedAt,
} from './decode.ts'
import type { Dialect } from './dialect.ts'
import {
  bytesForm,
  compileLayout,
  hex,
  type Layout,
  prefixNone,
  refuse,
  wireBytes,
} from './layout.ts'
import {
  clear,
  emptyPlan,
  makePlan,
  mark,
  type Plan,
  stepEdge,
  stepNumbers,
  stepPacked,
  stepSkip,
  stepText,
  stepTextVariable,
} from './plan.ts'
import { empty, FieldReader } from './reader.ts'
import { type LastTexts, lastTexts, type RecurringField } from './recurring.ts'

const stageBytesMin = 512
/** Past the end of every message. */
const nowhere = 0x7fffffff
/** Plans kept; a stranger's bitmaps replace one another, so that memory stays bounded. */
const plans = 64

/** What `wipe` clears in the input: the secret fields and ICC data, which holds PAN and track 2 again. */
const wipedFields = [2, 35, 45, 52, 55]

/**
 * Reads messages of one dialect. `parse` checks everything and keeps offsets; values are decoded when
 * asked for. One instance holds one message at a time: the next `parse` replaces it. The input is not
 * copied and must not change meanwhile.
 */
export class Iso8583Parser extends FieldReader {
  private readonly plans: (Plan | undefined)[] = new Array(plans).fill(undefined)
  /** Filled while a message is read field by field, and then the plan of that message. */
  private readonly walked: Plan = emptyPlan()
  /** The way to each field's string in the lowest three bits; above them its count, 0 when variable. */
  private readonly how: Int32Array
  private readonly packedMti: boolean
  private readonly plainHeader: boolean
  private readonly fixed128: boolean
  private plan: Plan = this.walked
  private fieldCount = 0
  private stage: Uint8Array = new Uint8Array(stageBytesMin)
  private failed = 0
  private readonly lasts: LastTexts = lastTexts()
  /** Offset after the field that `canRead` read. */
  private next = 0

  constructor(layout: Layout) {
    super(layout)
    const { mti, bitmap, fixed128 } = layout.dialect
    this.packedMti = mti === 'bcd'
    this.plainHeader = mti !== 'ebcdic' && bitmap === 'binary'
    this.fixed128 = fixed128
    this.how = Int32Array.from(
      decodersOf(layout),
      (decoder, de) => decoder | (layout.prefix[de] === prefixNone ? layout.max[de]! << 3 : 0),
    )
  }

  /**
   * Indexes one message, `bytes` from `start` to `end`, to its last byte.
   *
   * @throws CodecError `iso8583_truncated`, `iso8583_trailing_bytes`, `iso8583_mti`, `iso8583_bitmap`,
   *   `iso8583_field_unknown`, `iso8583_length`, `iso8583_character`; what was read before stays readable
   */
  parse(bytes: Uint8Array, start = 0, end = bytes.length): this {
    this.bytes = bytes
    this.end = Math.min(end, bytes.length)
    if (!this.quick(start)) this.walk(start)
    return this
  }

  /** The way of a good message; false when `walk` has to look. */
  private quick(start: number): boolean {
    const { bytes, end } = this
    const packed = this.packedMti
    const at = start + (packed ? 2 : 4)
    if (!this.plainHeader || at + 8 > end) return false
    const mti = packed ? packedMti(bytes, start) : textMti(bytes, start)
    const first = wordAt(bytes, at)
    const second = wordAt(bytes, at + 4)
    let third = 0
    let fourth = 0
    let next = at + 8
    if (first < 0 || this.fixed128) {
      if (at + 16 > end) return false
      third = wordAt(bytes, at + 8)
      fourth = wordAt(bytes, at + 12)
      next = at + 16
    }
    if (mti < 0 || third < 0) return false
    const plan = this.planOf(first & 0x7fffffff, second, third, fourth)
    if (!this.follow(plan.steps, next)) return false
    if (this.plan !== plan) this.plan = plan
    this.mtiPlus = mti + 10000
    this.fieldCount = plan.fields.length
    this.failed = 0
    return true
  }

  private planOf(first: number, second: number, third: number, fourth: number): Plan {
    const mixed = first ^ Math.imul(second, 31) ^ Math.imul(third ^ fourth, 17)
    const slot = Math.imul(mixed, 0x9e3779b1) >>> 26
    const known = this.plans[slot]
    if (
      known !== undefined &&
      known.first === first &&
      known.second === second &&
      known.third === third &&
      known.fourth === fourth
    ) {
      return known
    }
    const made = makePlan(this.layout, first, second, third, fourth)
    this.plans[slot] = made
    return made
  }

  /** Takes the steps; false when something is wrong, which `walk` then finds and names. */
  private follow(steps: Int32Array, first: number): boolean {
    const { bytes, end, starts } = this
    let at = first
    for (let i = 0; i < steps.length; i += stepNumbers) {
      const what = steps[i]!
      const de = steps[i + 1]!
      const size = steps[i + 2]!
      const mask = steps[i + 3]!
      if (what === stepEdge) {
        // Here the numbers are: how far back, bits, value.
        if ((bytes[at - de]! & size) !== mask) return false
        continue
      }
      let stop = at + size
      if (what === stepTextVariable) {
        stop = this.variableEnd(de, size, at)
        at = this.starts[de]!
      } else if (what === stepText || what === stepPacked || what === stepSkip) starts[de] = at
      else {
        if (!this.canRead(de, at)) return false
        at = this.next
        continue
      }
      if (stop > end) return false
      if (what === stepPacked) {
        if (!packedDigits(bytes, at, stop)) return false
      } else if (what !== stepSkip && !allOf(mask, bytes, at, stop)) return false
      at = stop
    }
    return at === end
  }

  /** End of a text after a length in ASCII digits; past every end when that length is not right. */
  private variableEnd(de: number, max: number, at: number): number {
    const { bytes, layout } = this
    const start = at + layout.prefixBytes[de]!
    if (start > this.end) return nowhere
    let count = 0
    let bad = 0
    for (let i = at; i < start; i++) {
      const digit = bytes[i]! - 0x30
      bad |= digit | (9 - digit)
      count = count * 10 + digit
    }
    if (bad < 0 || count > max) return nowhere
    this.starts[de] = start
    this.counts[de] = count
    return start + count
  }

  private canRead(de: number, at: number): boolean {
    try {
      this.next = this.readField(de, at)
      return true
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      return false
    }
  }

  /** One thing after the other: for what has no plan, and to say what is wrong and what was right before. */
  private walk(start: number): void {
    const { words, walked } = this
    this.plan = walked
    this.fieldCount = 0
    this.mtiPlus = 0
    this.failed = 0
    clear(walked)
    let at = this.readMti(start)
    this.failed = 1
    at = this.readBitmaps(at)
    for (let i = 0; i < words.length; i++) {
      let word = words[i]!
      while (word !== 0) {
        const zeros = Math.clz32(word)
        word &= ~(0x80000000 >>> zeros)
        const de = i * 32 + zeros + 1
        this.failed = de
        at = this.readField(de, at)
        mark(walked, de)
        walked.fields[this.fieldCount++] = de
      }
    }
    this.failed = 0
    if (at !== this.end) refuse('iso8583_trailing_bytes', 1, at, 'bytes follow the last field')
  }

  /** Four digits; empty before the first message. */
  get mti(): string {
    return this.mtiPlus === 0 ? '' : String(this.mtiNumber).padStart(4, '0')
  }

  /** The MTI as a number, without making a string. */
  get mtiNumber(): number {
    return this.mtiPlus - 10000
  }

  /** Numbers of the fields present, ascending. */
  fields(): number[] {
    return Array.from(this.plan.fields.subarray(0, this.fieldCount))
  }

  /** The field at which the last `parse` failed: 0 the MTI or none, 1 the bitmap. */
  get failedField(): number {
    return this.failed
  }

  /** The fields 1 to 32, 33 to 64 or 65 to 96 that are present, the lowest in the highest bit. */
  word(index: 0 | 1 | 2): number {
    const { plan } = this
    return index === 0 ? plan.first : index === 1 ? plan.second : plan.third
  }

  has(de: number): boolean {
    return this.plan.present[de] === 1
  }

  /** First byte of the value in the input, after its length prefix. */
  offset(de: number): number {
    const place = this.plan.place[de]!
    return this.starts[place & 255]! + (place >> 8)
  }

  /** Bytes of the value on the wire. */
  wireLength(de: number): number {
    return wireBytes(this.layout.kind[de]!, this.countOf(de))
  }

  /** The value's bytes in the input, as they lie on the wire; empty when absent. No copy. */
  view(de: number): Uint8Array {
    if (!this.has(de)) return empty
    const start = this.offset(de)
    return this.bytes.subarray(start, start + this.wireLength(de))
  }

  /** Text of a field that is not of type b, with its zeros and blanks; empty when absent. */
  text(de: number): string {
    return this.has(de) ? this.textOf(de) : ''
  }

  /** As `text`, of a field known to be there. */
  textOf(de: number): string {
    const place = this.plan.place[de]!
    const start = this.starts[place & 255]! + (place >> 8)
    const how = this.how[de]!
    const count = how < 8 ? this.counts[de]! : how >> 3
    switch (how & 7) {
      case decodeLatin1:
        return latin1Text(this.bytes, start, start + count)
      case decodeFewDigits:
        return fewDigitsAt(this.bytes, start, count)
      case decodeFewText:
        return fewAt(this.bytes, start, count)
      case decodeFewPacked:
        return fewPackedAt(this.bytes, start, count)
      case decodePacked:
        return packedAt(this.bytes, start, count, this.stageOf(count))
      default:
        return this.stagedText(de, start, count)
    }
  }

  /** As `textOf`, of a field that most often says what it said in the message before. */
  recurringText(de: RecurringField): string {
    const last = this.lasts[de]
    const place = this.plan.place[de]!
    const start = this.starts[place & 255]! + (place >> 8)
    const count = this.countOf(de)
    const size = wireBytes(this.layout.kind[de]!, count)
    if (last.is(this.bytes, start, size, count)) return last.text
    const text = this.textOf(de)
    last.keep(text, this.bytes, start, size, count)
    return text
  }

  /** A copy of the value as characters (or, for type b, bytes) that the caller can wipe. */
  digits(de: number): Uint8Array {
    if (!this.has(de)) return empty
    const { layout } = this
    const count = this.countOf(de)
    const start = this.offset(de)
    const out = new Uint8Array(decodedLength(layout.kind[de]!, count))
    if (layout.plain[de] === 1) copyBytes(this.bytes, start, out)
    else decodeInto(layout, de, this.bytes, start, count, out, 0)
    return out
  }

  /** A text field as string, a field of type b as bytes. */
  value(de: number): string | Uint8Array {
    const kind = this.layout.kind[de]
    return kind === bytesForm || kind === hex ? this.digits(de) : this.text(de)
  }

  /** Overwrites PAN, tracks, PIN and ICC data in the input with zeros, and what was decoded last. */
  wipe(): void {
    for (const de of wipedFields) this.view(de).fill(0)
    this.stage.fill(0)
  }

  private countOf(de: number): number {
    const how = this.how[de]!
    return how < 8 ? this.counts[de]! : how >> 3
  }

  private stagedText(de: number, start: number, count: number): string {
    const { layout } = this
    const length = decodedLength(layout.kind[de]!, count)
    const stage = this.stageOf(length)
    decodeInto(layout, de, this.bytes, start, count, stage, 0)
    return latin1Text(stage, 0, length)
  }

  private stageOf(length: number): Uint8Array {
    if (this.stage.length < length) this.stage = new Uint8Array(length)
    return this.stage
  }
}

const copyBytes = (from: Uint8Array, start: number, out: Uint8Array): void => {
  for (let i = 0; i < out.length; i++) out[i] = from[start + i]!
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!

/** Four ASCII digits as a number; negative when one is none. */
const textMti = (bytes: Uint8Array, at: number): number => {
  const a = bytes[at]! - 0x30
  const b = bytes[at + 1]! - 0x30
  const c = bytes[at + 2]! - 0x30
  const d = bytes[at + 3]! - 0x30
  const bad = a | b | c | d | (9 - a) | (9 - b) | (9 - c) | (9 - d)
  return bad < 0 ? -1 : a * 1000 + b * 100 + c * 10 + d
}

/** Four packed digits as a number; negative when one is none. */
const packedMti = (bytes: Uint8Array, at: number): number => {
  if (!packedDigits(bytes, at, at + 2)) return -1
  const high = bytes[at]!
  const low = bytes[at + 1]!
  return (high >> 4) * 1000 + (high & 15) * 100 + (low >> 4) * 10 + (low & 15)
}

export const createParser = (dialect: Dialect): Iso8583Parser =>
  new Iso8583Parser(compileLayout(dialect))
