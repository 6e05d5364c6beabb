import { keep, roomFor, type Value, values, valueView } from './values.ts'

/** Of the largest safe integer, with a zero before it and a point. */
const bytesMax = 18
const point = 0x2e
const zero = 0x30
const hundred = 100

/** `00` to `99`, the first digit in the low byte. */
const pairs = Uint16Array.from(
  { length: hundred },
  (_, i) => zero + Math.floor(i / 10) + ((zero + (i % 10)) << 8),
)

/** A safe integer of cents, not negative, as a decimal with two fraction digits. */
export const amountOf = (amountCents: number): Value => {
  const to = roomFor(bytesMax) + bytesMax
  let at = to - 2
  let pair = amountCents % hundred
  let rest = (amountCents - pair) / hundred
  valueView.setUint16(at, pairs[pair] as number, true)
  values[--at] = point
  do {
    pair = rest % hundred
    rest = (rest - pair) / hundred
    at -= 2
    valueView.setUint16(at, pairs[pair] as number, true)
  } while (rest > 0)
  return keep(values[at] === zero ? at + 1 : at, to)
}
