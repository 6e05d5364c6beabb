/**
 * The text without the given characters at both ends. A regular expression that ends in such a run would begin anew at
 * each of them.
 *
 * @example trimmed('\t a b ', ' \t') // 'a b'
 */
export const trimmed = (text: string, characters: string): string => {
  let start = 0
  let end = text.length
  while (start < end && characters.includes(text.charAt(start))) start++
  while (end > start && characters.includes(text.charAt(end - 1))) end--
  return text.slice(start, end)
}
