const predefined: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

/** The character or text that a reference stands for; the scanner has checked it before. */
const resolve = (_reference: string, name: string): string => {
  if (name.charCodeAt(0) !== 0x23) return predefined[name] as string
  const code =
    name.charCodeAt(1) === 0x78
      ? Number.parseInt(name.slice(2), 16)
      : Number.parseInt(name.slice(1), 10)
  return String.fromCodePoint(code)
}

const references = /&([^;]+);/g

/** Character data: line ends become LF (XML 1.0, 2.11), then references are resolved. */
export const decodeText = (raw: string, withReferences: boolean): string => {
  const lines = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
  return withReferences ? lines.replace(references, resolve) : lines
}

/** An attribute value: literal white space becomes a space (XML 1.0, 3.3.3), then references are resolved. */
export const decodeValue = (raw: string): string =>
  raw.replace(/\r\n|[\t\n\r]/g, ' ').replace(references, resolve)
