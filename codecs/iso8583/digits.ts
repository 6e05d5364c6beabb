/** Whether all nibbles of the bytes from `start` to `end` are at most nine. */
export const packedDigits = (bytes: Uint8Array, start: number, end: number): boolean => {
  let bad = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    bad |= byte & ((byte << 1) | (byte << 2))
  }
  return (bad & 0x88) === 0
}

/** Writes packed digits as characters to `out` from `at`. */
export const unpackDigits = (
  bytes: Uint8Array,
  start: number,
  count: number,
  padsRight: boolean,
  out: Uint8Array,
  at: number,
): void => {
  const end = at + count
  let from = start
  let to = at
  // Only a track may have nibbles above nine: its characters reach 0x3f.
  if (count % 2 === 1 && !padsRight) out[to++] = 0x30 | (bytes[from++]! & 15)
  for (; to + 1 < end; to += 2) {
    const byte = bytes[from++]!
    out[to] = 0x30 | (byte >> 4)
    out[to + 1] = 0x30 | (byte & 15)
  }
  if (to < end) out[to] = 0x30 | (bytes[from]! >> 4)
}

/** Reads bytes as a number, the highest first. */
export const bigEndian = (bytes: Uint8Array, start: number, size: number): number => {
  let value = 0
  for (let at = start; at < start + size; at++) value = value * 256 + bytes[at]!
  return value
}

/** Reads packed digits as a number; negative if one is not a digit. */
export const packedNumber = (bytes: Uint8Array, start: number, size: number): number => {
  if (!packedDigits(bytes, start, start + size)) return -1
  let value = 0
  for (let at = start; at < start + size; at++) {
    value = value * 100 + (bytes[at]! >> 4) * 10 + (bytes[at]! & 15)
  }
  return value
}

/** Reads digits as a number; negative if one is not a digit. */
export const digitsNumber = (
  bytes: Uint8Array,
  start: number,
  size: number,
  decode: Uint8Array,
): number => {
  let value = 0
  let bad = 0
  for (let at = start; at < start + size; at++) {
    const one = decode[bytes[at]!]! - 0x30
    bad |= one | (9 - one)
    value = value * 10 + one
  }
  return bad < 0 ? -1 : value
}
