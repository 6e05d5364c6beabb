import { formatCents } from '../amount.ts'
import { escaped } from './write.ts'

/** A parameter that breaks a rule. Holds no value. */
export type BuildProblem = {
  /** JSON Pointer into the parameters. */
  readonly pointer: string
  readonly rule: string
  readonly message: string
  readonly expected?: string
}

/** Problems reported for one message. */
export const buildProblemsMax = 100

/** The written form of a field. */
export type Form = { readonly pattern: RegExp; readonly expected: string }

const form = (pattern: RegExp, expected: string): Form => ({ pattern, expected })

const minute = '\\d{4}[0-1]\\d[0-3]\\d[0-2]\\d[0-5]\\d[a-zA-Z0-9]{11}'

/** The forms of the schemas' simple types. */
export const forms = {
  ispb: form(/^[0-9A-Z]{8}$/, '8 digits or capital letters'),
  cpfCnpj: form(/^(?:\d{11}|[0-9A-Z]{12}\d{2})$/, 'a CPF or CNPJ without punctuation'),
  cnpj: form(/^[0-9A-Z]{12}\d{2}$/, 'a CNPJ without punctuation'),
  accountNumber: form(/^[0-9A-Z]{1,20}$/, '1 to 20 digits or capital letters'),
  branch: form(/^\d{1,4}$/, '1 to 4 digits'),
  endToEndId: form(new RegExp(`^E[0-9A-Z]{8}${minute}$`), 'E, ISPB, UTC minute, 11 characters'),
  returnId: form(new RegExp(`^D[0-9A-Z]{8}${minute}$`), 'D, ISPB, UTC minute, 11 characters'),
  instructionId: form(new RegExp(`^[ED][0-9A-Z]{8}${minute}$`), 'an EndToEndId or RtrId'),
  transactionId: form(/^[a-zA-Z0-9]{1,35}$/, '1 to 35 letters or digits'),
  reconciliationId: form(/^[a-zA-Z0-9]{26,35}$/, '26 to 35 letters or digits'),
  mandateId: form(/^R[RN][0-9A-Z]{8}\d{8}[a-zA-Z0-9]{11}$/, 'RR or RN, ISPB, date, 11 characters'),
  dateTime: form(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'YYYY-MM-DDThh:mm:ss.sssZ in UTC'),
  date: form(/^\d{4}-\d\d-\d\d$/, 'YYYY-MM-DD'),
} as const

const made = new Map<string, Form>()

/** A form is made once for all messages: the arguments come from a closed set. */
const remembered = (key: string, make: () => Form): Form => {
  const known = made.get(key)
  if (known !== undefined) return known
  const fresh = make()
  made.set(key, fresh)
  return fresh
}

/** Text of some length without control characters. */
export const textForm = (max: number, min = 1): Form =>
  remembered(`${min} ${max}`, () =>
    form(
      new RegExp(`^[^\\u0000-\\u001f\\ufffe\\uffff]{${min},${max}}$`, 'u'),
      `${min} to ${max} characters`,
    ),
  )

/** One of some codes. */
export const codeForm = (codes: readonly string[]): Form => {
  const expected = codes.join(' | ')
  return remembered(expected, () => form(new RegExp(`^(?:${codes.join('|')})$`), expected))
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads one object of the parameters by rules; the problems of all objects come together in one list. A field
 * that is missing or wrong reads as empty: the caller builds unconditionally, and discards on any problem.
 */
export class Params {
  readonly problems: BuildProblem[]
  readonly pointer: string
  readonly #fields: Fields
  readonly #known = new Set<string>()

  constructor(value: unknown, pointer = '', problems: BuildProblem[] = []) {
    this.pointer = pointer
    this.problems = problems
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.#fields = isObject ? (value as Fields) : {}
    if (!isObject) this.refuse('', 'type', 'must be an object')
  }

  refuse(name: string, rule: string, message: string, expected?: string): void {
    if (this.problems.length === buildProblemsMax) return
    const pointer = name === '' ? this.pointer : `${this.pointer}/${name}`
    this.problems.push({ pointer, rule, message, ...(expected === undefined ? {} : { expected }) })
  }

  /** The text, ready for XML; empty where it is missing or wrong. */
  text(name: string, wanted: Form): string {
    const value = this.optional(name, wanted)
    if (value === undefined && !this.has(name)) this.refuse(name, 'required', 'is missing')
    return value ?? ''
  }

  optional(name: string, { pattern, expected }: Form): string | undefined {
    this.#known.add(name)
    const value = this.#fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string' && pattern.test(value) && value.isWellFormed()) {
      if (!expected.includes('YYYY') || isCalendarDay(value)) return escaped(value)
    }
    this.refuse(
      name,
      typeof value === 'string' ? 'format' : 'type',
      `must be ${expected}`,
      expected,
    )
    return undefined
  }

  /** A whole number of cents above zero, as the decimal that XML holds, with the number itself. */
  cents(name: string): { readonly cents: bigint; readonly text: string } {
    this.#known.add(name)
    const value = this.#fields[name]
    if (value === undefined) this.refuse(name, 'required', 'is missing')
    else if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      this.refuse(name, 'type', 'must be a whole number of cents')
    } else if (value <= 0) this.refuse(name, 'minimum', 'must be above zero', '1 cent or more')
    else return { cents: BigInt(value), text: formatCents(BigInt(value)) }
    return { cents: 0n, text: '0.00' }
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null
  }

  object(name: string): Params {
    this.#known.add(name)
    const value = this.#fields[name]
    if (value !== undefined) return new Params(value, `${this.pointer}/${name}`, this.problems)
    this.refuse(name, 'required', 'is missing')
    return new Params({}, `${this.pointer}/${name}`, [])
  }

  optionalObject(name: string): Params | undefined {
    this.#known.add(name)
    return this.has(name) ? this.object(name) : undefined
  }

  /** Between one and `max` objects. */
  list(name: string, max: number): readonly Params[] {
    this.#known.add(name)
    const value = this.#fields[name]
    if (!Array.isArray(value)) {
      this.refuse(name, value === undefined ? 'required' : 'type', 'must be an array of objects')
      return []
    }
    if (value.length === 0 || value.length > max) {
      this.refuse(name, 'count', `must hold 1 to ${max} items`, `1 to ${max}`)
      return []
    }
    return value.map((item, i) => new Params(item, `${this.pointer}/${name}/${i}`, this.problems))
  }

  /** Refuses the fields that nothing has read. */
  done(): void {
    for (const name of Object.keys(this.#fields)) {
      if (!this.#known.has(name)) this.refuse(name.slice(0, 64), 'unknown', 'is no parameter here')
    }
  }
}

/** A day that exists; the forms admit the 31st of every month. */
const isCalendarDay = (text: string): boolean => {
  const time = Date.parse(text.length === 10 ? `${text}T00:00:00.000Z` : text)
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text.slice(0, 19))
}
