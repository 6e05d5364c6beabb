import type { Violation } from '../errors.ts'

type Told = (expected: string, got: string) => string

const counted = (expected: string): string => /\d+/.exec(expected)?.[0] ?? expected

/** What a schema of ISO 20022 demands, by its rule. Each message tells the line, and the members say the rest. */
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
export const byRule = ({ rule, expected = '', got = '' }: Violation): string | undefined =>
  ofSchema[rule]?.(String(expected), String(got))
