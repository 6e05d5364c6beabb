import { asciiMax, capital, classes, digit, small } from './characters.ts'
import { keepText } from './text.ts'
import { type Content, keep, keepAscii, roomFor, type Value, values } from './values.ts'

/** The written form of a field. What rules compare is read as text, anything else as a value. */
export type Form<Read extends Content = Value> = {
  /** Undefined for a wrong one. Text is of ASCII, without anything that XML wants escaped. */
  readonly read: (value: string) => Read | undefined
  /** For people. */
  readonly expected: string
}

const valueForm = (accepts: (value: string) => boolean, expected: string): Form => ({
  read: (value) => (accepts(value) ? keepAscii(value) : undefined),
  expected,
})

const textualForm = (accepts: (value: string) => boolean, expected: string): Form<string> => ({
  read: (value) => (accepts(value) ? value : undefined),
  expected,
})

export const patternForm = (pattern: RegExp, expected: string): Form =>
  valueForm((value) => pattern.test(value), expected)

const identifierForm = (pattern: string, expected: string): Form<string> => {
  const whole = new RegExp(`^${pattern}\\d{4}[0-1]\\d[0-3]\\d[0-2]\\d[0-5]\\d[a-zA-Z0-9]{11}$`)
  return textualForm((value) => whole.test(value), expected)
}

/** A value of which all characters are of some classes. */
const keepCharacters = (text: string, wanted: number): Value | undefined => {
  const from = roomFor(text.length)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > asciiMax || ((classes[code] as number) & wanted) === 0) return undefined
    values[from + i] = code
  }
  return keep(from, from + text.length)
}

/** `min` to `max` characters of some classes. */
const charactersForm = (wanted: number, min: number, max: number, expected: string): Form => ({
  read: (value) =>
    value.length >= min && value.length <= max ? keepCharacters(value, wanted) : undefined,
  expected,
})

const cpfLength = 11
export const cnpjLength = 14

const isDigit = (value: string, at: number): boolean => {
  const code = value.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

const keepCnpj = (value: string): Value | undefined =>
  value.length === cnpjLength && isDigit(value, cnpjLength - 2) && isDigit(value, cnpjLength - 1)
    ? keepCharacters(value, digit | capital)
    : undefined

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether a date or date-time that is well written exists. */
const exists = (text: string): boolean => {
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 && isLeap ? 29 : (monthDays[month - 1] ?? 0)
  return year > 0 && day > 0 && day <= days
}

const datePattern = /^\d{4}-\d\d-\d\d$/
const dateTimePattern = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** The forms of the schemas' simple types. */
export const forms = {
  ispb: charactersForm(digit | capital, 8, 8, '8 digits or capital letters'),
  cpfCnpj: {
    read: (value: string) =>
      value.length === cpfLength ? keepCharacters(value, digit) : keepCnpj(value),
    expected: 'a CPF or CNPJ without punctuation',
  },
  cnpj: { read: keepCnpj, expected: 'a CNPJ without punctuation' },
  accountNumber: charactersForm(digit | capital, 1, 20, '1 to 20 digits or capital letters'),
  numericAccount: charactersForm(digit, 1, 20, '1 to 20 digits'),
  branch: charactersForm(digit, 1, 4, '1 to 4 digits'),
  endToEndId: identifierForm('E[0-9A-Z]{8}', 'E, ISPB, UTC minute, 11 characters'),
  returnId: identifierForm('D[0-9A-Z]{8}', 'D, ISPB, UTC minute, 11 characters'),
  instructionId: identifierForm('[ED][0-9A-Z]{8}', 'an EndToEndId or RtrId'),
  transactionId: charactersForm(digit | capital | small, 1, 35, '1 to 35 letters or digits'),
  shortTransactionId: charactersForm(digit | capital | small, 1, 25, '1 to 25 letters or digits'),
  reconciliationId: charactersForm(digit | capital | small, 26, 35, '26 to 35 letters or digits'),
  mandateId: patternForm(
    /^R[RN][0-9A-Z]{8}\d{8}[a-zA-Z0-9]{11}$/,
    'RR or RN, ISPB, date, 11 characters',
  ),
  dateTime: valueForm(
    (value) => dateTimePattern.test(value) && exists(value),
    'YYYY-MM-DDThh:mm:ss.sssZ in UTC',
  ),
  date: valueForm((value) => datePattern.test(value) && exists(value), 'YYYY-MM-DD'),
} as const satisfies Readonly<Record<string, Form<Content>>>

/** Well-formed text of some length, in characters of Unicode, without control characters. */
export const textForm = (max: number, min = 1): Form => ({
  read: (value) => keepText(value, min, max),
  expected: `${min} to ${max} characters`,
})

/** One of some codes. */
export const codeForm = (codes: readonly string[]): Form<string> => {
  const known = new Set(codes)
  return textualForm((value) => known.has(value), codes.join(' | '))
}
