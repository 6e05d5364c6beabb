/** Character classes of ISO 8583 as bits: a byte of ASCII or Latin-1 belongs to several. */
export const digit = 1
const alphanumeric = 2
const alphanumericBlank = 4
const printable = 8
const track = 16
const letter = 32

const buildClasses = (): Uint8Array => {
  const classes = new Uint8Array(256)
  for (let code = 0; code < 256; code++) {
    const isDigit = code >= 0x30 && code <= 0x39
    const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
    // Latin-1 letters occur in merchant names; the range between holds control characters.
    const isPrintable = (code >= 0x20 && code <= 0x7e) || code >= 0xa0
    // Tracks are four-bit characters, 0 to ?; peers also write the separator as D.
    const isTrack = (code >= 0x30 && code <= 0x3f) || code === 0x44 || code === 0x64
    classes[code] =
      (isDigit ? digit : 0) |
      (isDigit || isLetter ? alphanumeric : 0) |
      (isDigit || isLetter || code === 0x20 ? alphanumericBlank : 0) |
      (isPrintable ? printable : 0) |
      (isTrack ? track : 0) |
      (isLetter || code === 0x20 ? letter : 0)
  }
  return classes
}

/** Class bits of each character code up to 255. */
export const classOf: Uint8Array = buildClasses()

/** The class that every character of a field of this type must have. */
export const classOfType = {
  n: digit,
  a: letter,
  an: alphanumeric,
  anp: alphanumericBlank,
  ans: printable,
  z: track,
  'x+n': digit,
  b: 0,
} as const

/** Whether all bytes from `start` to `end` have the class. Four at a time halve the cost. */
export const allOf = (
  mask: number,
  classes: Uint8Array,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean => {
  let common = mask
  let at = start
  for (; at + 3 < end; at += 4) {
    common &=
      classes[bytes[at]!]! &
      classes[bytes[at + 1]!]! &
      classes[bytes[at + 2]!]! &
      classes[bytes[at + 3]!]!
  }
  for (; at < end; at++) common &= classes[bytes[at]!]!
  return common !== 0 || start === end
}

/** IBM code page 037 to Latin-1, byte by byte. */
const codePage037 = [
  '000102039c09867f978d8e0b0c0d0e0f101112139d8508871819928f1c1d1e1f',
  '80818283840a171b88898a8b8c050607909116939495960498999a9b14159e1a',
  '20a0e2e4e0e1e3e5e7f1a22e3c282b7c26e9eaebe8edeeefecdf21242a293bac',
  '2d2fc2c4c0c1c3c5c7d1a62c255f3e3ff8c9cacbc8cdcecfcc603a2340273d22',
  'd8616263646566676869abbbf0fdfeb1b06a6b6c6d6e6f707172aabae6b8c6a4',
  'b57e737475767778797aa1bfd0dddeae5ea3a5b7a9a7b6bcbdbe5b5dafa8b4d7',
  '7b414243444546474849adf4f6f2f3f57d4a4b4c4d4e4f505152b9fbfcf9faff',
  '5cf7535455565758595ab2d4d6d2d3d530313233343536373839b3dbdcd9da9f',
].join('')

export type CodePage = {
  /** EBCDIC byte to Latin-1 code. */
  readonly decode: Uint8Array
  /** Latin-1 code to EBCDIC byte. */
  readonly encode: Uint8Array
  /** Class bits of the character that a byte stands for. */
  readonly classes: Uint8Array
}

/** Code page 1047 differs from 037 in six places: brackets, caret, not sign, Y acute and diaeresis. */
const cp1047Differences = [
  [0x5f, 0x5e],
  [0xad, 0x5b],
  [0xb0, 0xac],
  [0xba, 0xdd],
  [0xbb, 0xa8],
  [0xbd, 0x5d],
] as const

const codePage = (differences: readonly (readonly [number, number])[]): CodePage => {
  const decode = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) {
    decode[byte] = Number.parseInt(codePage037.slice(byte * 2, byte * 2 + 2), 16)
  }
  for (const [byte, code] of differences) decode[byte] = code
  const encode = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) encode[decode[byte]!] = byte
  return { decode, encode, classes: decode.map((code) => classOf[code]!) }
}

export const cp037: CodePage = codePage([])
export const cp1047: CodePage = codePage(cp1047Differences)

const identity = Uint8Array.from({ length: 256 }, (_, code) => code)
/** ASCII and Latin-1: bytes are codes. */
export const latin1: CodePage = { decode: identity, encode: identity, classes: classOf }

const buildHex = (): Uint8Array => {
  const values = new Uint8Array(256).fill(255)
  for (let digit = 0; digit < 16; digit++) {
    const text = digit.toString(16)
    values[text.charCodeAt(0)] = digit
    values[text.toUpperCase().charCodeAt(0)] = digit
  }
  return values
}

/** Value of a hexadecimal digit by character code; 255 for anything else. */
export const hexValue: Uint8Array = buildHex()

export const hexDigits = '0123456789ABCDEF'

export const toHex = (bytes: Uint8Array): string => {
  let text = ''
  for (const byte of bytes) text += hexDigits.charAt(byte >> 4) + hexDigits.charAt(byte & 15)
  return text
}

/** Undefined for what is not hexadecimal digits of whole bytes. */
export const bytesOfHex = (text: string): Uint8Array | undefined => {
  if (text.length % 2 === 1) return undefined
  const bytes = new Uint8Array(text.length / 2)
  for (let at = 0; at < bytes.length; at++) {
    const high = hexValue[text.charCodeAt(at * 2)] ?? 255
    const low = hexValue[text.charCodeAt(at * 2 + 1)] ?? 255
    if (high > 15 || low > 15) return undefined
    bytes[at] = (high << 4) | low
  }
  return bytes
}
