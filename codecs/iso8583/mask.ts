import { toHex } from './characters.ts'
import type { Dialect } from './dialect.ts'
import { secretFields } from './layout.ts'
import { isTemplate, parseTlv, templatesMax } from './tlv.ts'

/** Stands for a value that is hidden as a whole. */
export const hidden = '***'
export const panDigitsMin = 13
const panDigitsMax = 19
/** A card number may stand anywhere among more digits, in groups with up to three blanks, dots or hyphens between two. */
const longRun = /\d(?:(?:[ .\xa0-]{0,3}|[_/])\d){12,}/g

/** BIN and last four digits of a card number; shorter numbers are hidden completely. PCI DSS 4.0.1, 3.4.1. */
export const maskPan = (pan: string): string =>
  pan.length < panDigitsMin
    ? '*'.repeat(pan.length)
    : `${pan.slice(0, 6)}${'*'.repeat(pan.length - 10)}${pan.slice(-4)}`

/** A text without digits that may be a card number: of a run as long as one BIN and last four stay, of a longer one nothing. */
const maskRuns = (text: string): string => {
  if (!mayHoldNumber(text)) return text
  return text.replace(longRun, (run) => {
    const digits = run.replace(/\D/g, '')
    const { length } = digits
    const masked = length > panDigitsMax ? '*'.repeat(length) : maskPan(digits)
    let at = 0
    return length === run.length ? masked : run.replace(/\d/g, () => masked.charAt(at++))
  })
}

/** A search would take longer than all else that is done to show a message, and most texts have few digits. */
const mayHoldNumber = (text: string): boolean => {
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit >= 0 && digit <= 9) digits++
  }
  return digits >= panDigitsMin
}

type Version = Dialect['version']

/** Matches amounts with at most twelve digits behind zeros, in a field of sixteen. */
const amount = /^([CD]?0{4}\d{12})$/
const amounts = (...fields: number[]): Record<number, RegExp> =>
  Object.fromEntries(fields.map((de) => [de, amount]))

/** Fields of more digits than a card number has, made of parts that have less. */
const numbers: Readonly<Record<Version, Readonly<Record<number, RegExp>>>> = {
  '1987': {
    ...amounts(86, 87, 88, 89, 97),
    // MTI, STAN, DE 7, acquirer and forwarder of another message.
    90: /^(\d{4})(\d{6})(\d{10})(\d{11})(\d{11})$/,
    95: /^(\d{12})(\d{12})([CD0]\d{8})([CD0]\d{8})$/,
  },
  '1993': {
    ...amounts(86, 87, 88, 89, 97, 105, 106),
    30: /^(\d{12})(\d{12})$/,
    // MTI, STAN, DE 12, length of the acquirer's code, acquirer.
    56: /^(\d{4})(\d{6})(\d{12})(\d\d)(\d{0,11})$/,
  },
}

/** A field that is not secret, fit to print: in its parts, or else without digits that may be a card number. */
export const maskNumbers = (de: number, value: string, version: Version): string =>
  numbers[version][de]?.exec(value)?.slice(1).join(' ') ?? maskRuns(value)

/** EMV tags that carry card data: track 2 equivalent, PAN, track 1 and discretionary data, track data. */
const sensitiveTags: ReadonlySet<string> = new Set([
  '57',
  '5A',
  '56',
  '5F20',
  '9F1F',
  '9F20',
  '9F6B',
  '99',
  '5F24',
  '5F34',
])

/** A text field as it may be printed. Masks digit runs that could be a card number in any field. */
export const maskText = (de: number, value: string, version: Version = '1987'): string => {
  if (de === 2) return maskPan(value)
  if (de === 35) {
    const end = value.search(/[=Dd]/)
    return end < 0 ? hidden : `${maskPan(value.slice(0, end))}=${hidden}`
  }
  return secretFields.includes(de) ? hidden : maskNumbers(de, value, version)
}

/** A field of type b as upper-case hexadecimal digits that may be printed. */
export const maskBytes = (de: number, value: Uint8Array): string => {
  if (de === 64 || de === 128) return toHex(value)
  return de === 55 ? maskIcc(value) : hidden
}

const maskIcc = (value: Uint8Array): string => {
  try {
    return shownObjects(value, templatesMax)
  } catch {
    return hidden
  }
}

const shownObjects = (bytes: Uint8Array, templatesLeft: number): string =>
  parseTlv(bytes)
    .map(({ tag, value }) => {
      const shown = isTemplate(tag)
        ? shownTemplate(value, templatesLeft)
        : sensitiveTags.has(tag)
          ? starsOf(value)
          : toHex(value)
      return shown === '' ? tag : `${tag}=${shown}`
    })
    .join(' ')

/** A template whose inside nobody can read may hold anything. */
const shownTemplate = (value: Uint8Array, templatesLeft: number): string => {
  if (templatesLeft === 0) return starsOf(value)
  try {
    return `[${shownObjects(value, templatesLeft - 1)}]`
  } catch {
    return starsOf(value)
  }
}

const starsOf = ({ length }: Uint8Array): string => '*'.repeat(length * 2)
