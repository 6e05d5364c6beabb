/** What a byte may be, one bit each. */
const nameStart = 1
const name = 2
const space = 4
const textStop = 8

/** Bytes of 0x80 and above may be in names; names that have them are checked as text. */
const classOf: Uint8Array = (() => {
  const table = new Uint8Array(256)
  const set = (from: number, to: number, bits: number): void => {
    for (let byte = from; byte <= to; byte++) table[byte] = (table[byte] ?? 0) | bits
  }
  set(0x41, 0x5a, nameStart | name)
  set(0x61, 0x7a, nameStart | name)
  set(0x5f, 0x5f, nameStart | name)
  set(0x80, 0xff, nameStart | name)
  set(0x30, 0x39, name)
  set(0x2d, 0x2e, name)
  for (const byte of [0x20, 0x09, 0x0a, 0x0d]) set(byte, byte, space)
  set(0x00, 0x08, textStop)
  set(0x0b, 0x0c, textStop)
  set(0x0e, 0x1f, textStop)
  set(0x0d, 0x0d, textStop)
  for (const char of '<&') set(char.charCodeAt(0), char.charCodeAt(0), textStop)
  set(0x3e, 0x3e, textStop)
  return table
})()

const has = (byte: number | undefined, bit: number): boolean =>
  ((classOf[byte as number] as number) & bit) !== 0

export const startsName = (byte: number | undefined): boolean => has(byte, nameStart)
export const isInName = (byte: number | undefined): boolean => has(byte, name)
export const isSpace = (byte: number | undefined): boolean => has(byte, space)
/** Whether plain character data ends at this byte. */
export const stopsText = (byte: number | undefined): boolean => has(byte, textStop)

const startRanges =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'

/** Opens a CDATA section (XML 1.0, production 19). */
export const cdataOpen = new TextEncoder().encode('<![CDATA[')

/** NCName (Namespaces in XML 1.0, production 4). */
export const ncNamePattern = new RegExp(
  `^[${startRanges}][${startRanges}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}]*$`,
  'u',
)

/** Char (XML 1.0, production 2). */
export const isChar = (code: number): boolean =>
  code >= 0x20
    ? code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
    : code === 0x09 || code === 0x0a || code === 0x0d
