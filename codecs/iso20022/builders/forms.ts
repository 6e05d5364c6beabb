import { xmlText } from './text.ts'

/** The written form of a field. */
export type Form = {
  /** The value as it is written in XML, one character per byte of UTF-8; undefined for a wrong one. */
  readonly read: (value: string) => string | undefined
  /** For people. */
  readonly expected: string
}

/** A form of ASCII without anything that XML wants escaped. */
const form = (accepts: (value: string) => boolean, expected: string): Form => ({
  read: (value) => (accepts(value) ? value : undefined),
  expected,
})

export const patternForm = (pattern: RegExp, expected: string): Form => ({
  read: (value) => (pattern.test(value) ? value : undefined),
  expected,
})

const DIGIT = 1
const CAPITAL = 2
const SMALL = 4
/** Neither a control character nor escaped in XML. */
const PLAIN = 8

/** By character of ASCII. */
const classes = new Uint8Array(128)
for (let code = 0x20; code < 128; code++) {
  classes[code] = '&<>'.includes(String.fromCharCode(code)) ? 0 : PLAIN
}
for (let i = 0; i < 10; i++) classes[0x30 + i] = PLAIN | DIGIT
for (let i = 0; i < 26; i++) {
  classes[0x41 + i] = PLAIN | CAPITAL
  classes[0x61 + i] = PLAIN | SMALL
}

/** Whether all characters are of some classes. */
const consists = (value: string, wanted: number): boolean => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code > 127 || ((classes[code] as number) & wanted) === 0) return false
  }
  return true
}

/** `min` to `max` characters of some classes. */
const characters = (wanted: number, min: number, max: number, expected: string): Form =>
  form((value) => value.length >= min && value.length <= max && consists(value, wanted), expected)

const minute = '\\d{4}[0-1]\\d[0-3]\\d[0-2]\\d[0-5]\\d[a-zA-Z0-9]{11}'
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
  ispb: characters(DIGIT | CAPITAL, 8, 8, '8 digits or capital letters'),
  cpfCnpj: patternForm(/^(?:\d{11}|[0-9A-Z]{12}\d{2})$/, 'a CPF or CNPJ without punctuation'),
  cnpj: patternForm(/^[0-9A-Z]{12}\d{2}$/, 'a CNPJ without punctuation'),
  accountNumber: characters(DIGIT | CAPITAL, 1, 20, '1 to 20 digits or capital letters'),
  numericAccount: characters(DIGIT, 1, 20, '1 to 20 digits'),
  branch: characters(DIGIT, 1, 4, '1 to 4 digits'),
  endToEndId: patternForm(
    new RegExp(`^E[0-9A-Z]{8}${minute}$`),
    'E, ISPB, UTC minute, 11 characters',
  ),
  returnId: patternForm(
    new RegExp(`^D[0-9A-Z]{8}${minute}$`),
    'D, ISPB, UTC minute, 11 characters',
  ),
  instructionId: patternForm(new RegExp(`^[ED][0-9A-Z]{8}${minute}$`), 'an EndToEndId or RtrId'),
  transactionId: characters(DIGIT | CAPITAL | SMALL, 1, 35, '1 to 35 letters or digits'),
  shortTransactionId: characters(DIGIT | CAPITAL | SMALL, 1, 25, '1 to 25 letters or digits'),
  reconciliationId: characters(DIGIT | CAPITAL | SMALL, 26, 35, '26 to 35 letters or digits'),
  mandateId: patternForm(
    /^R[RN][0-9A-Z]{8}\d{8}[a-zA-Z0-9]{11}$/,
    'RR or RN, ISPB, date, 11 characters',
  ),
  dateTime: form(
    (value) => dateTimePattern.test(value) && exists(value),
    'YYYY-MM-DDThh:mm:ss.sssZ in UTC',
  ),
  date: form((value) => datePattern.test(value) && exists(value), 'YYYY-MM-DD'),
} as const satisfies Readonly<Record<string, Form>>

/** Well-formed text of some length, in characters of Unicode, without control characters. */
export const textForm = (max: number, min = 1): Form => ({
  read: (value) =>
    value.length >= min && value.length <= max && consists(value, PLAIN)
      ? value
      : xmlText(value, min, max),
  expected: `${min} to ${max} characters`,
})

/** One of some codes. */
export const codeForm = (codes: readonly string[]): Form => {
  const known = new Set(codes)
  return form((value) => known.has(value), codes.join(' | '))
}
