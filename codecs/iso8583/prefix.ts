import type { CodePage } from './characters.ts'
import { prefixBcd, prefixBinary } from './layout.ts'

/** A length prefix as a number; negative when it is not one. */
export const readNumber = (
  bytes: Uint8Array,
  at: number,
  size: number,
  kind: number,
  page: CodePage,
): number => {
  let value = 0
  for (let i = at; i < at + size; i++) {
    const byte = bytes[i]!
    if (kind === prefixBinary) value = value * 256 + byte
    else if (kind === prefixBcd) {
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

/** Writes a length prefix of `size` bytes; the number must fit. */
export const writeNumber = (
  value: number,
  out: Uint8Array,
  at: number,
  size: number,
  kind: number,
  page: CodePage,
): void => {
  let rest = value
  for (let i = at + size - 1; i >= at; i--) {
    if (kind === prefixBinary) {
      out[i] = rest & 255
      rest >>= 8
    } else if (kind === prefixBcd) {
      out[i] = (Math.floor((rest % 100) / 10) << 4) | (rest % 10)
      rest = Math.floor(rest / 100)
    } else {
      out[i] = page.encode[0x30 + (rest % 10)]!
      rest = Math.floor(rest / 10)
    }
  }
}
