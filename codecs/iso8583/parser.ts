import { type CodePage, DIGIT, hexValue } from './characters.ts'
import { type Dialect, FIELD_MAX } from './dialect.ts'
import {
  ABSENT,
  BYTES,
  compileLayout,
  HEX,
  type Layout,
  PACKED,
  PREFIX_BCD,
  PREFIX_BINARY,
  PREFIX_NONE,
  refuse,
  SIGNED_PACKED,
  SIGNED_TEXT,
  TEXT,
  wireBytes,
} from './layout.ts'

const EMPTY = new Uint8Array(0)
const STAGE_BYTES_MIN = 512
const latin1Decoder = new TextDecoder('latin1')

/** Fields whose values never become strings on the way to a typed message: PAN, tracks, PIN. */
export const isSecretField = (de: number): boolean =>
  de === 2 || de === 35 || de === 45 || de === 52

/**
 * Reads messages of one dialect. `parse` checks everything and keeps offsets; values are decoded when
 * asked for. One instance holds one message at a time: the next `parse` replaces it. The input is not
 * copied and must not change meanwhile.
 */
export class Iso8583Parser {
  readonly #layout: Layout
  readonly #starts = new Int32Array(FIELD_MAX + 1)
  readonly #counts = new Int32Array(FIELD_MAX + 1)
  readonly #present = new Uint8Array(FIELD_MAX + 1)
  readonly #order = new Uint8Array(FIELD_MAX + 1)
  readonly #bits = new Uint8Array(24)
  readonly #stageStarts = new Int32Array(FIELD_MAX + 1)
  #fieldCount = 0
  #bytes: Uint8Array = EMPTY
  #end = 0
  #mti = 0
  #stage: Uint8Array = new Uint8Array(STAGE_BYTES_MIN)
  #text: string | undefined
  #failedField = 0

  constructor(layout: Layout) {
    this.#layout = layout
  }

  get dialect(): Dialect {
    return this.#layout.dialect
  }

  /**
   * Indexes one message, `bytes` from `start` to `end`, to its last byte.
   *
   * @throws CodecError `iso8583_truncated`, `iso8583_trailing_bytes`, `iso8583_mti`, `iso8583_bitmap`,
   *   `iso8583_field_unknown`, `iso8583_length`, `iso8583_character`; what was read before stays readable
   */
  parse(bytes: Uint8Array, start = 0, end = bytes.length): this {
    const order = this.#order
    for (let i = 0; i < this.#fieldCount; i++) this.#present[order[i]!] = 0
    this.#fieldCount = 0
    this.#bytes = bytes
    this.#end = end
    this.#text = undefined
    this.#failedField = 0
    this.#mti = 0
    let at = this.#readMti(start)
    this.#failedField = 1
    const bitmaps = this.#readBitmaps(at)
    at = this.#bitmapEnd(at, bitmaps)
    const bits = this.#bits
    const { fixedText, max } = this.#layout
    const last = bitmaps * 8
    for (let i = 0; i < last; i++) {
      let byte = bits[i]!
      // Bits 1 and 65 say that another bitmap follows; they are no fields.
      if (i === 0 || i === 8) byte &= 0x7f
      while (byte !== 0) {
        const zeros = Math.clz32(byte) - 24
        byte &= ~(0x80 >> zeros)
        const de = i * 8 + zeros + 1
        this.#failedField = de
        if (fixedText[de] === 1 && at + max[de]! <= end) {
          const stop = at + max[de]!
          this.#checkText(de, at, stop)
          this.#starts[de] = at
          this.#counts[de] = max[de]!
          at = stop
        } else at = this.#readField(de, at)
        this.#present[de] = 1
        order[this.#fieldCount++] = de
      }
    }
    this.#failedField = 0
    if (at !== end) {
      refuse('iso8583_trailing_bytes', 1, at, 'bytes follow the last field')
    }
    return this
  }

  /** Four digits; empty before the first message. */
  get mti(): string {
    return this.#mti === 0 ? '' : String(this.#mti - 10000).padStart(4, '0')
  }

  /** The MTI as a number, without making a string. */
  get mtiNumber(): number {
    return this.#mti - 10000
  }

  /** Numbers of the fields present, ascending. */
  fields(): number[] {
    return Array.from(this.#order.subarray(0, this.#fieldCount))
  }

  /** The field at which the last `parse` failed: 0 the MTI or none, 1 the bitmap. */
  get failedField(): number {
    return this.#failedField
  }

  has(de: number): boolean {
    return this.#present[de] === 1
  }

  /** First byte of the value in the input, after its length prefix. */
  offset(de: number): number {
    return this.#starts[de]!
  }

  /** Bytes of the value on the wire. */
  wireLength(de: number): number {
    return wireBytes(this.#layout.kind[de]!, this.#counts[de]!)
  }

  /** The value's bytes in the input, as they lie on the wire; empty when absent. No copy. */
  view(de: number): Uint8Array {
    if (!this.has(de)) return EMPTY
    const start = this.#starts[de]!
    return this.#bytes.subarray(start, start + this.wireLength(de))
  }

  /** Text of a field that is not of type b, with its zeros and blanks; empty when absent. */
  text(de: number): string {
    if (this.#present[de] !== 1) return ''
    if (isSecretField(de)) return latin1Decoder.decode(this.digits(de))
    this.#text ??= this.#stageAll()
    const start = this.#stageStarts[de]!
    return this.#text.substring(start, start + this.#stagedLength(de))
  }

  /** A copy of the value as characters (or, for type b, bytes) that the caller can wipe. */
  digits(de: number): Uint8Array {
    if (this.#present[de] !== 1) return EMPTY
    const out = new Uint8Array(this.#stagedLength(de))
    this.#decode(de, out, 0)
    return out
  }

  /** A text field as string, a field of type b as bytes. */
  value(de: number): string | Uint8Array {
    return this.#layout.dialect.fields[de]?.type === 'b' ? this.digits(de) : this.text(de)
  }

  /** Overwrites PAN, tracks and PIN in the input with zeros. */
  wipe(): void {
    for (const de of [2, 35, 45, 52]) this.view(de).fill(0)
  }

  #stagedLength(de: number): number {
    const kind = this.#layout.kind[de]!
    const signed = kind === SIGNED_TEXT || kind === SIGNED_PACKED
    return this.#counts[de]! + (signed ? 1 : 0)
  }

  /** Every text but the secret ones into one string, from which fields are cut. */
  #stageAll(): string {
    if (this.#stage.length < this.#end * 2) this.#stage = new Uint8Array(this.#end * 2)
    const { kind, pages } = this.#layout
    const stage = this.#stage
    const bytes = this.#bytes
    let at = 0
    for (let i = 0; i < this.#fieldCount; i++) {
      const de = this.#order[i]!
      if (kind[de] === BYTES || kind[de] === HEX || isSecretField(de)) continue
      this.#stageStarts[de] = at
      if (kind[de] !== TEXT) {
        at = this.#decode(de, stage, at)
        continue
      }
      const { decode } = pages[de]!
      const end = this.#starts[de]! + this.#counts[de]!
      for (let from = this.#starts[de]!; from < end; from++) stage[at++] = decode[bytes[from]!]!
    }
    return latin1Decoder.decode(stage.subarray(0, at))
  }

  #decode(de: number, out: Uint8Array, at: number): number {
    const layout = this.#layout
    const bytes = this.#bytes
    const start = this.#starts[de]!
    const count = this.#counts[de]!
    switch (layout.kind[de]) {
      case PACKED:
        return unpackDigits(bytes, start, count, layout.padRight[de]!, out, at)
      case HEX:
        for (let i = 0; i < count; i++) {
          const high = hexValue[bytes[start + i * 2]!]!
          out[at + i] = (high << 4) | hexValue[bytes[start + i * 2 + 1]!]!
        }
        return at + count
      case SIGNED_PACKED:
        out[at] = bytes[start]!
        return unpackDigits(bytes, start + 1, count, 0, out, at + 1)
      case BYTES:
        for (let i = 0; i < count; i++) out[at + i] = bytes[start + i]!
        return at + count
      default: {
        const length = this.#stagedLength(de)
        const { decode } = layout.pages[de]!
        for (let i = 0; i < length; i++) out[at + i] = decode[bytes[start + i]!]!
        return at + length
      }
    }
  }

  #readMti(start: number): number {
    const { dialect, mtiPage } = this.#layout
    const bytes = this.#bytes
    const packed = dialect.mti === 'bcd'
    const end = start + (packed ? 2 : 4)
    if (end > this.#end) refuse('iso8583_truncated', 0, start, 'the message ends within it')
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
    this.#mti = value + 10000
    return end
  }

  #bitmapEnd(at: number, bitmaps: number): number {
    return at + bitmaps * (this.#layout.dialect.bitmap === 'binary' ? 8 : 16)
  }

  #readBitmaps(at: number): number {
    const { fixed128, bitmap } = this.#layout.dialect
    const bits = this.#bits
    let count = 0
    do {
      const start = this.#bitmapEnd(at, count)
      if (this.#bitmapEnd(at, count + 1) > this.#end) {
        refuse('iso8583_truncated', 1, start, 'the message ends within it')
      }
      if (bitmap === 'binary') {
        for (let i = 0; i < 8; i++) bits[count * 8 + i] = this.#bytes[start + i]!
      } else this.#readHexBitmap(start, count * 8)
      count++
    } while (count < 3 && ((fixed128 && count < 2) || (bits[(count - 1) * 8]! & 0x80) !== 0))
    return count
  }

  #readHexBitmap(start: number, into: number): void {
    const { decode } = this.#layout.bitmapPage
    for (let i = 0; i < 8; i++) {
      const high = hexValue[decode[this.#bytes[start + i * 2]!]!]!
      const low = hexValue[decode[this.#bytes[start + i * 2 + 1]!]!]!
      if ((high | low) > 15) refuse('iso8583_bitmap', 1, start + i * 2, 'hexadecimal digits')
      this.#bits[into + i] = (high << 4) | low
    }
  }

  #readField(de: number, at: number): number {
    const layout = this.#layout
    const kind = layout.kind[de]!
    if (kind === ABSENT) refuse('iso8583_field_unknown', de, at, 'the dialect does not define it')
    let start = at
    let count = layout.max[de]!
    if (layout.prefix[de] !== PREFIX_NONE) {
      start = at + layout.prefixBytes[de]!
      if (start > this.#end) refuse('iso8583_truncated', de, at, 'the message ends in its length')
      count = this.#readCount(de, at)
      if (count > layout.max[de]!) {
        refuse('iso8583_length', de, at, `at most ${layout.max[de]}`)
      }
    }
    const end = start + wireBytes(kind, count)
    if (end > this.#end) refuse('iso8583_truncated', de, start, 'the message ends within it')
    this.#starts[de] = start
    this.#counts[de] = count
    if (kind === TEXT) this.#checkText(de, start, end)
    else if (kind === PACKED) this.#checkPacked(de, start, count)
    else if (kind !== BYTES) this.#checkRare(de, kind, start, end)
    return end
  }

  /** Length from the prefix, in digits, characters or (type b) bytes. */
  #readCount(de: number, at: number): number {
    const layout = this.#layout
    const counted = readNumber(
      this.#bytes,
      at,
      layout.prefixBytes[de]!,
      layout.prefix[de]!,
      layout.prefixPages[de]!,
    )
    if (counted < 0) refuse('iso8583_length', de, at, 'its length must be digits')
    const kind = layout.kind[de]
    if (kind === HEX && layout.countsBytes[de] === 0) {
      if (counted % 2 === 1) refuse('iso8583_length', de, at, 'an even number of digits')
      return counted >> 1
    }
    if (kind !== PACKED || layout.countsBytes[de] === 0) return counted
    return this.#digitsIn(de, at + layout.prefixBytes[de]!, counted)
  }

  /** Digits in a number of whole bytes: one fewer when the filling nibble is there and is no digit. */
  #digitsIn(de: number, start: number, byteCount: number): number {
    const layout = this.#layout
    const nibble = layout.padNibble[de]!
    if (nibble <= 9 || byteCount === 0 || start + byteCount > this.#end) return byteCount * 2
    const edge =
      layout.padRight[de] === 1
        ? this.#bytes[start + byteCount - 1]! & 15
        : this.#bytes[start]! >> 4
    return byteCount * 2 - (edge === nibble ? 1 : 0)
  }

  #checkText(de: number, start: number, end: number): void {
    const mask = this.#layout.classes[de]!
    const { classes } = this.#layout.pages[de]!
    const bytes = this.#bytes
    let common = mask
    for (let i = start; i < end; i++) common &= classes[bytes[i]!]!
    if (common !== 0 || start === end) return
    let at = start
    while ((classes[bytes[at]!]! & mask) !== 0) at++
    refuse('iso8583_character', de, at, `type ${this.#layout.dialect.fields[de]?.type}`)
  }

  #checkPacked(de: number, start: number, count: number): void {
    const layout = this.#layout
    const bytes = this.#bytes
    let skip = 0
    if (count % 2 === 1) {
      const padRight = layout.padRight[de] === 1
      const edge = padRight ? start + (count >> 1) : start
      const nibble = padRight ? bytes[edge]! & 15 : bytes[edge]! >> 4
      if (nibble !== layout.padNibble[de]) {
        refuse('iso8583_padding', de, edge, `filling nibble ${layout.padNibble[de]}`)
      }
      skip = padRight ? 0 : 1
    }
    const track = layout.track[de] === 1
    for (let i = 0; i < count; i++) {
      const position = i + skip
      const byte = bytes[start + (position >> 1)]!
      const nibble = position & 1 ? byte & 15 : byte >> 4
      if (nibble > 9 && !track) {
        refuse('iso8583_character', de, start + (position >> 1), 'packed digits')
      }
    }
  }

  #checkRare(de: number, kind: number, start: number, end: number): void {
    const bytes = this.#bytes
    if (kind === HEX) {
      for (let i = start; i < end; i++) {
        if (hexValue[bytes[i]!]! > 15) refuse('iso8583_character', de, i, 'hexadecimal digits')
      }
      return
    }
    const { decode, classes } = this.#layout.pages[de]!
    const sign = decode[bytes[start]!]!
    // C credit, D debit; stock peers send 0 where they have no sign.
    if (sign !== 0x43 && sign !== 0x44 && sign !== 0x30) {
      refuse('iso8583_character', de, start, 'sign C or D')
    }
    if (kind === SIGNED_PACKED) {
      this.#checkPacked(de, start + 1, this.#counts[de]!)
      return
    }
    for (let i = start + 1; i < end; i++) {
      if ((classes[bytes[i]!]! & DIGIT) === 0) {
        refuse('iso8583_character', de, i, 'digits after the sign')
      }
    }
  }
}

/** A length prefix as a number; negative when it is not one. */
const readNumber = (
  bytes: Uint8Array,
  at: number,
  size: number,
  kind: number,
  page: CodePage,
): number => {
  let value = 0
  for (let i = at; i < at + size; i++) {
    const byte = bytes[i]!
    if (kind === PREFIX_BINARY) value = value * 256 + byte
    else if (kind === PREFIX_BCD) {
      if (byte >> 4 > 9 || (byte & 15) > 9) return -1
      value = value * 100 + (byte >> 4) * 10 + (byte & 15)
    } else {
      const digit = page.decode[byte]! - 0x30
      if (digit < 0 || digit > 9) return -1
      value = value * 10 + digit
    }
  }
  return value
}

const unpackDigits = (
  bytes: Uint8Array,
  start: number,
  count: number,
  padRight: number,
  out: Uint8Array,
  at: number,
): number => {
  const end = at + count
  let from = start
  let to = at
  // Nibbles above nine passed the checks of track data only, whose characters go on to 0x3f.
  if (count % 2 === 1 && padRight === 0) out[to++] = 0x30 | (bytes[from++]! & 15)
  for (; to + 1 < end; to += 2) {
    const byte = bytes[from++]!
    out[to] = 0x30 | (byte >> 4)
    out[to + 1] = 0x30 | (byte & 15)
  }
  if (to < end) out[to] = 0x30 | (bytes[from]! >> 4)
  return end
}

export const createParser = (dialect: Dialect): Iso8583Parser =>
  new Iso8583Parser(compileLayout(dialect))
