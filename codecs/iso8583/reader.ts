import { digit, hexValue } from './characters.ts'
import { type Dialect, fieldMax } from './dialect.ts'
import {
  absent,
  bytesForm,
  hex,
  type Layout,
  packedForm,
  prefixNone,
  refuse,
  signedPacked,
  textForm,
  wireBytes,
} from './layout.ts'
import { readNumber } from './prefix.ts'

export const empty: Uint8Array = new Uint8Array(0)

/**
 * Reads and checks one thing after the other: MTI, bitmaps, a field. What is wrong is said by field, offset
 * and rule. Members are plain, since private names cost a third of the speed in JavaScriptCore.
 */
export class FieldReader {
  protected readonly layout: Layout
  /** Offset of each value; of fixed ones in a run only the first. */
  protected readonly starts: Int32Array = new Int32Array(fieldMax + 1)
  /** Characters, digits or bytes of each value whose length is variable or was read field by field. */
  protected readonly counts: Int32Array = new Int32Array(fieldMax + 1)
  /** The bitmaps, 32 bits each, the first bit highest. */
  protected readonly words: Int32Array = new Int32Array(6)
  protected bytes: Uint8Array = empty
  protected end = 0
  /** Offset by 10 000 so that zero can mean: not read. */
  protected mtiPlus = 0

  constructor(layout: Layout) {
    this.layout = layout
  }

  get dialect(): Dialect {
    return this.layout.dialect
  }

  protected readMti(start: number): number {
    const { dialect, mtiPage } = this.layout
    const bytes = this.bytes
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
    this.mtiPlus = value + 10000
    return end
  }

  /** Reads one to three bitmaps and gives the offset after them. */
  protected readBitmaps(at: number): number {
    const { fixed128, bitmap } = this.layout.dialect
    const words = this.words
    const size = bitmap === 'binary' ? 8 : 16
    let count = 0
    let start = at
    do {
      if (start + size > this.end) {
        refuse('iso8583_truncated', 1, start, 'the message ends within it')
      }
      words[count * 2] = size === 8 ? this.wordAt(start) : this.hexWordAt(start)
      words[count * 2 + 1] = size === 8 ? this.wordAt(start + 4) : this.hexWordAt(start + 8)
      start += size
      count++
    } while (count < 3 && ((fixed128 && count < 2) || words[(count - 1) * 2]! < 0))
    for (let i = count * 2; i < 6; i++) words[i] = 0
    // Bits 1 and 65 say that another bitmap follows; they are no fields.
    words[0]! &= 0x7fffffff
    words[2]! &= 0x7fffffff
    return start
  }

  private wordAt(at: number): number {
    const bytes = this.bytes
    return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }

  private hexWordAt(start: number): number {
    const { decode } = this.layout.bitmapPage
    let word = 0
    for (let at = start; at < start + 8; at++) {
      const digit = hexValue[decode[this.bytes[at]!]!]!
      if (digit > 15) refuse('iso8583_bitmap', 1, at, 'hexadecimal digits')
      word = (word << 4) | digit
    }
    return word
  }

  protected readField(de: number, at: number): number {
    const layout = this.layout
    const kind = layout.kind[de]!
    if (kind === absent) refuse('iso8583_field_unknown', de, at, 'the dialect does not define it')
    let start = at
    let count = layout.max[de]!
    if (layout.prefix[de] !== prefixNone) {
      start = at + layout.prefixBytes[de]!
      if (start > this.end) refuse('iso8583_truncated', de, at, 'the message ends in its length')
      count = this.readCount(de, at)
      if (count > layout.max[de]!) {
        refuse('iso8583_length', de, at, `at most ${layout.max[de]}`)
      }
    }
    const end = start + wireBytes(kind, count)
    if (end > this.end) refuse('iso8583_truncated', de, start, 'the message ends within it')
    this.starts[de] = start
    this.counts[de] = count
    if (kind === textForm) this.checkText(de, start, end)
    else if (kind === packedForm) this.checkPacked(de, start, count)
    else if (kind !== bytesForm) this.checkRare(de, kind, start, end)
    return end
  }

  /** Length from the prefix, in digits, characters or (type b) bytes. */
  protected readCount(de: number, at: number): number {
    const layout = this.layout
    const counted = readNumber(
      this.bytes,
      at,
      layout.prefixBytes[de]!,
      layout.prefix[de]!,
      layout.prefixPages[de]!,
    )
    if (counted < 0) refuse('iso8583_length', de, at, 'its length must be digits')
    const kind = layout.kind[de]
    if (kind === hex && layout.countsBytes[de] === 0) {
      if (counted % 2 === 1) refuse('iso8583_length', de, at, 'an even number of digits')
      return counted >> 1
    }
    if (kind !== packedForm || layout.countsBytes[de] === 0) return counted
    return this.digitsIn(de, at + layout.prefixBytes[de]!, counted)
  }

  /** Digits in a number of whole bytes: one fewer when the filling nibble is there and is no digit. */
  protected digitsIn(de: number, start: number, byteCount: number): number {
    const layout = this.layout
    const nibble = layout.padNibble[de]!
    if (nibble <= 9 || byteCount === 0 || start + byteCount > this.end) return byteCount * 2
    const edge =
      layout.padRight[de] === 1 ? this.bytes[start + byteCount - 1]! & 15 : this.bytes[start]! >> 4
    return byteCount * 2 - (edge === nibble ? 1 : 0)
  }

  protected checkText(de: number, start: number, end: number): void {
    const mask = this.layout.classes[de]!
    const { classes } = this.layout.pages[de]!
    const bytes = this.bytes
    let common = mask
    for (let i = start; i < end; i++) common &= classes[bytes[i]!]!
    if (common !== 0 || start === end) return
    let at = start
    while ((classes[bytes[at]!]! & mask) !== 0) at++
    refuse('iso8583_character', de, at, `type ${this.layout.dialect.fields[de]?.type}`)
  }

  protected checkPacked(de: number, start: number, count: number): void {
    const layout = this.layout
    const bytes = this.bytes
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

  protected checkRare(de: number, kind: number, start: number, end: number): void {
    const bytes = this.bytes
    if (kind === hex) {
      for (let i = start; i < end; i++) {
        if (hexValue[bytes[i]!]! > 15) refuse('iso8583_character', de, i, 'hexadecimal digits')
      }
      return
    }
    const { decode, classes } = this.layout.pages[de]!
    const sign = decode[bytes[start]!]!
    // C credit, D debit; stock peers send 0 where they have no sign.
    if (sign !== 0x43 && sign !== 0x44 && sign !== 0x30) {
      refuse('iso8583_character', de, start, 'sign C or D')
    }
    if (kind === signedPacked) {
      this.checkPacked(de, start + 1, this.counts[de]!)
      return
    }
    for (let i = start + 1; i < end; i++) {
      if ((classes[bytes[i]!]! & digit) === 0) {
        refuse('iso8583_character', de, i, 'digits after the sign')
      }
    }
  }
}
