const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const equals = 0x3d

/** Value of each character; 64 for one outside the alphabet. */
const values = new Uint8Array(256).fill(64)
for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i

/**
 * Decodes the base64 in [from, to), which must hold exactly `length` bytes, without white space, and with zeros in the
 * unused bits, so that one value has one spelling; undefined for anything else.
 *
 * Goes character by character on purpose: the runtime's decoder uses the processor's widest registers, which slows the
 * signature arithmetic that follows by more than the decoder gains.
 */
export const decodeBase64 = (
  text: Uint8Array,
  from: number,
  to: number,
  length: number,
  into: Uint8Array = new Uint8Array(length),
): Uint8Array | undefined => {
  const padding = (3 - (length % 3)) % 3
  if (to - from !== ((length + padding) / 3) * 4) return undefined
  const chars = to - from - padding
  for (let at = from + chars; at < to; at++) if (text[at] !== equals) return undefined
  let seen = 0
  let bits = 0
  let place = 0
  for (let i = 0; i < chars; i++) {
    const value = values[text[from + i]!]!
    seen |= value
    bits = (bits << 6) | value
    if ((i & 3) !== 0) into[place++] = bits >> (6 - 2 * (i & 3))
  }
  return seen < 64 && (bits & ((1 << (2 * padding)) - 1)) === 0 ? into : undefined
}
