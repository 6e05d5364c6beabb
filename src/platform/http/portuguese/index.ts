/**
 * An error's own words, in Portuguese. Like catalogues of translations, this one is keyed by the English text: the code
 * states an error once, and a test walks over the sources for a text that is missing here. `{}` stands for
 * what varies, `{1}` for the first of it.
 */
import type { Violation } from '../errors.ts'
import table from './phrases.tsv' with { type: 'text' }

/** The catalogue has a text a line, its Portuguese behind a tab; a remark begins with `#`. */
const phrases: ReadonlyMap<string, string> = new Map(
  table
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) => line.split('\t') as [english: string, portuguese: string]),
)

/** A longer text quotes something long, so we tell its code instead; the same holds for a longer part of one. */
const textCharactersMax = 4_096
const partCharactersMax = 512
/** A phrase within a phrase within a phrase. */
const depthMax = 4
/** The most look-ups for one answer. A text of ours takes eight at most; a caller can make one that takes thousands. */
const lookupsMax = 2_000

/** The look-ups of one answer so far, by depth and text, and how many it still may make. */
export type Lookups = { left: number; readonly found: Map<string, string | undefined> }

export const startLookups = (): Lookups => ({ left: lookupsMax, found: new Map() })

type Template = { readonly pieces: readonly string[]; readonly portuguese: string }

/** The templates with the most own words come first: one with only punctuation fits nearly everything. */
const templates: readonly Template[] = [...phrases]
  .filter(([english]) => english.includes('{}'))
  .map(([english, portuguese]) => ({ pieces: english.split('{}'), portuguese }))
  .sort((a, b) => b.pieces.join('').length - a.pieces.join('').length)

/** The texts in place of the placeholders, each as short as possible except the last; undefined if the text differs. */
const parametersOf = (text: string, pieces: readonly string[]): readonly string[] | undefined => {
  const [first = '', ...rest] = pieces
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined
  const found: string[] = []
  let at = first.length
  for (const piece of rest) {
    const next = text.indexOf(piece, at + 1)
    if (next < 0) return undefined
    found.push(text.slice(at, next))
    at = next + piece.length
  }
  const end = text.length - last.length
  if (end <= at) return undefined
  return [...found, text.slice(at, end)]
}

/** Words of English that nobody translated. */
const sentence = /[a-z]{2} [a-z]{2}/
/** The quoted words of others stay as they are. */
const quoted = /^"[^"]*"$/

const filled = (
  { pieces, portuguese }: Template,
  text: string,
  lookups: Lookups,
  depth: number,
): string | undefined => {
  const parameters = parametersOf(text, pieces)?.map((one) =>
    quoted.test(one) ? one : (partOf(one, lookups, depth + 1) ?? { left: one }),
  )
  if (parameters === undefined) return undefined
  // Half a translation is none. Only text quoted behind a colon may be others', as the words of a contract.
  const isForeign = (at: number) => pieces[at] !== '' && /(?::|\() ?$/.test(pieces[at] ?? '')
  const isLeft = (one: string | { readonly left: string }, at: number) =>
    typeof one !== 'string' && sentence.test(one.left) && !isForeign(at)
  if (parameters.some(isLeft)) return undefined
  return portuguese.replace(/\{(\d)\}/g, (_, place: string) => {
    const one = parameters[Number(place) - 1] ?? ''
    return typeof one === 'string' ? one : one.left
  })
}

/** The Portuguese of a text; undefined if it is not in the catalogue. */
export const portugueseOf = (text: string, lookups = startLookups()): string | undefined =>
  text.length > textCharactersMax ? undefined : lookedUp(text, lookups, 0)

const partOf = (text: string, lookups: Lookups, depth: number): string | undefined =>
  text.length > partCharactersMax ? undefined : lookedUp(text, lookups, depth)

const lookedUp = (text: string, lookups: Lookups, depth: number): string | undefined => {
  const whole = phrases.get(text)
  if (whole !== undefined || depth > depthMax) return whole
  const name = depth + text
  if (lookups.found.has(name)) return lookups.found.get(name)
  if (lookups.left === 0) return undefined
  lookups.left -= 1
  let told: string | undefined
  for (const template of templates) {
    told = filled(template, text, lookups, depth)
    if (told !== undefined) break
  }
  lookups.found.set(name, told)
  return told
}

/** A violation in words for people; if the catalogue lacks its message, its rule. */
export const portugueseViolation = (violation: Violation, lookups: Lookups): string => {
  const told = portugueseOf(violation.message, lookups)
  const demanded = violation.message.startsWith('line ') ? byRule(violation) : undefined
  if (demanded !== undefined) return told === undefined ? demanded : `${told}: ${demanded}`
  return told ?? `quebra a regra ${violation.rule}`
}

type Told = (expected: string, got: string) => string

const counted = (expected: string): string => /\d+/.exec(expected)?.[0] ?? expected

/** The demands of an ISO 20022 schema, by rule. Each message tells the line, and the members say the rest. */
const ofSchema: Readonly<Record<string, Told>> = {
  root: (expected) => `a raiz deve ser ${expected}`,
  unexpected: (expected, got) => `${got} não é esperado aqui, e sim ${expected}`,
  missing: (expected) => `falta ${expected}`,
  text: () => 'não pode ter texto aqui',
  'element-content': () => 'só pode ter texto, sem elementos',
  'attribute-missing': (expected) => `falta o atributo ${expected}`,
  'attribute-unknown': (_, got) => `o atributo ${got} não se conhece`,
  fixed: (expected) => `deve ter o valor fixo ${expected}`,
  unique: () => 'repete o valor de outro elemento',
  xsi: () => 'não pode ter atributo xsi',
  type: (expected) => `deve ser do tipo ${expected}`,
  pattern: (expected) => `deve ter a forma ${expected}`,
  enumeration: (expected) => `deve ser um de ${expected}`,
  length: (expected) => `deve ter ${counted(expected)} caracteres`,
  minLength: (expected) => `deve ter ${counted(expected)} caracteres ou mais`,
  maxLength: (expected) => `deve ter ${counted(expected)} caracteres ou menos`,
  totalDigits: (expected) => `deve ter ${counted(expected)} dígitos ou menos`,
  fractionDigits: (expected) => `deve ter ${counted(expected)} casas decimais ou menos`,
  minInclusive: (expected) => `deve ser ${expected} ou mais`,
  maxInclusive: (expected) => `deve ser ${expected} ou menos`,
  minExclusive: (expected) => `deve ser mais do que ${expected}`,
  maxExclusive: (expected) => `deve ser menos do que ${expected}`,
}

/** The Portuguese of a violation whose message tells only a place: the rule, with what it expected. */
const byRule = ({ rule, expected = '', got = '' }: Violation): string | undefined =>
  ofSchema[rule]?.(String(expected), String(got))
