const AMPERSAND = 0x26
const LESS = 0x3c
const GREATER = 0x3e
const CARRIAGE_RETURN = 0x0d

const referenceOf = (code: number): string | undefined => {
  switch (code) {
    case AMPERSAND:
      return '&amp;'
    case LESS:
      return '&lt;'
    case GREATER:
      return '&gt;'
    case CARRIAGE_RETURN:
      return '&#xD;'
  }
  return undefined
}

const special = /[&<>\r]/

/** Text as exclusive canonicalisation writes it (Canonical XML 1.0, 2.3). */
export const escaped = (text: string): string =>
  special.test(text)
    ? text.replaceAll(/[&<>\r]/g, (one) => referenceOf(one.charCodeAt(0)) ?? one)
    : text

const SPACE = 0x20
const BYTE_2 = 0x80
const BYTE_3 = 0x800
const FIRST_HIGH_SURROGATE = 0xd800
const FIRST_LOW_SURROGATE = 0xdc00
const LAST_SURROGATE = 0xdfff
const FIRST_NON_CHARACTER = 0xfffe

/** What UTF-8 makes of the characters from U+0080 to U+07FF, a character for each byte. */
const twoBytes = Array.from({ length: BYTE_3 - BYTE_2 }, (_, i) =>
  String.fromCharCode(0xc0 | ((i + BYTE_2) >> 6), 0x80 | (i & 0x3f)),
)

/**
 * Text as it stands in canonical XML, with one character for each byte of UTF-8. Undefined for text that is not
 * well-formed, has control characters, or does not have `min` to `max` characters of Unicode.
 */
export const xmlText = (text: string, min: number, max: number): string | undefined => {
  const units = text.length
  let count = units
  let written = ''
  let from = 0
  for (let i = 0; i < units; i++) {
    const code = text.charCodeAt(i)
    if (code < SPACE) return undefined
    let bytes: string | undefined
    let width = 1
    if (code < BYTE_2) bytes = referenceOf(code)
    else if (code < BYTE_3) bytes = twoBytes[code - BYTE_2]
    else {
      if (code >= FIRST_NON_CHARACTER) return undefined
      if (code >= FIRST_HIGH_SURROGATE && code <= LAST_SURROGATE) {
        const low = text.charCodeAt(i + 1)
        if (code >= FIRST_LOW_SURROGATE) return undefined
        if (!(low >= FIRST_LOW_SURROGATE && low <= LAST_SURROGATE)) return undefined
        const point = text.codePointAt(i) as number
        bytes = String.fromCharCode(
          0xf0 | (point >> 18),
          tail(point >> 12),
          tail(point >> 6),
          tail(point),
        )
        width = 2
        count--
      } else bytes = String.fromCharCode(0xe0 | (code >> 12), tail(code >> 6), tail(code))
    }
    if (bytes === undefined) continue
    written += text.slice(from, i) + bytes
    i += width - 1
    from = i + 1
  }
  if (count < min || count > max) return undefined
  return from === 0 ? text : written + text.slice(from)
}

/** A byte of UTF-8 behind the first. */
const tail = (bits: number): number => 0x80 | (bits & 0x3f)
