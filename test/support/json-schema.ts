import * as fc from 'fast-check'
import type { OpenApi } from './whole-gateway.ts'

/** A schema as the OpenAPI document has it. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
}

const depthMax = 3
const lengthMax = 40
const itemsMax = 3

/** Values that a schema allows, and no others: what the schema does not say is not assumed. */
export const valuesOf = (document: OpenApi, schema: Schema, depth = 0): fc.Arbitrary<unknown> => {
  const { $ref, enum: constants, anyOf = schema.oneOf } = schema
  const within = (one: Schema) => valuesOf(document, one, depth + 1)
  if ($ref !== undefined) return within(resolved(document, $ref))
  if (constants !== undefined) return fc.constantFrom(...constants)
  if (anyOf !== undefined) {
    const flat = depth > depthMax ? anyOf.filter((one) => isFlat(one)) : anyOf
    return fc.oneof(...flat.map(within))
  }
  switch (schema.type) {
    case 'string':
      return stringsOf(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000_000, max: bounded(schema.maximum) })
    case 'number':
      return fc.double({ noDefaultInfinity: true, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(within(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? itemsMax, Math.max(itemsMax, schema.minItems ?? 0)),
      })
    case 'object':
      return objectsOf(document, schema, depth)
    default:
      return fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
  }
}

const resolved = (document: OpenApi, ref: string): Schema =>
  document.components.schemas[ref.replace('#/components/schemas/', '')] as Schema

const isFlat = ({ $ref, type }: Schema): boolean =>
  $ref === undefined && type !== 'object' && type !== 'array'

/** Beyond it a generator that prefers the ends gives nothing but huge values. */
const bounded = (maximum: number | undefined): number => Math.min(maximum ?? 1e9, 2 ** 53 - 1)

const stringsOf = ({
  pattern,
  format,
  minLength = 0,
  maxLength = Number.POSITIVE_INFINITY,
}: Schema) => {
  if (format === 'uuid') return fc.uuid()
  const wanted = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const isWanted = (text: string) => wanted?.test(text) ?? true
  if (format === 'date-time' || format === 'date') {
    const range = { min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') }
    return fc
      .date({ ...range, noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, format === 'date' ? 10 : undefined))
      .filter(isWanted)
  }
  const length = { minLength, maxLength: Math.min(maxLength, minLength + lengthMax) }
  // A class of what is not allowed is no form to generate from.
  const matching =
    pattern === undefined || pattern.startsWith('^[^') || pattern.includes('(?=')
      ? undefined
      : matchingStrings(pattern)
  const texts =
    matching ??
    fc.oneof(
      fc.string({ ...length, unit: 'binary' }),
      fc.string({ ...length, unit: 'grapheme' }),
      fc.string(length),
    )
  return texts.filter((text) => {
    const characters = [...text].length
    return characters >= minLength && characters <= maxLength && isWanted(text)
  })
}

/** What is refused by looking ahead is left to the filter: the generator cannot. */
const withoutLookahead = (pattern: string): string => {
  const start = pattern.indexOf('(?!')
  if (start === -1) return pattern
  let depth = 0
  for (let end = start; end < pattern.length; end++) {
    if (pattern[end] === '\\') end++
    else if (pattern[end] === '(') depth++
    else if (pattern[end] === ')' && --depth === 0) {
      return withoutLookahead(pattern.slice(0, start) + pattern.slice(end + 1))
    }
  }
  return pattern
}

/** Undefined where the generator does not know the form: then any text is tried. */
const matchingStrings = (pattern: string): fc.Arbitrary<string> | undefined => {
  try {
    return fc.stringMatching(new RegExp(withoutLookahead(pattern)))
  } catch {
    return undefined
  }
}

const objectsOf = (document: OpenApi, schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [], additionalProperties = true, propertyNames } = schema
  const within = (one: Schema) => valuesOf(document, one, depth + 1)
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, within(one)])),
    { requiredKeys: [...required] },
  )
  if (additionalProperties === false) return known
  const rest = additionalProperties === true ? {} : additionalProperties
  const names =
    propertyNames === undefined ? fc.string() : within({ type: 'string', ...propertyNames })
  const fresh = (names as fc.Arbitrary<string>).filter((name) => !Object.hasOwn(properties, name))
  return fc
    .tuple(known, fc.dictionary(fresh, within(rest), { maxKeys: 2 }))
    .map(([some, more]) => ({ ...more, ...(some as object) }))
}

/** Values that between them have every member and every alternative of a schema. */
export const examplesOf = (document: OpenApi, schema: Schema, depth = 0): readonly unknown[] => {
  const { $ref, enum: constants, anyOf = schema.oneOf, properties = {} } = schema
  const within = (one: Schema) => examplesOf(document, one, depth + 1)
  if ($ref !== undefined) return within(resolved(document, $ref))
  if (constants !== undefined) return constants.slice(0, 1)
  if (anyOf !== undefined) return depth > depthMax ? within(anyOf[0] ?? {}) : anyOf.flatMap(within)
  if (schema.type === 'array') return within(schema.items ?? {}).map((item) => [item])
  if (schema.type !== 'object') {
    return fc.sample(valuesOf(document, schema), { numRuns: 1, seed: 1 })
  }
  const members = Object.entries(properties).map(([name, one]) => [name, within(one)] as const)
  const { additionalProperties, propertyNames } = schema
  if (typeof additionalProperties === 'object') {
    const [name = 'name'] = propertyNames ? within({ type: 'string', ...propertyNames }) : []
    members.push([String(name), within(additionalProperties)])
  }
  const first = Object.fromEntries(members.map(([name, [value]]) => [name, value]))
  const others = members.flatMap(([name, [, ...values]]) =>
    values.map((value) => ({ ...first, [name]: value })),
  )
  return [first, ...others]
}

/** A value with one bound of its schema in it: reached, or passed by one. */
export type Bounded = {
  readonly value: unknown
  /** The members that lead to the bound. */
  readonly pointer: string
  readonly bound: 'maxLength' | 'minLength' | 'maximum' | 'minimum' | 'maxItems' | 'minItems'
  readonly isPast: boolean
}

const repeatedMax = 5_000

/** Values at each bound that a schema sets, and one past it. What is past it may be of a form that the schema has not. */
export const boundsOf = (document: OpenApi, schema: Schema, depth = 0): readonly Bounded[] => {
  const { $ref, enum: constants, anyOf = schema.oneOf, properties = {} } = schema
  const within = (one: Schema) => boundsOf(document, one, depth + 1)
  if ($ref !== undefined) return within(resolved(document, $ref))
  if (constants !== undefined || depth > depthMax * 2) return []
  if (anyOf !== undefined) {
    const types = anyOf.map(({ type, $ref: ref }) => (ref === undefined ? type : 'object'))
    // Past the bound of one alternative it may be within that of another.
    const isAlone = (index: number) =>
      types.indexOf(types[index]) === types.lastIndexOf(types[index])
    return anyOf.flatMap((one, index) =>
      within(one).filter(({ isPast }) => !isPast || isAlone(index)),
    )
  }
  switch (schema.type) {
    case 'string':
      return boundsOfText(schema)
    case 'integer':
      return boundsOfNumber(schema)
    case 'array':
      return boundsOfList(document, schema, within(schema.items ?? {}))
    case 'object': {
      const [whole = {}] = examplesOf(document, schema, depth)
      return Object.entries(properties).flatMap(([name, one]) =>
        within(one).map((each) => ({
          ...each,
          value: { ...(whole as object), [name]: each.value },
          pointer: `/${name}${each.pointer}`,
        })),
      )
    }
    default:
      return []
  }
}

const bound = (
  name: Bounded['bound'],
  limit: number | undefined,
  beyond: number,
  make: (size: number) => unknown,
): readonly Bounded[] =>
  limit === undefined
    ? []
    : [false, true].map((isPast) => ({
        value: make(isPast ? beyond : limit),
        pointer: '',
        bound: name,
        isPast,
      }))

const boundsOfText = ({
  pattern,
  format,
  minLength = 0,
  maxLength,
}: Schema): readonly Bounded[] => {
  const wanted = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const isWanted = (text: string) => format === undefined && (wanted?.test(text) ?? true)
  const repeated = (length: number): string =>
    ['x', 'A', '1', 'a1'].map((unit) => unit.repeat(length).slice(0, length)).find(isWanted) ??
    'x'.repeat(length)
  return [
    ...bound('maxLength', maxLength, (maxLength ?? 0) + 1, repeated),
    ...bound('minLength', minLength || undefined, minLength - 1, repeated),
  ].filter(({ value, isPast }) => isPast || isWanted(value as string))
}

const boundsOfNumber = ({ minimum, maximum }: Schema): readonly Bounded[] => [
  ...bound('maximum', maximum, (maximum ?? 0) + 1, (value) => value),
  ...bound('minimum', minimum, (minimum ?? 0) - 1, (value) => value),
]

const boundsOfList = (
  document: OpenApi,
  { items = {}, minItems = 0, maxItems }: Schema,
  inside: readonly Bounded[],
): readonly Bounded[] => {
  const [item] = examplesOf(document, items)
  const list = (length: number): unknown => Array.from({ length }, () => item)
  const most = maxItems !== undefined && maxItems <= repeatedMax ? maxItems : undefined
  return [
    ...bound('maxItems', most, (most ?? 0) + 1, list),
    ...bound('minItems', minItems || undefined, minItems - 1, list),
    ...inside.map((one) => ({ ...one, value: [one.value], pointer: `/0${one.pointer}` })),
  ]
}

export type Place = { readonly pointer: string; readonly value: string | undefined }

/** Where a value holds strings, and where it has members: those have names, which are strings too. */
export const stringPlaces = (value: unknown, pointer = ''): readonly Place[] => {
  if (typeof value === 'string') return [{ pointer, value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => stringPlaces(one, `${pointer}/${name}`))
}

/** The same value with another string at a place. */
export const withString = (value: unknown, pointer: string, text: string): unknown => {
  if (pointer === '') return text
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? []
  const changed = withString((value as Record<string, unknown>)[name], rest, text)
  if (Array.isArray(value)) return value.with(Number(name), changed)
  return { ...(value as object), [name]: changed }
}
