import { z } from 'zod'
import { ApiError, httpErrors, invalid, refusedValue, type Violation } from './errors.ts'
import { canonicalJson, isEscaped } from './idempotency/canonical.ts'
import { escapeStep, line, text, violationIn } from './text.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** The text of a body; refuses bytes that are not UTF-8. */
export const textOf = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new ApiError(httpErrors.bad_request, 'The body is not UTF-8.', { cause })
  }
}

/** Bytes from which on the values and members of a body are counted; fewer hold too few to matter. */
export const countedBytesMin = 16_384
/**
 * Values of a large body. The number of its values, not of its bytes, makes a body costly to read: a megabyte of the
 * shortest holds the event loop for a tenth of a second, and no thread could hand them over for less than that.
 */
export const valuesMaxDefault = 20_000

/** Members of one object. A schema looks at each member that it does not know, and no object of ours has so many. */
export const membersMax = 1_000

/**
 * What a JSON text holds too much of, in words: values (an empty object or array counts twice), or members of one
 * object. Any other text may seem to hold too much, too.
 */
const excessIn = (bytes: Uint8Array, valuesMax: number): Violation | undefined => {
  let values = 1
  /** The commas of each open object; an array has a negative number, as its commas do not count. */
  const open: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at]
    if (code === quote) at = closingQuote(bytes, at + 1)
    else if (code === openBracket || code === openBrace) {
      values++
      open.push(code === openBrace ? 0 : Number.NEGATIVE_INFINITY)
    } else if (code === closeBracket || code === closeBrace) open.pop()
    else if (code === comma) {
      values++
      const commas = (open.pop() ?? 0) + 1
      if (commas === membersMax) {
        const message = `holds an object of more than ${membersMax} members`
        return { pointer: '', rule: 'members', message }
      }
      open.push(commas)
    }
    if (values > valuesMax) {
      return { pointer: '', rule: 'values', message: `holds more than ${valuesMax} values` }
    }
  }
  return undefined
}

/** The end of the string that begins there; if it does not end, the end of all bytes. */
const closingQuote = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at++) {
    const code = bytes[at]
    if (code === quote) return at
    if (code === backslash) at++
  }
  return bytes.length
}

/**
 * The JSON value in a body.
 *
 * @param valuesMax - how many values a large body may hold
 * @throws ApiError for bytes that are not JSON, for strings that no field may hold, for a member that is named twice
 *   (readers differ in which of the two they take) or `__proto__`, for a number that would not stay what it is as a double, and for
 *   more values, or members of one object, than are allowed
 */
export const parseJson = (bytes: Uint8Array, valuesMax = valuesMaxDefault): unknown => {
  const excess = bytes.length < countedBytesMin ? undefined : excessIn(bytes, valuesMax)
  if (excess !== undefined) throw invalid([excess], 'The body')
  const text = textOf(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    // The parser's message quotes the input; it stays inside.
    throw new ApiError(httpErrors.bad_request, 'The body is not JSON.', { cause })
  }
  // Neither JSON nor UTF-8 allows these characters literally, so they can only come as an escape.
  const found = violationIn(value, text.includes('\\u'))
  const violation = typeof found === 'number' ? lossIn(text, found) : found
  // These make the body no JSON to us; a schema may allow the other values.
  if (violation?.rule === 'unique' || violation?.rule === 'depth') {
    throw invalid([violation], 'The body')
  }
  if (violation !== undefined) throw refusedValue([violation])
  return value
}

/** Finds what `JSON.parse` dropped: a member by the same name, digits of a number. */
const lossIn = (text: string, members: number): Violation | undefined => {
  let named = 0
  let isExact = true
  scan(text, (code, start, end) => {
    if (code === colon) named++
    else if (code === number && isExact) isExact = isExactNumber(text, start, end)
  })
  return named === members && isExact ? undefined : firstLoss(text)
}

/** An object in a JSON text names a member twice. */
export class RepeatedMemberError extends SyntaxError {
  override readonly name = 'RepeatedMemberError'
  /** The member. */
  readonly pointer: string

  constructor({ pointer, message }: Violation) {
    super(`${pointer} ${message}`)
    this.pointer = pointer
  }
}

/**
 * The JSON value of a text that is no body of ours: a file, a document within another.
 *
 * @throws SyntaxError for what is no JSON, and for a member that is named twice: `JSON.parse` silently takes the last
 */
export const jsonOnce = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  const repeated = firstLoss(text, { areNumbersExact: false })
  if (repeated !== undefined) throw new RepeatedMemberError(repeated)
  return value
}

/** A double keeps so many digits, whatever the exponent between the smallest and the largest. */
const exactCharactersMax = 15
const [smallest, largest] = [1e-290, 1e290]

const isExactNumber = (text: string, start: number, end: number): boolean => {
  const literal = text.slice(start, end)
  if (literal.length <= exactCharactersMax) {
    const size = Math.abs(Number(literal))
    if ((size > smallest && size < largest) || !/e/i.test(literal)) return true
  }
  return canonicalJson(literal) === canonicalJson(String(Number(literal)))
}

type Container = { names: Set<string> | undefined; step: string }

const firstLoss = (text: string, { areNumbersExact = true } = {}): Violation | undefined => {
  const open: Container[] = []
  let isName = false
  let found: Violation | undefined
  const pointer = () => open.map(({ step }) => `/${escapeStep(step)}`).join('')
  scan(text, (code, start, end) => {
    const within = open.at(-1)
    if (found !== undefined) return
    if (code === openBrace) open.push({ names: new Set(), step: '' })
    else if (code === openBracket) open.push({ names: undefined, step: '0' })
    else if (code === closeBrace || code === closeBracket) open.pop()
    else if (code === number && areNumbersExact && !isExactNumber(text, start, end)) {
      const message = 'has more digits than are kept'
      found = { pointer: pointer(), rule: 'exact', message }
    } else if (code === quote && isName && within?.names !== undefined) {
      within.step = JSON.parse(text.slice(start, end)) as string
      if (within.names.has(within.step)) {
        found = { pointer: pointer(), rule: 'unique', message: 'is given more than once' }
      }
      within.names.add(within.step)
    } else if (code === comma && within?.names === undefined && within !== undefined) {
      within.step = String(Number(within.step) + 1)
    }
    isName = code === openBrace || (code === comma && open.at(-1)?.names !== undefined)
  })
  return found
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
/** Stands for all that a number begins with. */
const number = 0x30

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Tells of the tokens of a text that is known to be JSON, except `true`, `false` and `null`. */
const scan = (text: string, tell: (code: number, start: number, end: number) => void): void => {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = stringEnd(text, at + 1)
      tell(code, at, end)
      at = end - 1
    } else if (isDigit(code) || code === 0x2d) {
      const end = numberEnd(text, at + 1)
      tell(number, at, end)
      at = end - 1
    } else if (isPunctuation(code)) tell(code, at, at + 1)
  }
}

const isPunctuation = (code: number): boolean =>
  code === comma ||
  code === colon ||
  code === openBrace ||
  code === closeBrace ||
  code === openBracket ||
  code === closeBracket

const stringEnd = (text: string, from: number): number => {
  let end = text.indexOf('"', from)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

const numberEnd = (text: string, from: number): number => {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    // Digits, and . e E + -
    const isPart = isDigit(code) || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b
    if (!isPart && code !== 0x2d) return at
    at++
  }
}

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue }

/**
 * Any JSON value that the database can store, see `parseJson`. The OpenAPI document says
 * "anything", because generators of clients leave out whatever holds a type that refers to itself.
 */
export const jsonValue = z.unknown().meta({
  description: 'Any JSON value',
}) as z.ZodType<unknown> as z.ZodType<JsonValue>

/** An object of any members. The generator of the document tells nothing of their names, so we do. */
export const jsonMembers = (nameCharactersMax: number) =>
  z.record(text(nameCharactersMax), jsonValue).meta({
    propertyNames: { minLength: 1, maxLength: nameCharactersMax, pattern: line.source },
  })
