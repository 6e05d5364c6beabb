import type { FieldSpec } from '#codecs/iso8583'
import type { LeafForm } from './form.ts'
import type { KeptPlace } from './keep.ts'
import {
  type AcquirerNumbers,
  bitOf,
  type Facts,
  keptPrefix,
  pinBlock,
  type Source,
  sources,
} from './sources.ts'

/** No message is longer. */
export const messageBytesMax = 4_096

/** Text of a value; undefined leaves it out. Marks the inputs that went into it. */
export type Leaf = (facts: Facts) => string | undefined

/** A network's messages need something that nobody gave. */
export class MissingFactError extends Error {
  override readonly name = 'MissingFactError'
  readonly source: string

  constructor(source: string) {
    super(`the messages of the card network need ${source}`)
    this.source = source
  }
}

/** A value from the request does not fit into the network's messages. */
export class TooLongFactError extends Error {
  override readonly name = 'TooLongFactError'
  readonly source: string

  constructor(source: string, length: number) {
    super(`the messages of the card network take at most ${length} characters of ${source}`)
    this.source = source
  }
}

/** A content that cannot be compiled: where in it, and the rule. */
export class ContentError extends Error {
  override readonly name = 'ContentError'

  constructor(path: string, rule: string) {
    super(`content.${path}: ${rule}`)
  }
}

/** What is the same for all values of one content. */
export type LeafContext = {
  readonly acquirer: AcquirerNumbers
  /** Names of `keep`, each with its place. */
  readonly kept: ReadonlyMap<string, KeptPlace>
  /** Whether there are keys that PIN blocks come under and go out under. */
  readonly takesPins: boolean
}

/** A value that is not of the form of its place is left out: no message could carry it. */
const keptSource = (name: string, { takes }: KeptPlace): Source => ({
  get: ({ details }) => {
    const text = details?.kept?.[name]
    return text !== undefined && takes(text) ? text : undefined
  },
})

/** @throws ContentError */
const sourceOf = (name: string, { kept }: LeafContext, path: string): Source => {
  if (name.startsWith(keptPrefix)) {
    const key = name.slice(keptPrefix.length)
    const place = kept.get(key)
    if (place === undefined) throw new ContentError(path, `keep has no ${key}`)
    return keptSource(key, place)
  }
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined
  if (source === undefined) throw new ContentError(path, `no source ${name}`)
  return source
}

type Condition = { readonly holds: (facts: Facts) => boolean; readonly bits: number }

const conditionOf = (
  when: NonNullable<LeafForm['when']>,
  context: LeafContext,
  path: string,
): Condition => {
  const tests = Object.entries(when).map(([name, wanted]) => {
    const source = sourceOf(name, context, `${path}.when.${name}`)
    const bits = source.input === undefined ? 0 : bitOf(source.input)
    const holds = (facts: Facts): boolean => {
      const value = source.get(facts, context.acquirer)
      if (typeof wanted === 'boolean') return (value !== undefined) === wanted
      return value !== undefined && wanted.includes(value)
    }
    return { holds, bits }
  })
  return {
    holds: (facts) => tests.every(({ holds }) => holds(facts)),
    bits: tests.reduce((bits, test) => bits | test.bits, 0),
  }
}

/** A value under its condition, before its length is looked at. */
const givenValue = (form: LeafForm, context: LeafContext, path: string): Leaf | undefined => {
  const { value, from, map, required = false } = form
  if (value !== undefined && from !== undefined) throw new ContentError(path, 'value or from')
  if (from === undefined) {
    if (map !== undefined || form.else !== undefined || required) {
      throw new ContentError(path, 'map, else and required need from')
    }
    return value === undefined ? undefined : () => value
  }
  const { get, input } = sourceOf(from, context, `${path}.from`)
  if (from === pinBlock && !/(?:^|\.)fields\.52$/.test(path)) {
    throw new ContentError(path, `${pinBlock} goes into field 52 only`)
  }
  if (from === pinBlock && !context.takesPins) {
    throw new ContentError(path, `${pinBlock} needs security.pin`)
  }
  const bit = input === undefined ? 0 : bitOf(input)
  const { acquirer } = context
  const mapped = new Map(Object.entries(map ?? {}))
  const otherwise = form.else
  return (facts) => {
    const given = get(facts, acquirer)
    const text = given === undefined || map === undefined ? given : mapped.get(given)
    if (text !== undefined) {
      facts.carried |= bit
      return text
    }
    if (otherwise === undefined && required && facts.isFirst) throw new MissingFactError(from)
    return otherwise
  }
}

/**
 * Compiles a value; undefined if it has neither constant nor source.
 *
 * @param length of the place that it goes to; undefined if any fits
 * @throws ContentError
 */
export const compileLeaf = (
  form: LeafForm,
  length: number | undefined,
  context: LeafContext,
  path: string,
): Leaf | undefined => {
  const value = givenValue(form, context, path)
  if (value === undefined) return undefined
  const fitted = length === undefined ? value : fit(value, form, length)
  if (form.when === undefined) return fitted
  const { holds, bits } = conditionOf(form.when, context, path)
  return (facts) => {
    if (!holds(facts)) return undefined
    const text = fitted(facts)
    if (text !== undefined) facts.carried |= bits
    return text
  }
}

const fit =
  (value: Leaf, { from = '', cut = false }: LeafForm, length: number): Leaf =>
  (facts) => {
    const text = value(facts)
    if (text === undefined || text.length <= length) return text
    if (cut) return text.slice(0, length)
    throw new TooLongFactError(from, length)
  }

/** Characters or bytes of the longest value of a field, which may have a sign before its digits. */
export const lengthMaxOf = ({ type, max }: FieldSpec): number => (type === 'x+n' ? max + 1 : max)

/** All constants that a value may have. */
export const constantsOf = ({ value, map, else: otherwise }: LeafForm): readonly string[] =>
  [value, otherwise, ...Object.values(map ?? {})].filter((text) => text !== undefined)
