import { CHECK_TABLES, hexValue } from './characters.ts'
import { decodeField, decodeStretch, stagedLength } from './decode.ts'
import { type Dialect, FIELD_MAX } from './dialect.ts'
import { FieldReader } from './field-reader.ts'
import {
  BYTES,
  compileLayout,
  HEX,
  isSecretField,
  type Layout,
  refuse,
  TEXT,
  wireBytes,
} from './layout.ts'
import { type Plan, PlanCache, planBefore, STEP_CHECK, STEP_RUN, STEP_SIZE } from './plan.ts'

const EMPTY = new Uint8Array(0)
const STAGE_BYTES_MIN = 512
/** Characters from bytes of any array, without an object for the part: a decoder would need one for each message. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
}
const latin1Table = CHECK_TABLES[0] ?? EMPTY

/**
 * Reads messages of one dialect. `parse` checks everything and keeps offsets; values are decoded when
 * asked for. One instance holds one message at a time: the next `parse` replaces it. The input is not
 * copied and must not change meanwhile.
 */
export class Iso8583Parser {
  // Plain fields: private names cost JavaScriptCore a check at each use, and these are used for every byte.
  private readonly layout: Layout
  private readonly plans: PlanCache
  private readonly reader: FieldReader
  /** By segment of the plan. */
  private readonly starts = new Int32Array(FIELD_MAX + 1)
  private readonly stageStarts = new Int32Array(FIELD_MAX + 1)
  private plan: Plan
  private bytes: Uint8Array = EMPTY
  private end = 0
  private mtiPlus = 0
  private stage: Uint8Array = new Uint8Array(STAGE_BYTES_MIN)
  private allText: string | undefined
  private textStart = 0
  private failed = 0

  constructor(layout: Layout) {
    this.layout = layout
    this.plans = new PlanCache(layout)
    this.reader = new FieldReader(layout)
    this.plan = this.plans.empty
  }

  get dialect(): Dialect {
    return this.layout.dialect
  }

  /**
   * Indexes one message, `bytes` from `start` to `end`, to its last byte.
   *
   * @throws CodecError `iso8583_truncated`, `iso8583_trailing_bytes`, `iso8583_mti`, `iso8583_bitmap`,
   *   `iso8583_field_unknown`, `iso8583_length`, `iso8583_character`; what was read before stays readable
   */
  parse(bytes: Uint8Array, start = 0, end = bytes.length): this {
    this.plan = this.plans.empty
    this.bytes = bytes
    this.end = end
    this.allText = undefined
    this.failed = 0
    this.mtiPlus = 0
    const bitmap = this.readMti(start)
    this.failed = 1
    const fields = this.readBitmaps(bitmap)
    this.plan = this.plans.find()
    const stop = this.readOrForget(fields)
    if (stop !== end) refuse('iso8583_trailing_bytes', 1, stop, 'bytes follow the last field')
    return this
  }

  /** Four digits; empty before the first message. */
  get mti(): string {
    return this.mtiPlus === 0 ? '' : String(this.mtiPlus - 10000).padStart(4, '0')
  }

  /** The MTI as a number, without making a string. */
  get mtiNumber(): number {
    return this.mtiPlus - 10000
  }

  /** Numbers of the fields present, ascending. */
  fields(): number[] {
    return Array.from(this.plan.fields)
  }

  /** The field at which the last `parse` failed: 0 the MTI or none, 1 the bitmap. */
  get failedField(): number {
    return this.failed
  }

  /** By field: 1 where it is present. For the length of this message only. */
  get present(): Uint8Array {
    return this.plan.present
  }

  has(de: number): boolean {
    return this.plan.present[de] === 1
  }

  /** First byte of the value in the input, after its length prefix. */
  offset(de: number): number {
    const { segment, relative } = this.plan
    return this.starts[segment[de]!]! + relative[de]!
  }

  /** Bytes of the value on the wire. */
  wireLength(de: number): number {
    return wireBytes(this.layout.kind[de]!, this.count(de))
  }

  /** The value's bytes in the input, as they lie on the wire; empty when absent. No copy. */
  view(de: number): Uint8Array {
    if (!this.has(de)) return EMPTY
    const start = this.offset(de)
    return this.bytes.subarray(start, start + this.wireLength(de))
  }

  /** Text of a field that is not of type b, with its zeros and blanks; empty when absent. */
  text(de: number): string {
    const { plan } = this
    if (plan.present[de] !== 1) return ''
    if (plan.isPlain && de !== 2) {
      const text = this.allText ?? this.decodeAll()
      const segment = plan.segment[de]!
      const at = this.starts[segment]! + plan.relative[de]! - this.textStart
      const fixed = plan.lengths[de]!
      return text.substring(at, at + (fixed === 0 ? this.reader.counts[segment]! : fixed))
    }
    if (isSecretField(de)) {
      const digits = this.digits(de)
      return latin1Slice.call(digits, 0, digits.length)
    }
    const text = this.allText ?? this.decodeAll()
    const at = this.stageStarts[plan.segment[de]!]! + plan.staged[de]!
    const fixed = plan.lengths[de]!
    const length = fixed === 0 ? stagedLength(this.layout, de, this.count(de)) : fixed
    return text.substring(at, at + length)
  }

  /** A copy of the value as characters (or, for type b, bytes) that the caller can wipe. */
  digits(de: number): Uint8Array {
    if (!this.has(de)) return EMPTY
    const count = this.count(de)
    const out = new Uint8Array(stagedLength(this.layout, de, count))
    if (this.layout.kind[de] === TEXT && this.layout.pageNumber[de] === 0) {
      const { bytes } = this
      const start = this.offset(de)
      for (let i = 0; i < count; i++) out[i] = bytes[start + i]!
      return out
    }
    decodeField(this.layout, de, this.bytes, this.offset(de), count, out, 0)
    return out
  }

  /** A text field as string, a field of type b as bytes. */
  value(de: number): string | Uint8Array {
    return this.layout.dialect.fields[de]?.type === 'b' ? this.digits(de) : this.text(de)
  }

  /** Overwrites PAN, tracks, PIN and chip data in the input with zeros, and what was copied to decode them. */
  wipe(): void {
    for (const de of [2, 35, 45, 52, 55]) this.view(de).fill(0)
    this.stage.fill(0)
  }

  /** Digits, characters or bytes of the value. */
  private count(de: number): number {
    const { lengths, segment } = this.plan
    return lengths[de] === 0 ? this.reader.counts[segment[de]!]! : lengths[de]!
  }

  /** All text but the secret ones as one string, from which fields are cut. */
  private decodeAll(): string {
    const { plan } = this
    if (plan.isPlain) {
      this.textStart = this.offset(plan.firstText)
      this.allText = latin1Slice.call(this.bytes, this.textStart, this.end)
      return this.allText
    }
    if (this.stage.length < this.end * 2) this.stage = new Uint8Array(this.end * 2)
    this.allText = latin1Slice.call(this.stage, 0, this.stageAll())
    return this.allText
  }

  /** Everything that becomes text, one after the other. @returns its length */
  private stageAll(): number {
    const { steps } = this.plan
    const { bytes, starts, stage, stageStarts, layout } = this
    let from = 0
    let at = 0
    for (let step = 0; step < steps.length; step += STEP_SIZE) {
      const kind = steps[step]!
      const first = steps[step + 1]!
      const second = steps[step + 2]!
      if (kind === STEP_CHECK) {
        at = decodeStretch(second >> 8, bytes, from, from + first, stage, at)
        from += first
      } else {
        stageStarts[second] = at
        from = starts[second]!
        if (kind === STEP_RUN || isSecretField(first)) continue
        if (layout.kind[first] === BYTES || layout.kind[first] === HEX) continue
        at = decodeField(layout, first, bytes, from, this.reader.counts[second]!, stage, at)
      }
    }
    return at
  }

  private readOrForget(start: number): number {
    try {
      return this.readFields(start)
    } catch (error) {
      this.plan = planBefore(this.plan, this.failed)
      throw error
    }
  }

  private readFields(start: number): number {
    const { steps } = this.plan
    const { bytes, end, starts, reader } = this
    let at = start
    let segment = 0
    for (let step = 0; step < steps.length; step += STEP_SIZE) {
      const kind = steps[step]!
      const first = steps[step + 1]!
      const second = steps[step + 2]!
      if (kind === STEP_CHECK) {
        const classes = second < 256 ? latin1Table : CHECK_TABLES[second >> 8]!
        const stop = at + first
        let common = second & 255
        // Eight at a time: the loop itself would be half of the work.
        for (; at + 7 < stop; at += 8) {
          common &=
            classes[bytes[at]!]! &
            classes[bytes[at + 1]!]! &
            classes[bytes[at + 2]!]! &
            classes[bytes[at + 3]!]! &
            classes[bytes[at + 4]!]! &
            classes[bytes[at + 5]!]! &
            classes[bytes[at + 6]!]! &
            classes[bytes[at + 7]!]!
        }
        for (; at < stop; at++) common &= classes[bytes[at]!]!
        if (common === 0) this.refuseRun(segment)
      } else if (kind === STEP_RUN) {
        segment = second
        starts[second] = at
        if (at + first > end) this.refuseRun(second)
      } else {
        this.failed = first
        at = reader.read(first, second, bytes, at, end)
        starts[second] = reader.start
      }
    }
    this.failed = 0
    return at
  }

  /** One of the fields of a run is wrong or cut off: says which and where. */
  private refuseRun(segment: number): never {
    const { plan } = this
    for (const de of plan.fields) {
      if (plan.segment[de] !== segment) continue
      this.failed = de
      this.reader.read(de, segment, this.bytes, this.offset(de), this.end)
    }
    throw new Error('a run was refused without a reason')
  }

  private readMti(start: number): number {
    const { dialect, mtiPage } = this.layout
    const { bytes } = this
    const packed = dialect.mti === 'bcd'
    const end = start + (packed ? 2 : 4)
    if (end > this.end) refuse('iso8583_truncated', 0, start, 'the message ends within it')
    let value = 0
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!
      if (packed) {
        if (byte >> 4 > 9 || (byte & 15) > 9) refuse('iso8583_mti', 0, at, 'four digits')
        value = value * 100 + (byte >> 4) * 10 + (byte & 15)
      } else {
        const digit = mtiPage.decode[byte]! - 0x30
        if (digit < 0 || digit > 9) refuse('iso8583_mti', 0, at, 'four digits')
        value = value * 10 + digit
      }
    }
    // Offset by 10 000 so that zero can mean: not read.
    this.mtiPlus = value + 10000
    return end
  }

  /** Puts the bitmaps into the words of the plans. @returns the offset after them */
  private readBitmaps(start: number): number {
    const { fixed128, bitmap } = this.layout.dialect
    const { words } = this.plans
    const size = bitmap === 'binary' ? 8 : 16
    let at = start
    let count = 0
    let more = true
    while (more) {
      if (at + size > this.end) refuse('iso8583_truncated', 1, at, 'the message ends within it')
      words[count * 2] = this.readWord(at, size)
      words[count * 2 + 1] = this.readWord(at + (size >> 1), size)
      at += size
      more = words[count * 2]! < 0 || (fixed128 && count === 0)
      // The bit that says so is no field.
      words[count * 2]! &= count < 2 ? 0x7fffffff : -1
      count++
      if (count === 3) more = false
    }
    for (let word = count * 2; word < 6; word++) words[word] = 0
    return at
  }

  /** Half a bitmap of `size` bytes. */
  private readWord(at: number, size: number): number {
    const { bytes } = this
    if (size === 8) {
      return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
    }
    const { decode } = this.layout.bitmapPage
    let word = 0
    for (let i = at; i < at + 8; i++) {
      const digit = hexValue[decode[bytes[i]!]!]!
      if (digit > 15) refuse('iso8583_bitmap', 1, at + ((i - at) & ~1), 'hexadecimal digits')
      word = (word << 4) | digit
    }
    return word
  }
}

export const createParser = (dialect: Dialect): Iso8583Parser =>
  new Iso8583Parser(compileLayout(dialect))
