import { type CodePage, DIGIT, hexValue } from './characters.ts'
import { FIELD_MAX } from './dialect.ts'
import {
  ABSENT,
  BYTES,
  HEX,
  type Layout,
  PACKED,
  PREFIX_BCD,
  PREFIX_BINARY,
  PREFIX_NONE,
  refuse,
  SIGNED_PACKED,
  TEXT,
  wireBytes,
} from './layout.ts'

/** Reads and checks single fields: those of variable length, and those that are no plain text. */
export class FieldReader {
  private readonly layout: Layout
  /** Digits, characters or bytes of each value read, by segment of the plan. */
  readonly counts = new Int32Array(FIELD_MAX + 1)
  /** First byte of the value read last. */
  start = 0

  constructor(layout: Layout) {
    this.layout = layout
  }

  /**
   * Reads the field that begins at `at`; `start` and the count of the segment are its own afterwards.
   *
   * @returns the offset after it
   * @throws CodecError
   */
  read(de: number, segment: number, bytes: Uint8Array, at: number, end: number): number {
    const { layout } = this
    const kind = layout.kind[de]!
    if (kind === ABSENT) refuse('iso8583_field_unknown', de, at, 'the dialect does not define it')
    let start = at
    let count = layout.max[de]!
    if (layout.prefix[de] !== PREFIX_NONE) {
      start = at + layout.prefixBytes[de]!
      if (start > end) refuse('iso8583_truncated', de, at, 'the message ends in its length')
      count = this.readCount(de, bytes, at, end)
      if (count > layout.max[de]!) {
        refuse('iso8583_length', de, at, `at most ${layout.max[de]}`)
      }
    }
    const stop = start + wireBytes(kind, count)
    if (stop > end) refuse('iso8583_truncated', de, start, 'the message ends within it')
    if (kind === TEXT) this.checkText(de, bytes, start, stop)
    else if (kind === PACKED) this.checkPacked(de, bytes, start, count)
    else if (kind !== BYTES) this.checkRare(de, kind, bytes, start, stop)
    this.start = start
    this.counts[segment] = count
    return stop
  }

  /** Length from the prefix, in digits, characters or (type b) bytes. */
  private readCount(de: number, bytes: Uint8Array, at: number, end: number): number {
    const { layout } = this
    const counted = readNumber(
      bytes,
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
    return this.digitsIn(de, bytes, at + layout.prefixBytes[de]!, counted, end)
  }

  /** Digits in a number of whole bytes: one fewer when the filling nibble is there and is no digit. */
  private digitsIn(
    de: number,
    bytes: Uint8Array,
    start: number,
    byteCount: number,
    end: number,
  ): number {
    const { layout } = this
    const nibble = layout.padNibble[de]!
    if (nibble <= 9 || byteCount === 0 || start + byteCount > end) return byteCount * 2
    const edge = layout.padRight[de] === 1 ? bytes[start + byteCount - 1]! & 15 : bytes[start]! >> 4
    return byteCount * 2 - (edge === nibble ? 1 : 0)
  }

  private checkText(de: number, bytes: Uint8Array, start: number, end: number): void {
    const mask = this.layout.classes[de]!
    const { classes } = this.layout.pages[de]!
    let common = mask
    for (let i = start; i < end; i++) common &= classes[bytes[i]!]!
    if (common !== 0 || start === end) return
    let at = start
    while ((classes[bytes[at]!]! & mask) !== 0) at++
    refuse('iso8583_character', de, at, `type ${this.layout.dialect.fields[de]?.type}`)
  }

  private checkPacked(de: number, bytes: Uint8Array, start: number, count: number): void {
    const { layout } = this
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

  private checkRare(de: number, kind: number, bytes: Uint8Array, start: number, end: number): void {
    if (kind === HEX) {
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
    if (kind === SIGNED_PACKED) {
      this.checkPacked(de, bytes, start + 1, this.layout.max[de]!)
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
