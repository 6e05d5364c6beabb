import { cnpjForm, ispbForm, taxIdForm } from '#codecs/taxpayer'
import { type CodeEntry, type CodeList, codesOf, isOfVersion } from '../codes/entry.ts'
import { escaped } from './template.ts'

/** The written form of a field. */
export type Form = {
  /** The value as a message holds it; undefined for a wrong one. */
  readonly read: (value: string) => string | undefined
  /** Describes the form for people. */
  readonly expected: string
}

const checkedForm = (accepts: (value: string) => boolean, expected: string): Form => ({
  read: (value) => (accepts(value) ? value : undefined),
  expected,
})

/** A form given by a pattern. The pattern must admit ASCII only, and no character that XML escapes. */
export const patternForm = (pattern: RegExp, expected: string): Form =>
  checkedForm((value) => pattern.test(value), expected)

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether a well-written date or date-time exists in the calendar. */
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

/** The id of an operation is a letter, an ISPB, the minute in UTC, and 11 characters. */
const operationForm = (letter: string, expected: string): Form =>
  patternForm(
    new RegExp(`^${letter}[0-9A-Z]{8}\\d{4}[0-1]\\d[0-3]\\d[0-2]\\d[0-5]\\d[a-zA-Z0-9]{11}$`),
    expected,
  )

/** The id of what lasts is two letters, an ISPB, the day, and 11 characters. */
const datedForm = (letters: string, expected: string): Form =>
  patternForm(new RegExp(`^${letters}[0-9A-Z]{8}\\d{4}[0-1]\\d[0-3]\\d[a-zA-Z0-9]{11}$`), expected)

/** The forms of the schemas' simple types. */
export const forms = {
  ispb: patternForm(ispbForm, '8 digits or capital letters'),
  cpfCnpj: patternForm(taxIdForm, 'a CPF or CNPJ without punctuation'),
  cnpj: patternForm(cnpjForm, 'a CNPJ without punctuation'),
  accountNumber: patternForm(/^[0-9A-Z]{1,20}$/, '1 to 20 digits or capital letters'),
  numericAccount: patternForm(/^\d{1,20}$/, '1 to 20 digits'),
  branch: patternForm(/^\d{1,4}$/, '1 to 4 digits'),
  endToEndId: operationForm('E', 'E, ISPB, UTC minute, 11 characters'),
  returnId: operationForm('D', 'D, ISPB, UTC minute, 11 characters'),
  instructionId: operationForm('[ED]', 'an EndToEndId or RtrId'),
  transactionId: patternForm(/^[0-9A-Za-z]{1,35}$/, '1 to 35 letters or digits'),
  shortTransactionId: patternForm(/^[0-9A-Za-z]{1,25}$/, '1 to 25 letters or digits'),
  reconciliationId: patternForm(/^[0-9A-Za-z]{26,35}$/, '26 to 35 letters or digits'),
  /** The EndToEndId of a payment, or the id of an entry without a payment. */
  bookedId: operationForm('[EL]', 'E or L, ISPB, UTC minute, 11 characters'),
  messageId: patternForm(/^M[0-9A-Z]{8}[a-zA-Z0-9]{23}$/, 'M, ISPB, 23 letters or digits'),
  mandateId: datedForm('[RC][RN]', 'RR, RN, CR or CN, ISPB, date, 11 characters'),
  mandateRequestId: datedForm('SC', 'SC, ISPB, date, 11 characters'),
  mandateReportId: datedForm('IS', 'IS, ISPB, date, 11 characters'),
  mandateCancellationId: datedForm('IC', 'IC, ISPB, date, 11 characters'),
  mandateReference: datedForm('(?:SC|IC|IS)', 'SC, IC or IS, ISPB, date, 11 characters'),
  cancellationId: datedForm('CA', 'CA, ISPB, date, 11 characters'),
  controlNumber: patternForm(
    /^[A-Z]{3}\d{4}[0-1]\d[0-3]\d[a-zA-Z0-9]{9}$/,
    '3 capital letters, date, 9 characters',
  ),
  dateTime: checkedForm(
    (value) => dateTimePattern.test(value) && exists(value),
    'YYYY-MM-DDThh:mm:ss.sssZ in UTC',
  ),
  date: checkedForm((value) => datePattern.test(value) && exists(value), 'YYYY-MM-DD'),
} as const satisfies Readonly<Record<string, Form>>

/** Control characters, and the two of the first plane that XML does not have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const forbidden = /[\u0000-\u001f\ufffe\uffff]/

const charactersOf = (text: string): number => {
  let characters = 0
  for (const _ of text) characters++
  return characters
}

/** Well-formed text of some length, in characters of Unicode, without control characters. */
export const textForm = (max: number, min = 1): Form => ({
  read: (value) => {
    // A character takes one or two units, so a text that is far too long is refused without counting.
    if (value.length < min || value.length > 2 * max) return undefined
    if (forbidden.test(value) || !value.isWellFormed()) return undefined
    const characters = value.length > max || min > 1 ? charactersOf(value) : value.length
    if (characters < min || characters > max) return undefined
    return escaped(value)
  },
  expected: `${min} to ${max} characters`,
})

/** One of some codes. */
export const codeForm = (codes: Iterable<string>): Form => {
  const known = new Set(codes)
  return checkedForm((value) => known.has(value), [...known].join(' | '))
}

/** One of the admitted codes that a version of the message has. */
export const listForm = (
  list: CodeList,
  version: string,
  admits: (entry: CodeEntry) => boolean = () => true,
): Form => ({
  read: (value) => {
    const entry = list.get(value)
    return entry !== undefined && isOfVersion(entry, version) && admits(entry) ? value : undefined
  },
  // Made only for a refusal.
  get expected() {
    const admitted = codesOf(list, version).filter(admits)
    return admitted.map(({ code }) => code).join(' | ')
  },
})
