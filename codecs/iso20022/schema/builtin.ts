import type { PatternMatcher } from './pattern/index.ts'

/** How the values of a built-in type are written and compared. */
export type Primitive =
  | 'string'
  | 'decimal'
  | 'integer'
  | 'boolean'
  | 'dateTime'
  | 'date'
  | 'time'
  | 'anyURI'
  | 'base64Binary'
  | 'name'

export type WhiteSpace = 'preserve' | 'replace' | 'collapse'

export type BuiltIn = {
  readonly primitive: Primitive
  readonly whiteSpace: WhiteSpace
  /** A narrower written form than the primitive's. */
  readonly lexical?: RegExp
  /** Bounds of the integer types. */
  readonly min?: string
  readonly max?: string
}

const collapse = 'collapse'
const ncName = /^[\p{L}_][\p{L}\p{N}\p{M}._\-·]*$/u

/** The built-in types of XML Schema part 2 that are supported, by local name. */
export const builtIns: Readonly<Record<string, BuiltIn>> = {
  string: { primitive: 'string', whiteSpace: 'preserve' },
  anySimpleType: { primitive: 'string', whiteSpace: 'preserve' },
  normalizedString: { primitive: 'string', whiteSpace: 'replace' },
  token: { primitive: 'string', whiteSpace: collapse },
  language: {
    primitive: 'string',
    whiteSpace: collapse,
    lexical: /^[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*$/,
  },
  NMTOKEN: { primitive: 'string', whiteSpace: collapse, lexical: /^[\p{L}\p{N}\p{M}._:\-·]+$/u },
  NCName: { primitive: 'name', whiteSpace: collapse, lexical: ncName },
  ID: { primitive: 'name', whiteSpace: collapse, lexical: ncName },
  decimal: { primitive: 'decimal', whiteSpace: collapse },
  integer: { primitive: 'integer', whiteSpace: collapse },
  nonNegativeInteger: { primitive: 'integer', whiteSpace: collapse, min: '0' },
  positiveInteger: { primitive: 'integer', whiteSpace: collapse, min: '1' },
  long: {
    primitive: 'integer',
    whiteSpace: collapse,
    min: '-9223372036854775808',
    max: '9223372036854775807',
  },
  int: { primitive: 'integer', whiteSpace: collapse, min: '-2147483648', max: '2147483647' },
  short: { primitive: 'integer', whiteSpace: collapse, min: '-32768', max: '32767' },
  boolean: { primitive: 'boolean', whiteSpace: collapse },
  dateTime: { primitive: 'dateTime', whiteSpace: collapse },
  date: { primitive: 'date', whiteSpace: collapse },
  time: { primitive: 'time', whiteSpace: collapse },
  anyURI: { primitive: 'anyURI', whiteSpace: collapse },
  base64Binary: { primitive: 'base64Binary', whiteSpace: collapse },
}

const zone = '(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d|[+-]14:00)?'
const day = '-?(\\d{4,})-(\\d\\d)-(\\d\\d)'
const clock = '(?:([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?|24:00:00(?:\\.0+)?)'
const dateTimePattern = new RegExp(`^${day}T${clock}${zone}$`)
const datePattern = new RegExp(`^${day}${zone}$`)
const timePattern = new RegExp(`^${clock}${zone}$`)
const decimalPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
const integerPattern = /^[+-]?\d+$/
const base64Pattern = /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/
const uriFault = /\s|%(?![0-9A-Fa-f]{2})/

/** Groups of four; the unused bits before the padding are zero (XML Schema part 2, 3.2.16). */
const isBase64 = (text: string): boolean => {
  const dense = text.includes(' ') ? text.replaceAll(' ', '') : text
  return dense.length % 4 === 0 && base64Pattern.test(dense)
}

/** Whether a text, after white space processing, is written as the type demands. */
export const isLexical = ({ primitive, lexical }: BuiltIn, text: string): boolean => {
  if (lexical !== undefined && !lexical.test(text)) return false
  switch (primitive) {
    case 'string':
    case 'name':
      return true
    case 'decimal':
      return decimalPattern.test(text)
    case 'integer':
      return integerPattern.test(text)
    case 'boolean':
      return text === 'true' || text === 'false' || text === '1' || text === '0'
    case 'dateTime':
      return isCalendarDate(dateTimePattern.exec(text))
    case 'date':
      return isCalendarDate(datePattern.exec(text))
    case 'time':
      return timePattern.test(text)
    case 'anyURI':
      return !uriFault.test(text)
    case 'base64Binary':
      return isBase64(text)
  }
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isCalendarDate = (match: RegExpExecArray | null): boolean => {
  if (match === null) return false
  const [, year = '', month = '', dayOfMonth = ''] = match
  // Years of more than four digits have no leading zero, and there is no year 0.
  if (/^0+$/.test(year) || (year.length > 4 && year.startsWith('0'))) return false
  const leap = isLeap(BigInt(year)) && month === '02'
  const days = (monthDays[Number(month) - 1] ?? 0) + (leap ? 1 : 0)
  return Number(dayOfMonth) >= 1 && Number(dayOfMonth) <= days
}

const isLeap = (year: bigint): boolean =>
  (year % 4n === 0n && year % 100n !== 0n) || year % 400n === 0n

export const applyWhiteSpace = (text: string, whiteSpace: WhiteSpace): string => {
  if (whiteSpace === 'preserve') return text
  const replaced = text.replace(/[\t\n\r]/g, ' ')
  return whiteSpace === 'replace' ? replaced : replaced.replace(/ +/g, ' ').replace(/^ | $/g, '')
}

/** A decimal in parts: digits without leading zeros, and fraction digits without trailing ones. */
export type Decimal = {
  readonly negative: boolean
  readonly whole: string
  readonly fraction: string
}

export const parseDecimal = (text: string): Decimal => {
  const unsigned = text.replace(/^[+-]/, '')
  const dot = unsigned.indexOf('.')
  const whole = (dot === -1 ? unsigned : unsigned.slice(0, dot)).replace(/^0+/, '')
  const fraction = dot === -1 ? '' : withoutTrailingZeros(unsigned.slice(dot + 1))
  const negative = text.startsWith('-') && whole + fraction !== ''
  return { negative, whole, fraction }
}

const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end--
  return digits.slice(0, end)
}

/** Below 0, 0 or above 0, as a is below, equal to or above b. */
export const compareDecimals = (a: Decimal, b: Decimal): number => {
  if (a.negative !== b.negative) return a.negative ? -1 : 1
  const size = compareMagnitudes(a, b)
  return a.negative ? -size : size
}

const compareMagnitudes = (a: Decimal, b: Decimal): number => {
  if (a.whole.length !== b.whole.length) return a.whole.length - b.whole.length
  if (a.whole !== b.whole) return a.whole < b.whole ? -1 : 1
  if (a.fraction === b.fraction) return 0
  return a.fraction < b.fraction ? -1 : 1
}

/** A facet that a value breaks; holds no part of the value. */
export type FacetFault = { readonly rule: string; readonly expected: string }

export type Bound = { readonly rule: string; readonly value: Decimal; readonly written: string }

export type Limits = {
  readonly builtIn: BuiltIn
  readonly typeName: string
  readonly whiteSpace: WhiteSpace
  /** The patterns of each derivation; a value must match one of each. */
  readonly patterns: readonly { readonly matcher: PatternMatcher; readonly written: string }[]
  readonly enumeration: readonly string[] | undefined
  readonly length: number | undefined
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
  readonly totalDigits: number | undefined
  readonly fractionDigits: number | undefined
  readonly bounds: readonly Bound[]
}
