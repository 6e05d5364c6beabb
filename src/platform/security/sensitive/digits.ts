import { areCnpjDigits, areCpfDigits } from '#codecs/taxpayer'
import { findCards } from './card-number.ts'

export type SensitiveKind = 'card number' | 'document' | 'credential'

/** Characters `start` up to, not including, `end` of a text. */
export type Finding = { readonly start: number; readonly end: number; readonly kind: SensitiveKind }

const digit0 = 48
const digit9 = 57
/** Between two digits of one number: more is a gap between numbers. */
const separatorsMax = 3
/** A CPF is the shortest number that we look for. */
const digitsMin = 11
const cpfDigits = 11
const cnpjDigits = 14

const isDigit = (code: number): boolean => code >= digit0 && code <= digit9

/** Blank, dot, hyphen, no-break space, and their likes in Unicode. */
const isSeparator = (code: number): boolean =>
  code === 0x20 ||
  code === 0x2d ||
  code === 0x2e ||
  code === 0xa0 ||
  (code >= 0x2000 && isWideSeparator(code))

const isWideSeparator = (code: number): boolean =>
  code <= 0x200b ||
  (code >= 0x2010 && code <= 0x2015) ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x2060 ||
  code === 0x2212 ||
  code === 0x3000 ||
  code === 0xfeff

/** Underscore and slash join names, dates and paths: they separate groups only where a digit stands on both sides. */
const isJoint = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return (
    (code === 0x5f || code === 0x2f) &&
    isDigit(text.charCodeAt(at - 1)) &&
    isDigit(text.charCodeAt(at + 1))
  )
}

/** Digits with at most a few separators between two of them. */
type Run = { readonly start: number; readonly end: number; readonly digits: number }

/** The run that begins at the digit at `start`. */
const runAt = (text: string, start: number): Run => {
  let end = start + 1
  let digits = 1
  let gap = 0
  for (let at = end; at < text.length && gap <= separatorsMax; at++) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) {
      digits++
      gap = 0
      end = at + 1
    } else if (isSeparator(code) || isJoint(text, at)) gap++
    else break
  }
  return { start, end, digits }
}

/** The next run at or after `from` that is long enough to hold a number that we look for. */
const nextRun = (text: string, from: number): Run | undefined => {
  for (let at = from; at < text.length; at++) {
    if (!isDigit(text.charCodeAt(at))) continue
    const run = runAt(text, at)
    if (run.digits >= digitsMin) return run
    at = run.end
  }
  return undefined
}

/** False: no number that we look for can be in the text. Cheap; most texts end here. */
export const hasLongRun = (text: string): boolean => nextRun(text, 0) !== undefined

/** Card numbers, CPF and CNPJ, in order. */
export const findNumbers = (text: string): readonly Finding[] => {
  const found: Finding[] = []
  for (let run = nextRun(text, 0); run !== undefined; run = nextRun(text, run.end)) {
    searchRun(text, run, found)
  }
  return found
}

/**
 * Whether the digits of a text are one card number, and no CNPJ: for identifiers made of digits, in which a window that
 * looks like one means nothing.
 */
export const isCardNumber = (text: string): boolean => {
  if (!hasLongRun(text)) return false
  const digits = Uint8Array.from(text.replaceAll(/\D/g, ''), Number)
  let isWhole = false
  findCards(digits, (from, to) => {
    if (from === 0 && to === digits.length) isWhole = true
  })
  return isWhole && !(digits.length === cnpjDigits && areCnpjDigits(digits))
}

const searchRun = (text: string, run: Run, found: Finding[]): void => {
  const digits = new Uint8Array(run.digits)
  const places = new Uint32Array(run.digits)
  let count = 0
  for (let at = run.start; at < run.end; at++) {
    const code = text.charCodeAt(at)
    if (!isDigit(code)) continue
    digits[count] = code - digit0
    places[count] = at
    count++
  }
  const kinds = new Uint8Array(run.digits)
  markDocuments(digits, places, kinds)
  findCards(digits, (from, to) => kinds.fill(isCard, from, to))
  collect(kinds, places, found)
}

const isCard = 2
const isDocument = 1

/** A document begins and ends with groups of digits, so that the middle of a longer number is none. */
const markDocuments = (digits: Uint8Array, places: Uint32Array, kinds: Uint8Array): void => {
  const bounds = [0]
  for (let at = 1; at < digits.length; at++) {
    if (places[at] !== (places[at - 1] ?? 0) + 1) bounds.push(at)
  }
  bounds.push(digits.length)
  const isBound = new Set(bounds)
  for (const from of bounds) {
    for (const [length, isValid] of documents) {
      const to = from + length
      if (isBound.has(to) && isValid(digits.subarray(from, to))) kinds.fill(isDocument, from, to)
    }
  }
}

const documents: readonly (readonly [number, (digits: Uint8Array) => boolean])[] = [
  [cpfDigits, areCpfDigits],
  [cnpjDigits, areCnpjDigits],
]

/** Digits that were marked one after the other become one finding. */
const collect = (kinds: Uint8Array, places: Uint32Array, found: Finding[]): void => {
  for (let from = 0; from < kinds.length; from++) {
    const kind = kinds[from]
    if (kind === 0) continue
    let to = from + 1
    while (to < kinds.length && kinds[to] === kind) to++
    found.push({
      start: places[from] ?? 0,
      end: (places[to - 1] ?? 0) + 1,
      kind: kind === isCard ? 'card number' : 'document',
    })
    from = to - 1
  }
}
