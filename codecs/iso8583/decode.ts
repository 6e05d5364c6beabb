import { classOf, digit, hexValue } from './characters.ts'
import {
  bytesForm,
  hex,
  type Layout,
  packedForm,
  prefixNone,
  signedPacked,
  signedText,
  textForm,
} from './layout.ts'

/** How a text value becomes a string. */
export const decodeStaged = 0
export const decodeLatin1 = 1
export const decodeFewText = 2
export const decodeFewPacked = 3
export const decodePacked = 4
export const decodeFewDigits = 5

const fewFields = 4

const decoderOf = (layout: Layout, de: number): number => {
  const kind = layout.kind[de]
  const fixed = layout.prefix[de] === prefixNone
  const few = fixed && layout.max[de]! <= fewFields
  if (kind === textForm && layout.plain[de] === 1) {
    if (!few) return decodeLatin1
    return layout.classes[de] === digit ? decodeFewDigits : decodeFewText
  }
  if (kind !== packedForm || layout.track[de] === 1) return decodeStaged
  const odd = layout.max[de]! % 2 === 1
  if (!few) return fixed && !odd ? decodePacked : decodeStaged
  const zero = layout.padRight[de] === 0 && layout.padNibble[de] === 0
  return !odd || zero ? decodeFewPacked : decodeStaged
}

/** For each field the fastest way to its string. */
export const decodersOf = (layout: Layout): Uint8Array =>
  layout.kind.map((_, de) => decoderOf(layout, de))

/** Strings of one to four digits by their number with a 1 before it, so that zeros count. Made once each. */
const fewDigits: (string | undefined)[] = new Array(20_000).fill(undefined)

const stringOf = (index: number): string => {
  const known = fewDigits[index]
  if (known !== undefined) return known
  const made = String(index).slice(1)
  fewDigits[index] = made
  return made
}

type Slicing = {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
}
/** Bytes as Latin-1, code by code; `TextDecoder` means Windows-1252 by that name and is slower. */
const { latin1Slice } = Buffer.prototype as unknown as Slicing

export const latin1Text = (bytes: Uint8Array, start: number, end: number): string =>
  latin1Slice.call(bytes, start, end)

/** One to four digits that were checked, as a string. */
export const fewDigitsAt = (bytes: Uint8Array, start: number, count: number): string => {
  let index = bytes[start]! - 0x26
  if (count > 1) index = index * 10 + bytes[start + 1]! - 0x30
  if (count > 2) index = index * 10 + bytes[start + 2]! - 0x30
  if (count > 3) index = index * 10 + bytes[start + 3]! - 0x30
  return stringOf(index)
}

/** One to four characters, most often digits, as a string. */
export const fewAt = (bytes: Uint8Array, start: number, count: number): string => {
  let common = digit
  for (let at = start; at < start + count; at++) common &= classOf[bytes[at]!]!
  return common === 0 ? latin1Text(bytes, start, start + count) : fewDigitsAt(bytes, start, count)
}

/** Packed digits that were checked, with a zero before an odd number of them, as a string. */
export const fewPackedAt = (bytes: Uint8Array, start: number, count: number): string => {
  const first = bytes[start]!
  const low = first & 15
  let index = count % 2 === 1 ? 10 + low : 100 + (first >> 4) * 10 + low
  if (count > 2) {
    const second = bytes[start + 1]!
    index = index * 100 + (second >> 4) * 10 + (second & 15)
  }
  return stringOf(index)
}

/** An even number of packed digits that were checked, as a string; `stage` holds them meanwhile. */
export const packedAt = (
  bytes: Uint8Array,
  start: number,
  count: number,
  stage: Uint8Array,
): string => {
  for (let to = 0, at = start; to < count; to += 2) {
    const byte = bytes[at++]!
    stage[to] = 0x30 | (byte >> 4)
    stage[to + 1] = 0x30 | (byte & 15)
  }
  return latin1Text(stage, 0, count)
}

/** Characters (of type b: bytes) of a value with `count` digits, its sign included. */
export const decodedLength = (kind: number, count: number): number =>
  kind === signedText || kind === signedPacked ? count + 1 : count

/** Writes the value's characters (of type b: bytes) to `out` from `at`. */
export const decodeInto = (
  layout: Layout,
  de: number,
  bytes: Uint8Array,
  start: number,
  count: number,
  out: Uint8Array,
  at: number,
): void => {
  switch (layout.kind[de]) {
    case packedForm:
      unpackDigits(bytes, start, count, layout.padRight[de]!, out, at)
      return
    case hex:
      for (let i = 0; i < count; i++) {
        const high = hexValue[bytes[start + i * 2]!]!
        out[at + i] = (high << 4) | hexValue[bytes[start + i * 2 + 1]!]!
      }
      return
    case signedPacked:
      out[at] = layout.pages[de]!.decode[bytes[start]!]!
      unpackDigits(bytes, start + 1, count, 0, out, at + 1)
      return
    case bytesForm:
      for (let i = 0; i < count; i++) out[at + i] = bytes[start + i]!
      return
    default: {
      const length = decodedLength(layout.kind[de]!, count)
      const { decode } = layout.pages[de]!
      for (let i = 0; i < length; i++) out[at + i] = decode[bytes[start + i]!]!
    }
  }
}

const unpackDigits = (
  bytes: Uint8Array,
  start: number,
  count: number,
  padRight: number,
  out: Uint8Array,
  at: number,
): void => {
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
}
