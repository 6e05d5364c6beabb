const predefined: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

/** The character of a reference, given what stands between '&' and ';'. The scanner has checked it. */
const characterOf = (name: string): string => {
  if (name.charCodeAt(0) !== 0x23) return predefined[name] as string
  const isHex = name.charCodeAt(1) === 0x78
  return String.fromCodePoint(Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10))
}

const resolveReferences = (text: string): string => {
  let at = text.indexOf('&')
  if (at === -1) return text
  let resolved = ''
  let from = 0
  do {
    const end = text.indexOf(';', at)
    resolved += text.slice(from, at) + characterOf(text.slice(at + 1, end))
    from = end + 1
    at = text.indexOf('&', from)
  } while (at !== -1)
  return resolved + text.slice(from)
}

/** Character data: line ends become LF (XML 1.0, 2.11), then references are resolved. */
export const decodeText = (raw: string, withReferences: boolean): string => {
  const lines = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
  return withReferences ? resolveReferences(lines) : lines
}

/** An attribute value: literal white space becomes a space (XML 1.0, 3.3.3), then references are resolved. */
export const decodeValue = (raw: string): string =>
  resolveReferences(raw.replace(/\r\n|[\t\n\r]/g, ' '))
