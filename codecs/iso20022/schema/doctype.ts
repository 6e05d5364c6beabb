import { SchemaError } from './model.ts'

/** Entities that one document type declaration may declare, and characters of the value of one. */
export const entitiesMax = 32
export const entityCharsMax = 256

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Matches one thing that may stand before it; a pattern for all of them would try every combination. */
const before = /\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->/y
const opening = /<!DOCTYPE\b/y
/** The pieces of an internal subset: texts that may hide brackets, and everything else. */
const part = /"[^"]*"|'[^']*'|<!--(?:[\s\S]*?-->)?|[[\]>]|[^"'[\]><]+|</g
const declaration = /<!ENTITY\s+([A-Za-z_][\w.-]*)\s+(?:"([^"]*)"|'([^']*)')\s*>/g

/**
 * A schema document without its document type declaration, which the schema of W3C for signatures has: in its place
 * are spaces, and its own general entities stand for their texts. We ignore the rest of it, and fetch nothing.
 * Messages never have one.
 *
 * @throws SchemaError for a declaration without end, or with more or longer entities than we take
 */
export const withoutDoctype = (file: string, bytes: Uint8Array): Uint8Array => {
  // The whole is decoded only where there is one.
  const from = beginningOf(decoder.decode(bytes.subarray(0, 65_536)))
  if (from === undefined) return bytes
  const text = decoder.decode(bytes)
  const { to, said } = readFrom(text, from, file)
  const entities = [...said.matchAll(declaration)]
  if (entities.length > entitiesMax) {
    throw new SchemaError(file, 0, `more than ${entitiesMax} entities are declared`)
  }
  let rest = text.slice(to)
  for (const [, name = '', quoted, single] of entities) {
    const value = quoted ?? single ?? ''
    if (value.length > entityCharsMax || /[&%<]/.test(value)) {
      throw new SchemaError(file, 0, `entity ${name} is more than a short text`)
    }
    rest = rest.replaceAll(`&${name};`, () => value)
  }
  const blank = text.slice(from, to).replace(/[^\r\n]/g, ' ')
  return encoder.encode(text.slice(0, from) + blank + rest)
}

/** Where the declaration begins; undefined if there is none before the first element. */
const beginningOf = (text: string): number | undefined => {
  for (let at = 0; ; at = before.lastIndex) {
    opening.lastIndex = at
    if (opening.test(text)) return at
    before.lastIndex = at
    if (!before.test(text)) return undefined
  }
}

/** Where the declaration ends, and what it says, without comments. */
const readFrom = (
  text: string,
  from: number,
  file: string,
): { readonly to: number; readonly said: string } => {
  let depth = 0
  let said = ''
  part.lastIndex = from + '<!DOCTYPE'.length
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [mark] = found
    // Behind a comment without end nothing ends.
    if (mark === '<!--') break
    if (!mark.startsWith('<!--')) said += mark
    if (mark === '[') depth++
    else if (mark === ']') depth--
    else if (mark === '>' && depth === 0) return { to: part.lastIndex, said }
  }
  throw new SchemaError(file, 0, 'its document type declaration does not end')
}
