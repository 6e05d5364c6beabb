import {
  applyWhiteSpace,
  type Bound,
  type BuiltIn,
  builtIns,
  compareDecimals,
  type Decimal,
  type FacetFault,
  isLexical,
  type Limits,
  parseDecimal,
  type WhiteSpace,
} from './builtin.ts'
import { ByteCheck } from './byte-check.ts'
import { type Facet, SchemaError, type SimpleType } from './model.ts'
import { PatternError, PatternMatcher, parsePattern } from './pattern/index.ts'

/** Shared between compilations, so that a pattern or a type used everywhere is compiled once. */
export type SimpleTypeCache = {
  readonly patterns: Map<string, PatternMatcher>
  readonly builtIns: Map<string, SimpleValidator>
  /** The compiled type, with its base, because the base of a shared type may differ between schemas. */
  readonly types: WeakMap<
    SimpleType,
    { readonly base: SimpleValidator; readonly validator: SimpleValidator }
  >
}

export const createSimpleTypeCache = (): SimpleTypeCache => ({
  patterns: new Map(),
  builtIns: new Map(),
  types: new WeakMap(),
})

/** A simple type as a restriction of its base. */
export const compileSimpleType = (
  type: SimpleType,
  base: SimpleValidator,
  cache: SimpleTypeCache,
): SimpleValidator => {
  const known = cache.types.get(type)
  if (known?.base === base) return known.validator
  const validator = base.restricted(type.facets, cache)
  cache.types.set(type, { base, validator })
  return validator
}

const enumerationsShown = 12

/** A simple type, ready to judge values. */
export class SimpleValidator {
  readonly #limits: Limits
  readonly #enumeration: ReadonlySet<string> | undefined
  /** Accepts most valid values without making strings. */
  readonly bytes: ByteCheck

  constructor(limits: Limits) {
    this.#limits = limits
    const { enumeration } = limits
    this.#enumeration = enumeration && new Set(enumeration.map((value) => this.key(value)))
    this.bytes = new ByteCheck(limits)
  }

  static builtIn(name: string, cache: SimpleTypeCache): SimpleValidator | undefined {
    const known = cache.builtIns.get(name)
    if (known !== undefined) return known
    const builtIn = Object.hasOwn(builtIns, name) ? builtIns[name] : undefined
    if (builtIn === undefined) return undefined
    const bound = (rule: string, written: string | undefined): Bound[] =>
      written === undefined ? [] : [{ rule, value: parseDecimal(written), written }]
    const validator = new SimpleValidator({
      builtIn,
      typeName: name,
      whiteSpace: builtIn.whiteSpace,
      patterns: [],
      enumeration: undefined,
      length: undefined,
      minLength: undefined,
      maxLength: undefined,
      totalDigits: undefined,
      fractionDigits: undefined,
      bounds: [...bound('minInclusive', builtIn.min), ...bound('maxInclusive', builtIn.max)],
    })
    cache.builtIns.set(name, validator)
    return validator
  }

  /** The type restricted further. */
  restricted(facets: readonly Facet[], cache: SimpleTypeCache): SimpleValidator {
    if (facets.length === 0) return this
    const last = this.#limits
    const patterns = facets.filter(({ name }) => name === 'pattern')
    const enumeration = facets.filter(({ name }) => name === 'enumeration')
    const count = (name: string): number | undefined => {
      const facet = facets.findLast((candidate) => candidate.name === name)
      if (facet === undefined) return undefined
      if (!/^[0-9]{1,9}$/.test(facet.value)) throw fault(facet, `${name} is a number`)
      return Number(facet.value)
    }
    return new SimpleValidator({
      ...last,
      whiteSpace: whiteSpaceOf(facets) ?? last.whiteSpace,
      patterns:
        patterns.length === 0 ? last.patterns : [...last.patterns, patternStep(patterns, cache)],
      enumeration: enumeration.length === 0 ? last.enumeration : enumeration.map((e) => e.value),
      length: count('length') ?? last.length,
      minLength: count('minLength') ?? last.minLength,
      maxLength: count('maxLength') ?? last.maxLength,
      totalDigits: count('totalDigits') ?? last.totalDigits,
      fractionDigits: count('fractionDigits') ?? last.fractionDigits,
      bounds: [...last.bounds, ...boundsOf(facets, last.builtIn)],
    })
  }

  /** Equal keys mean equal values. */
  key(text: string): string {
    const { builtIn, whiteSpace } = this.#limits
    const value = applyWhiteSpace(text, whiteSpace)
    if (builtIn.primitive !== 'decimal' && builtIn.primitive !== 'integer') return value
    if (!isLexical(builtIn, value)) return value
    const { negative, whole, fraction } = parseDecimal(value)
    return `${negative ? '-' : ''}${whole}.${fraction}`
  }

  /** Every facet that the value breaks; a value that is malformed for its type breaks only `type`. */
  faults(text: string): readonly FacetFault[] {
    const limits = this.#limits
    const value = applyWhiteSpace(text, limits.whiteSpace)
    if (!isLexical(limits.builtIn, value)) return [{ rule: 'type', expected: limits.typeName }]
    const faults: FacetFault[] = []
    for (const { matcher, written } of limits.patterns) {
      if (!matcher.matches(value)) faults.push({ rule: 'pattern', expected: written })
    }
    if (this.#enumeration !== undefined && !this.#enumeration.has(this.key(text))) {
      faults.push({ rule: 'enumeration', expected: shown(limits.enumeration ?? []) })
    }
    lengthFaults(limits, value, faults)
    if (limits.builtIn.primitive === 'decimal' || limits.builtIn.primitive === 'integer') {
      decimalFaults(limits, parseDecimal(value), faults)
    }
    return faults
  }

  get limits(): Limits {
    return this.#limits
  }
}

const shown = (values: readonly string[]): string =>
  values.length <= enumerationsShown
    ? values.join(' | ')
    : `${values.slice(0, enumerationsShown).join(' | ')} and ${values.length - enumerationsShown} more`

const lengthFaults = (limits: Limits, value: string, faults: FacetFault[]): void => {
  const { length, minLength, maxLength, builtIn } = limits
  if (length === undefined && minLength === undefined && maxLength === undefined) return
  const size =
    builtIn.primitive === 'base64Binary'
      ? Math.floor((value.replace(/[ =]/g, '').length * 3) / 4)
      : characters(value)
  if (length !== undefined && size !== length) {
    faults.push({ rule: 'length', expected: `${length} characters` })
  }
  if (minLength !== undefined && size < minLength) {
    faults.push({ rule: 'minLength', expected: `at least ${minLength} characters` })
  }
  if (maxLength !== undefined && size > maxLength) {
    faults.push({ rule: 'maxLength', expected: `at most ${maxLength} characters` })
  }
}

/** Counts code points, as XML does. */
const characters = (text: string): number => {
  let count = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) count--
  return count
}

const decimalFaults = (limits: Limits, value: Decimal, faults: FacetFault[]): void => {
  const { totalDigits, fractionDigits } = limits
  const { whole, fraction } = value
  if (totalDigits !== undefined && whole.length + fraction.length > totalDigits) {
    faults.push({ rule: 'totalDigits', expected: `at most ${totalDigits} digits` })
  }
  if (fractionDigits !== undefined && fraction.length > fractionDigits) {
    faults.push({ rule: 'fractionDigits', expected: `at most ${fractionDigits} fraction digits` })
  }
  for (const bound of limits.bounds) {
    const order = compareDecimals(value, bound.value)
    const kept =
      bound.rule === 'minInclusive'
        ? order >= 0
        : bound.rule === 'maxInclusive'
          ? order <= 0
          : bound.rule === 'minExclusive'
            ? order > 0
            : order < 0
    if (!kept) faults.push({ rule: bound.rule, expected: bound.written })
  }
}

const patternStep = (
  facets: readonly Facet[],
  cache: SimpleTypeCache,
): { readonly matcher: PatternMatcher; readonly written: string } => {
  const written = facets.map(({ value }) => value).join(' | ')
  const key = facets.map(({ value }) => value).join('\n')
  let matcher = cache.patterns.get(key)
  if (matcher === undefined) {
    const items = facets.map((facet) => {
      try {
        return parsePattern(facet.value)
      } catch (error) {
        if (error instanceof PatternError) throw fault(facet, error.message)
        throw error
      }
    })
    matcher = new PatternMatcher({ kind: 'choice', items })
    cache.patterns.set(key, matcher)
  }
  return { matcher, written }
}

const whiteSpaceOf = (facets: readonly Facet[]): WhiteSpace | undefined => {
  const facet = facets.find(({ name }) => name === 'whiteSpace')
  if (facet === undefined) return undefined
  const { value } = facet
  if (value === 'preserve' || value === 'replace' || value === 'collapse') return value
  throw fault(facet, 'whiteSpace is preserve, replace or collapse')
}

const boundsOf = (facets: readonly Facet[], builtIn: BuiltIn): Bound[] =>
  facets
    .filter(({ name }) => /^(?:min|max)(?:In|Ex)clusive$/.test(name))
    .map((facet) => {
      if (builtIn.primitive !== 'decimal' && builtIn.primitive !== 'integer') {
        throw fault(facet, `${facet.name} is supported for numbers only`)
      }
      if (!isLexical(builtIn, facet.value)) throw fault(facet, `${facet.name} is no number`)
      return { rule: facet.name, value: parseDecimal(facet.value), written: facet.value }
    })

const fault = ({ place }: Facet, message: string): SchemaError =>
  new SchemaError(place.file, place.line, message)
