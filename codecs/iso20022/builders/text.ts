const references = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' } as const

const special = /[&<>\r]/

/** Text as exclusive canonicalisation writes it (Canonical XML 1.0, 2.3). */
export const escaped = (text: string): string =>
  special.test(text)
    ? text.replaceAll(/[&<>\r]/g, (one) => references[one as keyof typeof references])
    : text

const SPACE = 0x20
const AMPERSAND = 0x26
const LESS = 0x3c
const GREATER = 0x3e
const BYTES_2 = 0x80
const BYTES_3 = 0x800
const HIGH_SURROGATE = 0xd800
const LOW_SURROGATE = 0xdc00
const BEHIND_SURROGATES = 0xe000
const NON_CHARACTER = 0xfffe

/** Of one unit of UTF-16: `&amp;`. */
const UNIT_BYTES_MAX = 5
/** Characters of the longest text that a message has. */
export const textCharactersMax = 1_000

/** Bun makes a string of bytes with this; TypeScript does not know it. */
type Room = Buffer & { latin1Slice(start: number, end: number): string }

const room = Buffer.alloc(2 * textCharactersMax * UNIT_BYTES_MAX) as Room

const write = (text: string, from: number): number => {
  for (let i = 0; i < text.length; i++) room[from + i] = text.charCodeAt(i)
  return from + text.length
}

/**
 * Text as it stands in canonical XML, with one character for each byte of UTF-8. Undefined for text that is not
 * well-formed, has control characters, or does not have `min` to `max` characters of Unicode.
 */
export const xmlText = (text: string, min: number, max: number): string | undefined => {
  const units = text.length
  if (units > 2 * Math.min(max, textCharactersMax)) return undefined
  let characters = units
  let at = 0
  for (let i = 0; i < units; i++) {
    const code = text.charCodeAt(i)
    if (code < BYTES_2) {
      if (code < SPACE) return undefined
      if (code === AMPERSAND) at = write(references['&'], at)
      else if (code === LESS) at = write(references['<'], at)
      else if (code === GREATER) at = write(references['>'], at)
      else room[at++] = code
    } else if (code < BYTES_3) {
      room[at++] = 0xc0 | (code >> 6)
      room[at++] = 0x80 | (code & 0x3f)
    } else if (code < HIGH_SURROGATE || (code >= BEHIND_SURROGATES && code < NON_CHARACTER)) {
      room[at++] = 0xe0 | (code >> 12)
      room[at++] = 0x80 | ((code >> 6) & 0x3f)
      room[at++] = 0x80 | (code & 0x3f)
    } else {
      const point = text.codePointAt(i++) ?? 0
      // Half a pair, or U+FFFE or U+FFFF: there is no character beyond.
      if (code >= LOW_SURROGATE || point <= 0xffff) return undefined
      room[at++] = 0xf0 | (point >> 18)
      room[at++] = 0x80 | ((point >> 12) & 0x3f)
      room[at++] = 0x80 | ((point >> 6) & 0x3f)
      room[at++] = 0x80 | (point & 0x3f)
      characters--
    }
  }
  return characters < min || characters > max ? undefined : room.latin1Slice(0, at)
}
