const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws a TypeError when the bytes are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes)

// The checks below read bytes instead of strings, so that slices of a string stay lazy until they are used.

/** Counts the bytes of UTF-8 that begin a character. */
export const countCharacters = (bytes: Uint8Array, start: number, end: number): number => {
  let count = 0
  for (let i = start; i < end; i++) if ((bytes[i]! & 0xc0) !== 0x80) count++
  return count
}

/** UTF-8 without C0 and C1 control characters and DEL. */
export const isPrintable = (bytes: Uint8Array, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) {
    const code = bytes[i]!
    if (code < 0x20 || code === 0x7f) return false
    if (code === 0xc2 && bytes[i + 1]! < 0xa0) return false
  }
  return true
}

export const isDigits = (bytes: Uint8Array, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) if ((bytes[i]! - 48) >>> 0 > 9) return false
  return end > start
}

export const isAlphanumeric = (bytes: Uint8Array, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) {
    const code = bytes[i]!
    const lower = code | 0x20
    if ((code - 48) >>> 0 > 9 && (lower < 97 || lower > 122)) return false
  }
  return end > start
}

/**
 * `10`, `10.5` or `10.50`: digits, then at most a point and one or two decimals.
 * EMV also allows a bare trailing point, which no Pix producer writes.
 */
export const isAmount = (bytes: Uint8Array, start: number, end: number): boolean => {
  let point = start
  while (point < end && bytes[point] !== 0x2e) point++
  if (!isDigits(bytes, start, point)) return false
  return point === end || (end - point <= 3 && isDigits(bytes, point + 1, end))
}

/** A payload address as a code holds it: host, optional port, path; visible ASCII, no scheme. */
export const isAddress = (bytes: Uint8Array, start: number, end: number): boolean => {
  let slash = -1
  for (let i = start; i < end; i++) {
    const code = bytes[i]!
    if (code <= 0x20 || code >= 0x7f) return false
    if (code === 0x2f && slash < 0) slash = i
  }
  return (
    slash > start && slash < end - 1 && !(bytes[slash - 1] === 0x3a && bytes[slash + 1] === 0x2f)
  )
}

/** Letters of Latin alphabets that are no letter with an accent, and signs, by what is usually written for them in ASCII. */
const written: ReadonlyMap<string, string> = new Map(
  [
    'Æ:AE æ:ae Œ:OE œ:oe ß:ss ẞ:SS Þ:Th þ:th Ð:D ð:d Đ:D đ:d Ħ:H ħ:h ı:i ĸ:k Ł:L ł:l Ŋ:N ŋ:n Ø:O ø:o Ŧ:T ŧ:t',
    `‘:' ’:' ‚:' ‛:' ‹:' ›:' ′:' ʼ:' “:" ”:" „:" ‟:" «:" »:" ‒:- –:- —:- ―:- −:-`,
    '⁄:/ ×:x ·:. •:* °:o ¡:! ¿:? ©:(C) ®:(R) €:EUR £:GBP',
  ]
    .join(' ')
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(2)]),
)

/** An accent that stands alone is typed for an apostrophe; decomposed, it would be a blank. */
const acute = /´/g
/** Accents, and characters that are not seen, such as a soft hyphen. */
const unseen = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu
const others = /[^\x20-\x7e]/gu

const folded = (text: string): string =>
  text
    .replace(acute, "'")
    .normalize('NFKD')
    .replace(unseen, '')
    .replace(others, (other) => written.get(other) ?? other)

/**
 * The text in printable ASCII: removes accents, writes other Latin letters and signs as is usual (ł as l, € as EUR), and
 * drops all other characters that are not ASCII: {@link hasAsciiForm} tells whether there are any.
 *
 * @example toAscii('São João & Cª') // 'Sao Joao & Ca'
 */
export const toAscii = (text: string): string => folded(text).replace(others, '')

/** Whether {@link toAscii} writes every character that can be seen. */
export const hasAsciiForm = (text: string): boolean => folded(text).search(others) === -1
