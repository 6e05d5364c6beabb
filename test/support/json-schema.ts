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
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'object') members.push(['name', within(additionalProperties)])
  const first = Object.fromEntries(members.map(([name, [value]]) => [name, value]))
  const others = members.flatMap(([name, [, ...values]]) =>
    values.map((value) => ({ ...first, [name]: value })),
  )
  return [first, ...others]
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
