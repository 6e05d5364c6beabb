/** Contract interfaces: encode calls from JSON, by `ethers`, and decode results, by {@link boundedInterface}. */
import type { EventFragment, Interface, ParamType } from 'ethers'
import { ApiError, type Violation } from '#src/platform/http/index.ts'
import { drexErrors } from '../errors.ts'
import { parseAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import { loadArtifact, templateNames } from '../templates/index.ts'
import { boundedInterface } from './decoder.ts'
import { byName, createPlaces, namesOf } from './names.ts'

export type DecodedRevert = { readonly name: string; readonly args: readonly string[] }

/** Lists the arguments that cannot be encoded, field by field. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'
  readonly violations: readonly Violation[]

  constructor(violations: readonly Violation[]) {
    super(violations.map((each) => `${each.pointer} ${each.message}`).join('; '))
    this.violations = violations
  }
}

/** @throws Error if it is not an ABI */
export const readAbi = async (abi: readonly unknown[]): Promise<Interface> => {
  const { Fragment } = await import('ethers')
  const BoundedInterface = await boundedInterface()
  // The constructor would print an entry that it cannot read, and skip it.
  return new BoundedInterface(abi.map((entry) => Fragment.from(entry)))
}

export type EncodedCall = {
  readonly signature: string
  readonly data: Hex
  /** Answers at once and changes nothing. */
  readonly isView: boolean
}

/**
 * Encodes a call.
 * @param name a function's name, or its signature if the name is overloaded
 * @param params arguments by name or by position
 * @throws ArgumentError
 */
export const encodeCall = (
  abi: Interface,
  name: string,
  params: Readonly<Record<string, unknown>> | readonly unknown[],
): EncodedCall => {
  const candidates = abi.fragments.filter(
    (fragment) => fragment.type === 'function',
  ) as unknown as {
    name: string
    inputs: readonly ParamType[]
    stateMutability: string
    format(): string
  }[]
  const named = candidates.filter((each) => each.name === name || each.format() === name)
  const count = Array.isArray(params) ? params.length : Object.keys(params).length
  const found = named.length === 1 ? named : named.filter((each) => each.inputs.length === count)
  const [fragment] = found
  if (fragment === undefined || found.length > 1) {
    const message =
      named.length === 0
        ? 'is not a function of the contract'
        : `is overloaded: use ${named.map((each) => each.format()).join(' or ')}`
    throw new ArgumentError([{ pointer: '/function', rule: 'function', message }])
  }
  const values = readArguments(fragment.inputs, params)
  const signature = fragment.format()
  return {
    signature,
    data: abi.encodeFunctionData(signature, values) as Hex,
    isView: fragment.stateMutability === 'view' || fragment.stateMutability === 'pure',
  }
}

/** @throws ArgumentError that lists every bad, missing and surplus argument */
const readArguments = (inputs: readonly ParamType[], params: unknown): readonly unknown[] => {
  const violations: Violation[] = []
  const values = readTuple(inputs, params, '/params', violations)
  if (violations.length > 0) throw new ArgumentError(violations)
  return values
}

const readTuple = (
  inputs: readonly ParamType[],
  params: unknown,
  pointer: string,
  violations: Violation[],
): readonly unknown[] => {
  if (Array.isArray(params)) {
    if (params.length !== inputs.length) {
      add(violations, pointer, `needs ${inputs.length} values, got ${params.length}`)
      return []
    }
    return inputs.map((input, i) => readValue(input, params[i], `${pointer}/${i}`, violations))
  }
  if (typeof params !== 'object' || params === null) {
    add(violations, pointer, 'needs an object or an array')
    return []
  }
  const placeOf = createPlaces(inputs)
  const given = new Map<number, readonly [key: string, value: unknown]>()
  for (const [key, value] of Object.entries(params)) {
    const place = placeOf(key)
    if (place === -1) add(violations, `${pointer}/${key}`, 'is not a parameter')
    else if (given.has(place)) add(violations, `${pointer}/${key}`, 'is given twice')
    else given.set(place, [key, value])
  }
  const names = namesOf(inputs)
  return inputs.map((input, i) => {
    const [key = names[i], value] = given.get(i) ?? []
    const at = `${pointer}/${key}`
    if (value !== undefined) return readValue(input, value, at, violations)
    add(violations, at, `is missing (${input.type})`)
    return undefined
  })
}

const add = (violations: Violation[], pointer: string, message: string): void => {
  violations.push({ pointer, rule: 'abi', message })
}

const readValue = (
  input: ParamType,
  value: unknown,
  pointer: string,
  violations: Violation[],
): unknown => {
  const refuse = (expected: string): undefined => {
    add(violations, pointer, `must be ${expected}`)
    return undefined
  }
  if (input.arrayChildren !== null) {
    if (!Array.isArray(value)) return refuse(`an array (${input.type})`)
    const length = input.arrayLength ?? -1
    if (length >= 0 && value.length !== length) return refuse(`an array of ${length}`)
    const child = input.arrayChildren
    return value.map((each, i) => readValue(child, each, `${pointer}/${i}`, violations))
  }
  if (input.components !== null) return readTuple(input.components, value, pointer, violations)
  const { type } = input
  if (type === 'address') {
    const parsed = typeof value === 'string' ? parseAddress(value) : 'form'
    return typeof parsed === 'string' ? refuse(`an address (wrong ${parsed})`) : parsed.address
  }
  if (type === 'bool') return typeof value === 'boolean' ? value : refuse('true or false')
  if (type === 'string') return typeof value === 'string' ? value : refuse('a string')
  const integer = /^(u?)int(\d+)$/.exec(type)
  if (integer !== null) {
    return (
      readInteger(value, integer[1] === 'u', Number(integer[2])) ??
      refuse(`a whole number of ${type}`)
    )
  }
  const bytes = /^bytes(\d*)$/.exec(type)
  if (bytes === null) return refuse(`a ${type}`)
  const length = bytes[1] === '' ? undefined : Number(bytes[1])
  const isHex = typeof value === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(value)
  if (!isHex) return refuse(`hexadecimal (${type})`)
  if (length !== undefined && value.length !== 2 + length * 2) return refuse(`${length} bytes`)
  return value
}

/** Whole numbers come as strings, or as JSON numbers if those are exact. */
const readInteger = (value: unknown, isUnsigned: boolean, bits: number): bigint | undefined => {
  const isExact = typeof value === 'number' && Number.isSafeInteger(value)
  if (!isExact && !(typeof value === 'string' && /^-?\d{1,78}$/.test(value))) return undefined
  const number = BigInt(value as string | number)
  const size = BigInt(isUnsigned ? bits : bits - 1)
  const min = isUnsigned ? 0n : -(2n ** size)
  return number < min || number >= 2n ** size ? undefined : number
}

/** Four thousand values fit in. */
const answerBytesMax = 131_072
/** How much we show of an answer that nobody can read. */
const shownBytesMax = 1_024

/** @throws ApiError `answer_unreadable` if the contract answers what its ABI says nothing of, or too much */
export const readAnswer = (abi: Interface, name: string, data: string): readonly unknown[] => {
  const bytes = Math.floor(data.length / 2) - 1
  const unreadable = (message: string, cause?: unknown): ApiError => {
    const details = { data: data.slice(0, 2 + 2 * shownBytesMax), bytes }
    return new ApiError(drexErrors.answer_unreadable, message, { details, cause })
  }
  if (bytes > answerBytesMax) {
    throw unreadable(`The contract’s answer has more than ${answerBytesMax} bytes.`)
  }
  try {
    return abi.decodeFunctionResult(name, data).toArray()
  } catch (cause) {
    throw unreadable('The contract’s answer is not what its ABI says.', cause)
  }
}

/** @returns the values of a view function: one alone, several by name or position */
export const decodeResult = (abi: Interface, signature: string, data: string): unknown => {
  const fragment = abi.getFunction(signature)!
  const values = readAnswer(abi, signature, data)
  if (values.length === 1) return toJson(values[0])
  return fragment.outputs.every(({ name }) => name !== '')
    ? byName(fragment.outputs, values.map(toJson))
    : values.map(toJson)
}

export type EventFilter = {
  readonly signature: string
  /** By position; null: any. */
  readonly topics: readonly (Hex | null)[]
}

/**
 * Encodes what a stream is for.
 * @param name an event's name, or its signature if the name is overloaded
 * @param where indexed arguments by name
 * @throws ArgumentError
 */
export const encodeEventFilter = (
  abi: Interface,
  name: string,
  where: Readonly<Record<string, unknown>>,
): EventFilter => {
  const events = abi.fragments.filter(({ type }) => type === 'event') as unknown as EventFragment[]
  const named = events.filter((each) => each.name === name || each.format() === name)
  const [event] = named
  const refuse = (message: string): never => {
    throw new ArgumentError([{ pointer: '/event', rule: 'event', message }])
  }
  if (event === undefined) return refuse('is not an event of the contract')
  if (named.length > 1) {
    return refuse(`is overloaded: use ${named.map((each) => each.format()).join(' or ')}`)
  }
  if (event.anonymous) return refuse('is anonymous, and cannot be told from others')
  const violations: Violation[] = []
  const placeOf = createPlaces(event.inputs)
  const values = event.inputs.map((): unknown => null)
  for (const [key, value] of Object.entries(where)) {
    const place = placeOf(key)
    const input = event.inputs[place]
    const pointer = `/where/${key}`
    if (input === undefined) add(violations, pointer, 'is not an argument of the event')
    else if (input.indexed !== true) add(violations, pointer, 'is not indexed')
    else values[place] = readValue(input, value, pointer, violations)
  }
  if (violations.length > 0) throw new ArgumentError(violations)
  const topics = abi.encodeFilterTopics(event.format(), values)
  return {
    signature: event.format(),
    topics: topics.map((topic) =>
      typeof topic === 'string' ? (topic.toLowerCase() as Hex) : null,
    ),
  }
}

/** @returns the arguments by name or place; undefined if the log is not of this event or holds nonsense */
export const decodeEvent = (
  abi: Interface,
  signature: string,
  { topics, data }: { readonly topics: readonly Hex[]; readonly data: Hex },
): Readonly<Record<string, unknown>> | undefined => {
  const event = abi.getEvent(signature)
  if (event === null) return undefined
  try {
    const values = abi.decodeEventLog(event, data, topics).toArray()
    return byName(
      event.inputs,
      // A struct may have a member of that name; indexed, it is a hash itself.
      event.inputs.map(({ indexed }, i) =>
        toJson(indexed === true ? (values[i].hash ?? values[i]) : values[i]),
      ),
    )
  } catch {
    return undefined
  }
}

/** Whole numbers as decimal strings; U+FFFD stands for what of a contract's words the database cannot store. */
export const toJson = (value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  return Array.isArray(value) ? value.map(toJson) : value
}

let known: Promise<readonly Interface[]> | undefined

/** The interfaces of all templates, read once. */
export const templateAbis = (): Promise<readonly Interface[]> => {
  known ??= Promise.all(templateNames.map(async (name) => readAbi((await loadArtifact(name)).abi)))
  return known
}

/** A revert of more says nothing to anybody. */
const revertBytesMax = 16_384

/** Explains a revert's payload by the given ABIs and those of the templates. */
export const explainRevert = async (
  data: string | undefined,
  abis: readonly Interface[] = [],
): Promise<DecodedRevert | undefined> => {
  if (data === undefined || data.length < 10) return undefined
  if (data.length <= 2 + 2 * revertBytesMax) {
    for (const abi of [...abis, ...(await templateAbis())]) {
      const parsed = parseError(abi, data)
      if (parsed !== undefined) return parsed
    }
  }
  return { name: 'unknown', args: [data.slice(0, 10)] }
}

const parseError = (abi: Interface, data: string): DecodedRevert | undefined => {
  try {
    // `Error(string)` and `Panic(uint256)` are known to every interface.
    const error = abi.parseError(data)
    if (error === null) return undefined
    return { name: error.name, args: error.args.toArray().map(String) }
  } catch {
    return undefined
  }
}
