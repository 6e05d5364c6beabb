import { CodecError } from '#codecs/bytes'
import { classOf, digit, hexDigits } from './characters.ts'
import { type Dialect, fieldMax } from './dialect.ts'
import { checkPacked, compileLayout, type Field, type Layout, refuse, wireBytes } from './layout.ts'

/** Text as string or as Latin-1 bytes that can be wiped; type b as bytes. */
export type FieldValue = string | Uint8Array
type FieldValues = { readonly [de: number]: FieldValue | undefined }

/**
 * Writes messages of one dialect. Every byte is written once, straight into the caller's buffer. It allocates only for
 * a number that is shorter than its field, and `pack` for the list of the fields that it is given.
 */
export class Iso8583Packer {
  // Members are plain: private names cost JavaScriptCore a check at each use.
  private readonly layout: Layout
  private readonly fields: Layout['fields']
  /** The bitmaps of the message being written. */
  private readonly words = new Int32Array(6)
  private bitmapStart = 0
  private bitmaps = 0

  constructor(layout: Layout) {
    this.layout = layout
    this.fields = layout.fields
  }

  get dialect(): Dialect {
    return this.layout.dialect
  }

  /**
   * Writes the message at `start` and returns the offset after it. A fixed field takes a shorter value: n and x+n are
   * filled with zeros on the left, text with blanks on the right.
   *
   * @param values members of its own that are `undefined`, or no number of a field, are left out
   * @throws CodecError `iso8583_buffer_too_small`, `iso8583_mti`, `iso8583_field_unknown`,
   *   `iso8583_length`, `iso8583_character`; offset is the place in `out`, whose content is then undefined
   */
  pack(mti: string, values: FieldValues, out: Uint8Array, start = 0): number {
    // The names are in ascending order. To ask for each possible number costs more, as most are absent.
    const names = Object.keys(values)
    let highest = 64
    for (let i = names.length - 1; i >= 0; i--) {
      const de = numberOf(names[i]!)
      if (de === 0 || values[de] === undefined) continue
      highest = Math.max(highest, de)
      break
    }
    let at = this.begin(mti, highest, out, start)
    for (let i = 0; i < names.length; i++) {
      const de = numberOf(names[i]!)
      const value = de === 0 ? undefined : values[de]
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
    const { dialect } = this.layout
    for (let i = 0; i < 6; i++) this.words[i] = 0
    this.bitmaps = highest > 64 || dialect.fixed128 ? Math.max(2, (highest + 63) >> 6) : 1
    this.bitmapStart = this.writeMti(mti, out, start)
    const at = this.bitmapStart + this.bitmaps * (dialect.bitmap === 'binary' ? 8 : 16)
    if (at > out.length) tooSmall(start)
    return at
  }

  /** Writes one field at `at`. @returns the offset after it */
  put(de: number, value: FieldValue, out: Uint8Array, at: number): number {
    this.words[(de - 1) >> 5]! |= 0x80000000 >>> ((de - 1) & 31)
    const field = this.fields[de]
    if (field === undefined || typeof value !== 'string' || value.length !== field.whole) {
      return this.putAny(de, value, out, at)
    }
    if (field.check === checkPacked) return writePairs(field, value, out, at)
    const { length } = value
    if (at + length > out.length) tooSmall(at)
    let common = field.characters
    let all = 0
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      all |= code
      common &= classOf[code & 255]!
      out[at + i] = code
    }
    if (all > 255 || common === 0) badCharacter(field, at)
    return at + length
  }

  /** Does the same as `put`, for any value. */
  private putAny(de: number, value: FieldValue, out: Uint8Array, at: number): number {
    const field = this.fields[de]
    if (field === undefined) {
      refuse('iso8583_field_unknown', de, at, 'the dialect does not define it')
    }
    const { kind, max, prefixBytes, signBytes } = field
    const given = value.length - signBytes
    if (given > max || given < 0) refuse('iso8583_length', de, at, `at most ${max}`)
    const count = prefixBytes === 0 ? max : given
    const start = at + prefixBytes
    const end = start + wireBytes(field, count)
    if (end > out.length) tooSmall(at)
    if (prefixBytes !== 0) writeLength(field, count, out, at)
    if (kind === 'bytes' || kind === 'hex') {
      writeBytes(field, value, count, out, start)
      return end
    }
    const whole = given < count && field.characters === digit ? filled(value, field) : value
    if (signBytes === 1) writeSign(field, whole, out, start)
    if (kind === 'packed' || kind === 'signed_packed') {
      writePacked(field, whole, out, start + signBytes)
    } else writeText(field, whole, out, start + signBytes, end)
    return end
  }

  /** Writes the bitmaps for the fields that were put. */
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
}

/** The number of a data element, from 2 on; 0 for any other name. */
const numberOf = (name: string): number => {
  const { length } = name
  // A name that begins with a zero is another member than the number.
  if (length > 3 || name.charCodeAt(0) === 0x30) return 0
  let de = 0
  for (let i = 0; i < length; i++) {
    const value = name.charCodeAt(i) - 0x30
    if (value < 0 || value > 9) return 0
    de = de * 10 + value
  }
  return de >= 2 && de <= fieldMax ? de : 0
}

const codeAt = (value: FieldValue, index: number): number =>
  typeof value === 'string' ? value.charCodeAt(index) : value[index]!

/** The number with zeros on the left, after its sign. */
const filled = (value: FieldValue, { max, signBytes }: Field): FieldValue => {
  if (typeof value === 'string') {
    return value.slice(0, signBytes) + value.slice(signBytes).padStart(max, '0')
  }
  const out = new Uint8Array(signBytes + max).fill(0x30)
  out.set(value.subarray(0, signBytes))
  out.set(value.subarray(signBytes), out.length - (value.length - signBytes))
  return out
}

/** Writes a length prefix, which fits every length that the field allows. */
const writeLength = (field: Field, count: number, out: Uint8Array, start: number): void => {
  const { kind, de, countsBytes, prefix, prefixBytes, prefixPage } = field
  let rest = count
  if (countsBytes && kind === 'packed') {
    if (count % 2 === 1 && field.padNibble <= 9) {
      refuse('iso8583_length', de, start, 'an even number of digits where bytes are counted')
    }
    rest = (count + 1) >> 1
  } else if (!countsBytes && kind === 'hex') rest = count * 2
  for (let at = start + prefixBytes - 1; at >= start; at--) {
    if (prefix === 'binary') {
      out[at] = rest & 255
      rest >>= 8
    } else if (prefix === 'bcd') {
      out[at] = (Math.floor((rest % 100) / 10) << 4) | (rest % 10)
      rest = Math.floor(rest / 100)
    } else {
      out[at] = prefixPage.encode[0x30 + (rest % 10)]!
      rest = Math.floor(rest / 10)
    }
  }
}

const writeSign = (field: Field, value: FieldValue, out: Uint8Array, at: number): void => {
  const sign = codeAt(value, 0)
  if (field.isChecked && sign !== 0x43 && sign !== 0x44 && sign !== 0x30) {
    refuse('iso8583_character', field.de, at, 'sign C or D')
  }
  out[at] = field.page.encode[sign]!
}

/** Writes an even number of packed digits that fill their field. @returns the offset after them */
const writePairs = (field: Field, value: string, out: Uint8Array, start: number): number => {
  const { length } = value
  const end = start + (length >> 1)
  if (end > out.length) tooSmall(start)
  let at = start
  // Negative as soon as a digit is below 0 or above 9.
  let range = 0
  for (let i = 0; i < length; i += 2) {
    const high = value.charCodeAt(i) - 0x30
    const low = value.charCodeAt(i + 1) - 0x30
    range |= high | (9 - high) | low | (9 - low)
    out[at++] = (high << 4) | low
  }
  if (range < 0) badCharacter(field, start)
  return end
}

/** Writes text after its sign, and blanks up to `end`. */
const writeText = (
  field: Field,
  value: FieldValue,
  out: Uint8Array,
  start: number,
  end: number,
): void => {
  const { characters, isChecked, signBytes } = field
  const { encode } = field.page
  let common = characters
  let at = start
  for (let i = signBytes; i < value.length; i++) {
    const code = codeAt(value, i)
    // A code above 255 has no class, so it fails too.
    common &= classOf[code] ?? 0
    out[at++] = encode[code] ?? 0
  }
  if (isChecked && common === 0 && at > start) badCharacter(field, start)
  while (at < end) out[at++] = encode[0x20]!
}

/** Writes digits after the sign as nibbles, with the filling one if their number is odd. */
const writePacked = (field: Field, value: FieldValue, out: Uint8Array, start: number): void => {
  const { padNibble, padsRight, signBytes } = field
  const { length } = value
  // A track may use all sixteen nibbles.
  const nibbleMax = field.type === 'z' ? 15 : 9
  let index = signBytes
  let at = start
  // Negative as soon as a character is not allowed.
  let range = 0
  if ((length - signBytes) % 2 === 1 && !padsRight) {
    const nibble = nibbleAt(value, index++, nibbleMax)
    range |= nibble | (nibbleMax - nibble)
    out[at++] = (padNibble << 4) | nibble
  }
  for (; index + 1 < length; index += 2) {
    const high = nibbleAt(value, index, nibbleMax)
    const low = nibbleAt(value, index + 1, nibbleMax)
    range |= high | (nibbleMax - high) | low | (nibbleMax - low)
    out[at++] = (high << 4) | low
  }
  if (index < length) {
    const nibble = nibbleAt(value, index, nibbleMax)
    range |= nibble | (nibbleMax - nibble)
    out[at] = (nibble << 4) | padNibble
  }
  if (range < 0 && field.isChecked) badCharacter(field, start)
}

/** The nibble of a character; peers also write the separator of a track as D. */
const nibbleAt = (value: FieldValue, index: number, nibbleMax: number): number => {
  const code = codeAt(value, index)
  return nibbleMax === 15 && (code === 0x44 || code === 0x64) ? 13 : code - 0x30
}

const writeBytes = (
  { de, kind }: Field,
  value: FieldValue,
  count: number,
  out: Uint8Array,
  at: number,
): void => {
  if (typeof value === 'string') refuse('iso8583_character', de, at, 'type b takes bytes')
  if (value.length !== count) refuse('iso8583_length', de, at, `exactly ${count} bytes`)
  for (let i = 0; i < count; i++) {
    const byte = value[i]!
    if (kind === 'bytes') out[at + i] = byte
    else {
      out[at + i * 2] = hexDigits.charCodeAt(byte >> 4)
      out[at + i * 2 + 1] = hexDigits.charCodeAt(byte & 15)
    }
  }
}

const badCharacter = ({ de, type }: Field, at: number): never =>
  refuse('iso8583_character', de, at, `type ${type}`)

const tooSmall = (offset: number): never => {
  throw new CodecError('iso8583_buffer_too_small', offset, 'the buffer is too small', {
    rule: 'the buffer must hold the message',
  })
}

/**
 * @param checked the fields whose characters are checked, all when not given; a message from a parser that checks the
 *   same fields is written as it came
 */
export const createPacker = (dialect: Dialect, checked?: ReadonlySet<number>): Iso8583Packer =>
  new Iso8583Packer(compileLayout(dialect, checked))
