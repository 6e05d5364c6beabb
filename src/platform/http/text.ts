import { z } from 'zod'
import { firstCharacters } from '../runtime/index.ts'
import { invalid, type Violation } from './errors.ts'

/*
 * Strings that come from outside. No field may hold U+0000 or lone surrogates, because neither the database nor UTF-8
 * can: we refuse them in bodies, queries and paths where we read them, whatever their schema. Schemas use the types
 * below for the rest: we publish and enforce the same bounds.
 */

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what is refused
/** Has no control characters (C0, DEL, C1), and neither of the two in the first plane that XML lacks. */
export const line = /^[^\u0000-\u001f\u007f-\u009f\ufffe\uffff]*$/
/** The same, but allows tabs and ends of lines. */
const lines = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]*$/
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what is refused

/**
 * Text of a field.
 *
 * @param charactersMax in Unicode code points, each of at most four bytes
 * @param form `isMultiline` for the few fields that are documented to take line ends; `charactersMin` is 1 by default
 */
export const text = (
  charactersMax: number,
  { isMultiline = false, charactersMin = 1 }: TextForm = {},
) =>
  z
    .string()
    .regex(
      isMultiline ? lines : line,
      `must be text without control characters${isMultiline ? ' but tabs and line ends' : ''}`,
    )
    .refine((value) => value.isWellFormed(), {
      error: 'must not hold half a surrogate pair',
      params: { rule: 'text', isPublished: true },
    })
    .refine((value) => isWithin(value, charactersMin, charactersMax), {
      error: `must have ${charactersMin} to ${charactersMax} characters`,
      params: { rule: 'length', isPublished: true },
    })
    .meta({ minLength: charactersMin, maxLength: charactersMax })

type TextForm = { readonly isMultiline?: boolean; readonly charactersMin?: number }

const isWithin = (value: string, min: number, max: number): boolean => {
  // A code point takes one or two units.
  if (value.length < min || value.length > 2 * max) return false
  if (value.length <= max && min < 2) return true
  const characters = [...value].length
  return characters >= min && characters <= max
}

/** An id in a path. */
export const id = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be an id, of letters, digits, _ and -')

/** The parameters of a path with one id. */
export const idParams = z.object({ id })

const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')

/** A time (RFC 3339) that the database can store; if its offset moves it out of these years, it becomes their end. */
export const instant = z.iso
  .datetime({ offset: true })
  .regex(/^(?!0000)/, 'must be of the years 0001 to 9999')
  .transform((value) => new Date(Math.min(latestMs, Math.max(earliestMs, Date.parse(value)))))
  .meta({ format: 'date-time' })

/** The trace that an answer names. */
export const traceId = z
  .string()
  .nullable()
  .describe('Of the trace that it belongs to (W3C Trace Context); null where nothing was traced')

/** A whole number in a query, where every value is text. */
export const whole = (min: number, max: number, missing: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .default(missing)
    .meta({ type: 'integer', minimum: min, maximum: max, default: missing, pattern: undefined })

const depthMax = 64
const nameLengthShown = 64

/** RFC 6901 section 3. */
export const escapeStep = (step: string): string =>
  firstCharacters(step, nameLengthShown).replaceAll('~', '~0').replaceAll('/', '~1')

/**
 * Looks for what no JSON body may hold: endless nesting, U+0000, lone surrogates, and a member `__proto__`, which code
 * that copies members one by one mistakes for something else, and loses.
 *
 * @param hasEscapes whether the strings are worth a look
 * @returns how many members all objects have together, where there is no violation
 */
export const violationIn = (root: unknown, hasEscapes: boolean): Violation | number => {
  const members = membersOf(root, hasEscapes, 0)
  if (members !== harmful) return members
  return findViolation({ value: root, name: '', parent: undefined, depth: 0 }) ?? 0
}

const harmful = -1
const lostName = '__proto__'

/** Nearly every body is harmless: this walk makes no object, and its recursion ends at `depthMax`. */
const membersOf = (value: unknown, hasEscapes: boolean, depth: number): number => {
  if (typeof value === 'string') return !hasEscapes || isStorable(value) ? 0 : harmful
  if (typeof value !== 'object' || value === null) return 0
  if (depth === depthMax) return harmful
  let members = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      const within = membersOf(item, hasEscapes, depth + 1)
      if (within === harmful) return harmful
      members += within
    }
    return members
  }
  for (const name in value) {
    if ((hasEscapes && !isStorable(name)) || name === lostName) return harmful
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const within = membersOf(member, hasEscapes, depth + 1)
    if (within === harmful) return harmful
    members += within + 1
  }
  return members
}

/** One value within another, and its path. */
type Node = {
  readonly value: unknown
  readonly name: string
  readonly parent: Node | undefined
  readonly depth: number
}

/** The first violation, depth first; its recursion ends at `depthMax`. */
const findViolation = (node: Node): Violation | undefined => {
  const { value, depth } = node
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : unstorable(pointerOf(node), 'holds')
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === depthMax) {
    const message = `is nested deeper than ${depthMax} levels`
    return { pointer: pointerOf(node), rule: 'depth', message }
  }
  for (const [name, within] of Object.entries(value)) {
    if (!isStorable(name)) return unstorable(pointerOf(node), 'has a name with')
    const member = { value: within, name, parent: node, depth: depth + 1 }
    if (name === lostName) {
      return { pointer: pointerOf(member), rule: 'name', message: 'must not be named __proto__' }
    }
    const found = findViolation(member)
    if (found !== undefined) return found
  }
  return undefined
}

const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0')

const unstorable = (pointer: string, verb: string): Violation => ({
  pointer,
  rule: 'text',
  message: `${verb} U+0000 or half a surrogate pair`,
})

const pointerOf = ({ name, parent }: Node): string =>
  parent === undefined ? '' : `${pointerOf(parent)}/${escapeStep(name)}`

/**
 * Refuses escapes of a URL that are not text, or that hold control characters.
 *
 * @param template the route's path, which names the parameters: `/v1/messages/{id}`
 */
export const checkUrl = (url: string, template: string): void => {
  if (!url.includes('%')) return
  const [, path = '', query = ''] = /^https?:\/\/[^/]*([^?#]*)\??([^#]*)/.exec(url) ?? []
  const steps = path.split('/')
  for (const [index, step] of template.split('/').entries()) {
    if (step.startsWith('{')) checkPart(step.slice(1, -1), steps[index] ?? '')
  }
  for (const pair of query.split('&')) {
    const [name = '', ...value] = pair.split('=')
    checkPart(name, value.join('='))
  }
}

const checkPart = (name: string, escaped: string): void => {
  let text: string
  try {
    text = decodeURIComponent(escaped)
  } catch {
    throw invalid(
      [{ pointer: name, rule: 'encoding', message: 'is not UTF-8 in escapes' }],
      'The URL',
    )
  }
  if (line.test(text)) return
  throw invalid([{ pointer: name, rule: 'text', message: 'holds control characters' }], 'The URL')
}
