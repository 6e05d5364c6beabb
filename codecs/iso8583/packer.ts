import { CodecError } from '#codecs/bytes'
import { classOf, digit, hexDigits } from './characters.ts'
import { type Dialect, fieldMax } from './dialect.ts'
import {
  absent,
  bytesForm,
  compileLayout,
  hex,
  type Layout,
  packedForm,
  prefixNone,
  refuse,
  signedPacked,
  signedText,
  textForm,
  wireBytes,
} from './layout.ts'
import { writeNumber } from './prefix.ts'

/** Text as string or as Latin-1 bytes that can be wiped; type b as bytes. */
export type FieldValue = string | Uint8Array
export type FieldValues = { readonly [de: number]: FieldValue | undefined }

/**
 * Writes messages of one dialect. Every byte is written once, straight into the caller's buffer;
 * nothing is allocated.
 */
export class Iso8583Packer {
  // Plain fields: private names cost JavaScriptCore a check at each use.
  private readonly layout: Layout
  /** The bitmaps of the message being written. */
  private readonly words = new Int32Array(6)
  private bitmapStart = 0
  private bitmaps = 0

  constructor(layout: Layout) {
    this.layout = layout
  }

  get dialect(): Dialect {
    return this.layout.dialect
  }

  /**
   * Writes the message at `start` and returns the offset after it. A fixed field takes a shorter value:
   * n is filled with zeros on the left, text with blanks on the right.
   *
   * @throws CodecError `iso8583_buffer_too_small`, `iso8583_mti`, `iso8583_field_unknown`,
   *   `iso8583_length`, `iso8583_character`; offset is the place in `out`, whose content is then undefined
   */
  pack(mti: string, values: FieldValues, out: Uint8Array, start = 0): number {
    let highest = fieldMax
    while (highest > 64 && values[highest] === undefined) highest--
    let at = this.begin(mti, highest, out, start)
    for (let de = 2; de <= highest; de++) {
      const value = values[de]
      if (value !== undefined) at = this.put(de, value, out, at)
    }
    this.finish(out)
    return at
  }

  /**
   * Begins a message without fields above `highest`: its MTI, and room for its bitmaps. Fields follow by `put`, in
   * ascending order, then `finish`.
   *
   * @returns the offset of the first field
   */
  begin(mti: string, highest: number, out: Uint8Array, start: number): number {
    const { layout, words } = this
    const { dialect } = layout
    for (let word = 0; word < 6; word++) words[word] = 0
    this.bitmaps = highest > 64 || dialect.fixed128 ? Math.max(2, (highest + 63) >> 6) : 1
    this.bitmapStart = this.writeMti(mti, out, start)
    const at = this.bitmapStart + this.bitmaps * (dialect.bitmap === 'binary' ? 8 : 16)
    if (at > out.length) tooSmall(start)
    return at
  }

  /** Writes one field at `at`. @returns the offset after it */
  put(de: number, value: FieldValue, out: Uint8Array, at: number): number {
    const { layout, words } = this
    words[(de - 1) >> 5]! |= 0x80000000 >>> ((de - 1) & 31)
    if (typeof value !== 'string') return this.writeField(de, value, out, at)
    const { length } = value
    if (length !== layout.plainLength[de]) {
      return length === layout.packedLength[de]
        ? this.putPacked(de, value, out, at)
        : this.writeField(de, value, out, at)
    }
    if (at + length > out.length) tooSmall(at)
    let common = layout.classes[de]!
    let all = 0
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      all |= code
      common &= classOf[code & 255]!
      out[at + i] = code
    }
    if (all > 255 || common === 0) this.badCharacter(de, at)
    return at + length
  }

  /** A fixed field of packed digits with all of them given. */
  private putPacked(de: number, value: string, out: Uint8Array, start: number): number {
    const { layout } = this
    const { length } = value
    const end = start + ((length + 1) >> 1)
    if (end > out.length) tooSmall(start)
    const isOdd = length % 2 === 1
    const padRight = layout.padRight[de] === 1
    let at = start
    let index = 0
    // Negative once a digit is below 0 or above 9.
    let range = 0
    if (isOdd && !padRight) {
      const digit = value.charCodeAt(index++) - 0x30
      range |= digit | (9 - digit)
      out[at++] = (layout.padNibble[de]! << 4) | digit
    }
    for (; index + 1 < length; index += 2) {
      const high = value.charCodeAt(index) - 0x30
      const low = value.charCodeAt(index + 1) - 0x30
      range |= high | (9 - high) | low | (9 - low)
      out[at++] = (high << 4) | low
    }
    if (index < length) {
      const digit = value.charCodeAt(index) - 0x30
      range |= digit | (9 - digit)
      out[at] = (digit << 4) | layout.padNibble[de]!
    }
    // The slow way finds the place.
    return range < 0 ? this.writeField(de, value, out, start) : end
  }

  /** Writes the bitmaps of what was put. */
  finish(out: Uint8Array): void {
    const { words, bitmaps } = this
    const { fixed128, marksSecond } = this.layout.dialect
    const hasSecond =
      marksSecond &&
      bitmaps > 1 &&
      !(fixed128 && (words[2]! | words[3]! | words[4]! | words[5]!) === 0)
    if (hasSecond) words[0]! |= 0x80000000
    if (bitmaps > 2) words[2]! |= 0x80000000
    this.writeBitmaps(out)
  }

  private writeMti(mti: string, out: Uint8Array, start: number): number {
    const { dialect, mtiPage } = this.layout
    if (mti.length !== 4) refuse('iso8583_mti', 0, start, 'four digits')
    const size = dialect.mti === 'bcd' ? 2 : 4
    if (start + size > out.length) tooSmall(start)
    for (let i = 0; i < 4; i++) {
      const code = mti.charCodeAt(i)
      if (code < 0x30 || code > 0x39) refuse('iso8583_mti', 0, start, 'four digits')
      if (size === 4) out[start + i] = mtiPage.encode[code]!
      else if (i % 2 === 0) out[start + (i >> 1)] = (code - 0x30) << 4
      else out[start + (i >> 1)]! |= code - 0x30
    }
    return start + size
  }

  private writeBitmaps(out: Uint8Array): void {
    const { words } = this
    const { dialect, bitmapPage } = this.layout
    const { encode } = bitmapPage
    const isBinary = dialect.bitmap === 'binary'
    let at = this.bitmapStart
    for (let i = 0; i < this.bitmaps * 2; i++) {
      const word = words[i]!
      if (isBinary) {
        out[at] = word >>> 24
        out[at + 1] = word >>> 16
        out[at + 2] = word >>> 8
        out[at + 3] = word
        at += 4
      } else {
        for (let shift = 28; shift >= 0; shift -= 4) {
          out[at++] = encode[hexDigits.charCodeAt((word >>> shift) & 15)]!
        }
      }
    }
  }

  private writeField(de: number, value: FieldValue, out: Uint8Array, start: number): number {
    const layout = this.layout
    const kind = layout.kind[de]!
    if (kind === absent)
      refuse('iso8583_field_unknown', de, start, 'the dialect does not define it')
    const max = layout.max[de]!
    const signed = kind === signedText || kind === signedPacked ? 1 : 0
    const given = value.length - signed
    if (given > max || given < 0) refuse('iso8583_length', de, start, `at most ${max}`)
    let at = start
    let count = max
    if (layout.prefix[de] !== prefixNone) {
      count = given
      at = this.writeLength(de, kind, count, out, start)
    }
    const end = at + wireBytes(kind, count)
    if (end > out.length) tooSmall(start)
    if (kind === textForm) this.writeText(de, value, count, out, at)
    else if (kind === packedForm) this.writePacked(de, value, 0, count, out, at)
    else if (kind === bytesForm || kind === hex) this.writeBytes(de, kind, value, count, out, at)
    else this.writeSigned(de, kind, value, count, out, at)
    return end
  }

  private writeLength(
    de: number,
    kind: number,
    count: number,
    out: Uint8Array,
    start: number,
  ): number {
    const layout = this.layout
    let counted = count
    if (layout.countsBytes[de] === 0) {
      if (kind === hex) counted = count * 2
    } else if (kind === packedForm) {
      if (count % 2 === 1 && layout.padNibble[de]! <= 9) {
        refuse('iso8583_length', de, start, 'an even number of digits where bytes are counted')
      }
      counted = (count + 1) >> 1
    }
    const size = layout.prefixBytes[de]!
    if (start + size > out.length) tooSmall(start)
    writeNumber(counted, out, start, size, layout.prefix[de]!, layout.prefixPages[de]!)
    return start + size
  }

  private writeText(
    de: number,
    value: FieldValue,
    count: number,
    out: Uint8Array,
    at: number,
  ): void {
    const layout = this.layout
    const mask = layout.classes[de]!
    const { encode } = layout.pages[de]!
    const length = value.length
    let to = at
    if (length < count && mask === digit) {
      for (; to < at + count - length; to++) out[to] = encode[0x30]!
    }
    if (typeof value === 'string') {
      // A code above 255 has no class, so that it fails like any other.
      let common = mask
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i)
        common &= classOf[code] ?? 0
        out[to + i] = encode[code] ?? 0
      }
      if (common === 0 && length > 0) this.badCharacter(de, to)
    } else {
      for (let i = 0; i < length; i++) {
        const code = value[i]!
        if ((classOf[code]! & mask) === 0) this.badCharacter(de, to + i)
        out[to + i] = encode[code]!
      }
    }
    for (to += length; to < at + count; to++) out[to] = encode[0x20]!
  }

  private badCharacter(de: number, at: number): never {
    return refuse('iso8583_character', de, at, `type ${this.layout.dialect.fields[de]?.type}`)
  }

  /** Digits of `value` from `from` as nibbles; fewer than `count` are preceded by zeros. */
  private writePacked(
    de: number,
    value: FieldValue,
    from: number,
    count: number,
    out: Uint8Array,
    at: number,
  ): void {
    const layout = this.layout
    const track = layout.track[de] === 1
    const zeros = count - (value.length - from)
    const padNibble = layout.padNibble[de]!
    const padRight = layout.padRight[de] === 1
    if (typeof value !== 'string' && zeros === 0 && count % 2 === 0 && !track) {
      this.writePairs(de, value, from, count, out, at)
      return
    }
    const lead = count % 2 === 1 && !padRight ? 1 : 0
    let byte = lead === 1 ? padNibble : 0
    let position = lead
    for (let i = 0; i < count; i++) {
      const code = i < zeros ? 0x30 : codeAt(value, from + i - zeros)
      let nibble = code - 0x30
      if (track && (code === 0x44 || code === 0x64)) nibble = 13
      if (nibble < 0 || nibble > (track ? 15 : 9)) this.badCharacter(de, at + (position >> 1))
      byte = (byte << 4) | nibble
      if (position % 2 === 1) {
        out[at + (position >> 1)] = byte
        byte = 0
      }
      position++
    }
    if (position % 2 === 1) out[at + (position >> 1)] = (byte << 4) | padNibble
  }

  /** Card numbers come as bytes: two digits to a byte, nothing to fill. */
  private writePairs(
    de: number,
    value: Uint8Array,
    from: number,
    count: number,
    out: Uint8Array,
    at: number,
  ): void {
    let to = at
    for (let i = from; i < from + count; i += 2) {
      const high = value[i]! - 0x30
      const low = value[i + 1]! - 0x30
      if ((high | (9 - high) | low | (9 - low)) < 0) this.badCharacter(de, to)
      out[to++] = (high << 4) | low
    }
  }

  private writeBytes(
    de: number,
    kind: number,
    value: FieldValue,
    count: number,
    out: Uint8Array,
    at: number,
  ): void {
    if (typeof value === 'string') refuse('iso8583_character', de, at, 'type b takes bytes')
    if (value.length !== count) refuse('iso8583_length', de, at, `exactly ${count} bytes`)
    if (kind === bytesForm) {
      for (let i = 0; i < count; i++) out[at + i] = value[i]!
      return
    }
    for (let i = 0; i < count; i++) {
      out[at + i * 2] = hexDigits.charCodeAt(value[i]! >> 4)
      out[at + i * 2 + 1] = hexDigits.charCodeAt(value[i]! & 15)
    }
  }

  private writeSigned(
    de: number,
    kind: number,
    value: FieldValue,
    count: number,
    out: Uint8Array,
    at: number,
  ): void {
    const { encode } = this.layout.pages[de]!
    const sign = codeAt(value, 0)
    if (sign !== 0x43 && sign !== 0x44 && sign !== 0x30) {
      refuse('iso8583_character', de, at, 'sign C or D')
    }
    out[at] = encode[sign]!
    if (kind === signedPacked) {
      this.writePacked(de, value, 1, count, out, at + 1)
      return
    }
    const zeros = count - (value.length - 1)
    for (let i = 0; i < count; i++) {
      const code = i < zeros ? 0x30 : codeAt(value, 1 + i - zeros)
      if (code < 0x30 || code > 0x39) this.badCharacter(de, at + 1 + i)
      out[at + 1 + i] = encode[code]!
    }
  }
}

const codeAt = (value: FieldValue, index: number): number =>
  typeof value === 'string' ? value.charCodeAt(index) : value[index]!

function tooSmall(offset: number): never {
  throw new CodecError('iso8583_buffer_too_small', offset, 'the buffer is too small', {
    rule: 'the buffer must hold the message',
  })
}

export const createPacker = (dialect: Dialect): Iso8583Packer =>
  new Iso8583Packer(compileLayout(dialect))
