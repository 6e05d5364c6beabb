import { asciiMax, classes } from './characters.ts'
import { keep, roomFor, type Value, values, valueView } from './values.ts'
import { wordOf } from './words.ts'

const references = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' } as const

const special = /[&<>\r]/

/** Text as exclusive canonicalisation writes it (Canonical XML 1.0, 2.3). */
export const escaped = (text: string): string =>
  special.test(text)
    ? text.replaceAll(/[&<>\r]/g, (one) => references[one as keyof typeof references])
    : text

const space = 0x20
const bytes3 = 0x800
const highSurrogate = 0xd800
const lowSurrogate = 0xdc00
const behindSurrogates = 0xe000
const nonCharacter = 0xfffe

/** Of one unit of UTF-16: `&amp;`. */
const unitBytesMax = 5
/** What stands for a character, as one word, and its length. */
const referenceWords = new Float64Array(asciiMax + 1)
const referenceLengths = new Uint8Array(asciiMax + 1)
for (const [character, reference] of Object.entries(references)) {
  const code = character.charCodeAt(0)
  referenceWords[code] = wordOf(reference)
  referenceLengths[code] = reference.length
}
/** Characters of the longest text that a message has. */
export const textCharactersMax = 1_000

/**
 * Text as it stands in canonical XML. Undefined for text that is not well-formed, has control characters, or does
 * not have `min` to `max` characters of Unicode.
 */
export const keepText = (text: string, min: number, max: number): Value | undefined => {
  const units = text.length
  if (units > 2 * Math.min(max, textCharactersMax)) return undefined
  const from = roomFor(units * unitBytesMax)
  let characters = units
  let at = from
  for (let i = 0; i < units; i++) {
    const code = text.charCodeAt(i)
    if (code <= asciiMax) {
      if (classes[code] !== 0) values[at++] = code
      else if (code < space) return undefined
      else {
        valueView.setFloat64(at, referenceWords[code] as number, true)
        at += referenceLengths[code] as number
      }
    } else if (code < bytes3) {
      values[at++] = 0xc0 | (code >> 6)
      values[at++] = 0x80 | (code & 0x3f)
    } else if (code < highSurrogate || (code >= behindSurrogates && code < nonCharacter)) {
      values[at++] = 0xe0 | (code >> 12)
      values[at++] = 0x80 | ((code >> 6) & 0x3f)
      values[at++] = 0x80 | (code & 0x3f)
    } else {
      const point = text.codePointAt(i++) ?? 0
      // Half a pair, or U+FFFE or U+FFFF: there is no character beyond.
      if (code >= lowSurrogate || point <= 0xffff) return undefined
      values[at++] = 0xf0 | (point >> 18)
      values[at++] = 0x80 | ((point >> 12) & 0x3f)
      values[at++] = 0x80 | ((point >> 6) & 0x3f)
      values[at++] = 0x80 | (point & 0x3f)
      characters--
    }
  }
  return characters < min || characters > max ? undefined : keep(from, at)
}
