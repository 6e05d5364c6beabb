import type { Primitive } from './builtin.ts'

/*
 * Checks the bytes of values: true means surely valid, in the plainest spelling of each type. A value spelled in
 * another way (signs, time zones, white space) may be valid too.
 */

const zero = 0x30
const dash = 0x2d
const fullStop = 0x2e
const colon = 0x3a

/** One bit for each kind of text that a byte may stand in. */
const digit = 1
const nameStart = 2
const name = 4
const base64 = 8
const uri = 16

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'

const usesOf = new Uint8Array(256)
for (const [use, characters] of [
  [digit, digits],
  [nameStart, letters],
  [name, `${letters}${digits}._-`],
  [base64, `${letters}${digits}+/`],
  [uri, `${letters}${digits}-._~:/?#[]@!$&'()*+,;=`],
] as const) {
  for (let i = 0; i < characters.length; i++) {
    const code = characters.charCodeAt(i)
    usesOf[code] = (usesOf[code] as number) | use
  }
}

const isAll = (use: number, bytes: Uint8Array, start: number, end: number): boolean => {
  let all = use
  let i = start
  // Four at a time: a signature has hundreds, and the loop would cost more than the look-ups.
  for (const last = end - 3; i < last; i += 4) {
    all &=
      (usesOf[bytes[i] as number] as number) &
      (usesOf[bytes[i + 1] as number] as number) &
      (usesOf[bytes[i + 2] as number] as number) &
      (usesOf[bytes[i + 3] as number] as number)
  }
  for (; i < end; i++) all &= usesOf[bytes[i] as number] as number
  return all !== 0
}

const isDigits = (bytes: Uint8Array, start: number, end: number): boolean =>
  end > start && isAll(digit, bytes, start, end)

/** Digits, or digits around one dot. */
const isPlainDecimal = (bytes: Uint8Array, start: number, end: number): boolean => {
  const dot = dotOf(bytes, start, end)
  return isDigits(bytes, start, dot) && (dot === end || isDigits(bytes, dot + 1, end))
}

/** The place of the dot in a plain decimal; its end if it has none. */
export const dotOf = (bytes: Uint8Array, start: number, end: number): number => {
  let dot = start
  while (dot < end && bytes[dot] !== fullStop) dot++
  return dot
}

const isName = (bytes: Uint8Array, start: number, end: number): boolean =>
  end > start && isAll(nameStart, bytes, start, start + 1) && isAll(name, bytes, start, end)

/** Groups of four without white space; the unused bits before the padding are zero. */
const isDenseBase64 = (bytes: Uint8Array, start: number, end: number): boolean => {
  if (((end - start) & 3) !== 0) return false
  let dense = end
  if (end > start && bytes[end - 1] === 0x3d) {
    dense = end - (bytes[end - 2] === 0x3d ? 2 : 1)
    const spare = end - dense === 2 ? 0x0f : 0x03
    if ((sextetOf(bytes[dense - 1] as number) & spare) !== 0) return false
  }
  return isAll(base64, bytes, start, dense)
}

const sextetOf = (byte: number): number => {
  if (byte >= 0x61) return byte - 0x61 + 26
  if (byte >= 0x41) return byte - 0x41
  if (byte >= zero) return byte - zero + 52
  return byte === 0x2b ? 62 : 63
}

const pair = (bytes: Uint8Array, at: number): number => {
  const tens = (bytes[at] as number) - zero
  const units = (bytes[at + 1] as number) - zero
  return tens >= 0 && tens <= 9 && units >= 0 && units <= 9 ? tens * 10 + units : -1
}

/** `YYYY-MM-DD` with a day that every month has. */
const isPlainDate = (bytes: Uint8Array, start: number): boolean => {
  if (bytes[start + 4] !== dash || bytes[start + 7] !== dash) return false
  const month = pair(bytes, start + 5)
  const day = pair(bytes, start + 8)
  return (
    pair(bytes, start) > 0 &&
    pair(bytes, start + 2) >= 0 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 28
  )
}

/** `hh:mm:ss.fffZ` with any number of f from one on. */
const isPlainTime = (bytes: Uint8Array, start: number, end: number): boolean => {
  if (end - start < 11 || bytes[end - 1] !== 0x5a) return false
  if (bytes[start + 2] !== colon || bytes[start + 5] !== colon || bytes[start + 8] !== fullStop) {
    return false
  }
  const hour = pair(bytes, start)
  const minute = pair(bytes, start + 3)
  const second = pair(bytes, start + 6)
  return (
    hour >= 0 &&
    hour <= 23 &&
    minute >= 0 &&
    minute <= 59 &&
    second >= 0 &&
    second <= 59 &&
    isDigits(bytes, start + 9, end - 1)
  )
}

/** Which function above checks a primitive type. Numbers, because a switch over strings is slow. */
export const forms = {
  string: 0,
  decimal: 1,
  integer: 2,
  dateTime: 3,
  date: 4,
  time: 5,
  boolean: 6,
  anyURI: 7,
  base64Binary: 8,
  name: 9,
} as const satisfies Readonly<Record<Primitive, number>>

/** Whether the bytes surely have the form, without white space. */
export const isPlain = (form: number, bytes: Uint8Array, start: number, end: number): boolean => {
  switch (form) {
    case 0:
      return true
    case 1:
      return isPlainDecimal(bytes, start, end)
    case 2:
      return isDigits(bytes, start, end)
    case 3:
      return (
        end - start > 11 &&
        bytes[start + 10] === 0x54 &&
        isPlainDate(bytes, start) &&
        isPlainTime(bytes, start + 11, end)
      )
    case 4:
      return end - start === 10 && isPlainDate(bytes, start)
    case 5:
      return isPlainTime(bytes, start, end)
    case 6:
      return isBoolean(bytes, start, end)
    case 7:
      return isAll(uri, bytes, start, end)
    case 8:
      return isDenseBase64(bytes, start, end)
    default:
      return isName(bytes, start, end)
  }
}

const isBoolean = (bytes: Uint8Array, start: number, end: number): boolean =>
  end - start === 1
    ? bytes[start] === zero || bytes[start] === zero + 1
    : isWord('true', bytes, start, end) || isWord('false', bytes, start, end)

const isWord = (word: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (end - start !== word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word.charCodeAt(i)) return false
  return true
}
