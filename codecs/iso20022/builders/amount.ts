import { keep, roomFor, type Value, values, valueView } from './values.ts'

/** Of the largest safe integer, with a zero before it and a point. */
const BYTES_MAX = 18
const POINT = 0x2e
const ZERO = 0x30
const HUNDRED = 100

/** `00` to `99`, the first digit in the low byte. */
const pairs = Uint16Array.from(
  { length: HUNDRED },
  (_, i) => ZERO + Math.floor(i / 10) + ((ZERO + (i % 10)) << 8),
)

/** A safe integer of cents, not negative, as a decimal with two fraction digits. */
export const amountOf = (amountCents: number): Value => {
  const to = roomFor(BYTES_MAX) + BYTES_MAX
  let at = to - 2
  let pair = amountCents % HUNDRED
  let rest = (amountCents - pair) / HUNDRED
  valueView.setUint16(at, pairs[pair] as number, true)
  values[--at] = POINT
  do {
    pair = rest % HUNDRED
    rest = (rest - pair) / HUNDRED
    at -= 2
    valueView.setUint16(at, pairs[pair] as number, true)
  } while (rest > 0)
  return keep(values[at] === ZERO ? at + 1 : at, to)
}
