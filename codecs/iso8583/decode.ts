import { hexValue, PADDED_RIGHT_TABLE, PAIRS_TABLE } from './characters.ts'
import {
  BYTES,
  CODE_PAGES,
  HEX,
  type Layout,
  PACKED,
  SIGNED_PACKED,
  SIGNED_TEXT,
} from './layout.ts'

/** Characters, or for type b bytes, of a value of `count`: signs are no part of the count. */
export const stagedLength = ({ kind }: Layout, de: number, count: number): number =>
  kind[de] === SIGNED_TEXT || kind[de] === SIGNED_PACKED ? count + 1 : count

/** Writes the value, `count` long at `start` of `bytes`, as Latin-1 characters or bytes. @returns the end in `out` */
export const decodeField = (
  layout: Layout,
  de: number,
  bytes: Uint8Array,
  start: number,
  count: number,
  out: Uint8Array,
  at: number,
): number => {
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
      const length = stagedLength(layout, de, count)
      const { decode } = layout.pages[de]!
      for (let i = 0; i < length; i++) out[at + i] = decode[bytes[start + i]!]!
      return at + length
    }
  }
}

/** The characters of a stretch of a run that was checked with `table`. @returns the end in `out` */
export const decodeStretch = (
  table: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
): number => {
  let from = start
  let to = at
  if (table === PAIRS_TABLE) {
    for (; from + 1 < end; from += 2, to += 4) {
      const first = bytes[from]!
      const second = bytes[from + 1]!
      out[to] = 0x30 | (first >> 4)
      out[to + 1] = 0x30 | (first & 15)
      out[to + 2] = 0x30 | (second >> 4)
      out[to + 3] = 0x30 | (second & 15)
    }
    if (from < end) {
      out[to] = 0x30 | (bytes[from]! >> 4)
      out[to + 1] = 0x30 | (bytes[from]! & 15)
      to += 2
    }
  } else if (table === 0) {
    for (; from + 3 < end; from += 4, to += 4) {
      out[to] = bytes[from]!
      out[to + 1] = bytes[from + 1]!
      out[to + 2] = bytes[from + 2]!
      out[to + 3] = bytes[from + 3]!
    }
    for (; from < end; from++) out[to++] = bytes[from]!
  } else if (table < PAIRS_TABLE) {
    const { decode } = CODE_PAGES[table]!
    for (; from < end; from++) out[to++] = decode[bytes[from]!]!
  } else {
    const shift = table >= PADDED_RIGHT_TABLE ? 4 : 0
    for (; from < end; from++) out[to++] = 0x30 | ((bytes[from]! >> shift) & 15)
  }
  return to
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
