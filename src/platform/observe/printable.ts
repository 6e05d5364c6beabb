// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const steering = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Others' text may hold characters that would steer the terminal, or turn round what stands beside them. */
export const printable = (text: string): string => text.replace(steering, escaped)

/** The same, line by line, with tabs. JSON stays the same JSON. */
export const printableLines = (text: string): string =>
  text.replace(steering, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
