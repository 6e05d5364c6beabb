import { CodecError } from '#codecs/bytes'

const fieldTypes = ['n', 'a', 'an', 'anp', 'ans', 'z', 'b', 'x+n'] as const
export type FieldType = (typeof fieldTypes)[number]

/**
 * Encodings of a value on the wire. `ebcdic` is code page 1047. `binary` and `hex` are for type b. `bcd-ebcdic` is for
 * x+n: packed digits after a sign in EBCDIC.
 */
const encodings = ['ascii', 'ebcdic', 'ebcdic-037', 'bcd', 'bcd-ebcdic', 'binary', 'hex'] as const
export type Encoding = (typeof encodings)[number]

/** `binary` is one big-endian number, one byte for up to two digits and two bytes above. */
const prefixes = ['ascii', 'ebcdic', 'bcd', 'binary'] as const
export type Prefix = (typeof prefixes)[number]

const bitmaps = ['binary', 'hex', 'hex-ebcdic'] as const
type BitmapEncoding = (typeof bitmaps)[number]

/**
 * One data element.
 *
 * @property max - characters, digits or, for type b, bytes; for x+n without the sign
 * @property prefixDigits - 0 for a fixed length, 2 for LLVAR, 3 for LLLVAR
 * @property unit - what the length prefix counts: digits (characters) or bytes on the wire
 * @property padSide - the side of the filling nibble of an odd number of BCD digits
 * @property padNibble - that nibble, 0 to 15
 */
export type FieldSpec = {
  readonly name: string
  readonly type: FieldType
  readonly max: number
  readonly prefixDigits: number
  readonly encoding: Encoding
  readonly prefix: Prefix
  readonly unit: 'digits' | 'bytes'
  readonly padSide: 'left' | 'right'
  readonly padNibble: number
}

/**
 * A dialect that two parties agreed on. Data only; `compileDialect` makes it work.
 *
 * @property fixed128 - always 128 bits of bitmap on the wire, whatever bit 1 says
 * @property marksSecond - false: bit 1 stays 0 when fields above 64 are there; with `fixed128` only
 */
export type Dialect = {
  readonly name: string
  readonly version: '1987' | '1993'
  readonly mti: 'ascii' | 'ebcdic' | 'bcd'
  readonly bitmap: BitmapEncoding
  readonly fixed128: boolean
  readonly marksSecond: boolean
  readonly fields: Readonly<Record<number, FieldSpec>>
}

/** Fields of a message with three bitmaps. */
export const fieldMax = 192
const valueMax = 9999

const dialectKeys = 'name extends version mti bitmap fixed128 marksSecond fields'.split(' ')

/** Reads a dialect from parsed JSON. `extends` names one of `bases`, whose fields it may change.
 *
 * @throws CodecError `dialect_invalid`, context: path, rule
 */
export const parseDialect = (json: unknown, bases: Readonly<Record<string, Dialect>>): Dialect => {
  const object = objectOf(json, '')
  only(object, '', dialectKeys)
  const baseName = object['extends']
  const base = typeof baseName === 'string' ? bases[baseName] : undefined
  if (baseName !== undefined && base === undefined) fail('extends', 'names no known dialect')
  const name = object['name']
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) {
    fail('name', '1 to 64 of a-z, 0-9 and hyphen')
  }
  const fields: Record<number, FieldSpec> = { ...base?.fields }
  const given = object['fields'] === undefined ? {} : objectOf(object['fields'], 'fields')
  for (const [key, value] of Object.entries(given)) {
    const de = /^[1-9]\d{0,2}$/.test(key) ? Number(key) : 0
    const path = `fields.${key}`
    if (de < 2 || de > fieldMax || de === 65) fail(path, 'a field is 2 to 192, 65 excepted')
    if (value === null) delete fields[de]
    else fields[de] = parseField(value, path, fields[de])
  }
  if (Object.keys(fields).length === 0) fail('fields', 'at least one')
  const fixed128 = booleanOf(object['fixed128'] ?? base?.fixed128 ?? false, 'fixed128')
  const marksSecond = booleanOf(object['marksSecond'] ?? base?.marksSecond ?? true, 'marksSecond')
  if (!marksSecond && !fixed128) fail('marksSecond', 'true without fixed128')
  return {
    name: name as string,
    version: oneOf(object['version'] ?? base?.version ?? '1987', 'version', ['1987', '1993']),
    mti: oneOf(object['mti'] ?? base?.mti, 'mti', ['ascii', 'ebcdic', 'bcd']),
    bitmap: oneOf(object['bitmap'] ?? base?.bitmap, 'bitmap', bitmaps),
    fixed128,
    marksSecond,
    fields,
  }
}

const fieldKeys = 'name type max prefixDigits encoding prefix unit padSide padNibble'.split(' ')

const parseField = (json: unknown, path: string, base: FieldSpec | undefined): FieldSpec => {
  const object = objectOf(json, path)
  only(object, path, fieldKeys)
  const at = (key: keyof FieldSpec, fallback?: unknown): unknown =>
    object[key] ?? base?.[key] ?? fallback
  const prefixDigits = integerOf(at('prefixDigits', 0), `${path}.prefixDigits`, 0, 4)
  const name = at('name', '')
  if (typeof name !== 'string') fail(`${path}.name`, 'text')
  const spec: FieldSpec = {
    name: name as string,
    type: oneOf(at('type'), `${path}.type`, fieldTypes),
    max: integerOf(at('max'), `${path}.max`, 1, valueMax),
    prefixDigits,
    encoding: oneOf(at('encoding'), `${path}.encoding`, encodings),
    prefix: oneOf(at('prefix', 'ascii'), `${path}.prefix`, prefixes),
    unit: oneOf(at('unit', 'digits'), `${path}.unit`, ['digits', 'bytes']),
    padSide: oneOf(at('padSide', 'left'), `${path}.padSide`, ['left', 'right']),
    padNibble: integerOf(at('padNibble', 0), `${path}.padNibble`, 0, 15),
  }
  checkField(spec, path)
  return spec
}

const checkField = (spec: FieldSpec, path: string): void => {
  const isBytes = spec.encoding === 'binary' || spec.encoding === 'hex'
  if ((spec.type === 'b') !== isBytes)
    fail(`${path}.encoding`, 'binary or hex for b, and only for b')
  if (spec.encoding === 'bcd' && !['n', 'z', 'x+n'].includes(spec.type)) {
    fail(`${path}.encoding`, 'bcd is for n, z and x+n')
  }
  if (spec.encoding === 'bcd-ebcdic' && spec.type !== 'x+n') fail(`${path}.encoding`, 'x+n only')
  if (spec.type === 'x+n' && spec.prefixDigits > 0) fail(`${path}.prefixDigits`, '0 for x+n')
  if (spec.type === 'x+n' && spec.encoding.startsWith('bcd') && spec.max % 2 === 1) {
    fail(`${path}.max`, 'even for x+n in bcd')
  }
  if (spec.prefixDigits === 0) return
  const largest =
    spec.prefix === 'binary' && spec.prefixDigits <= 2 ? 255 : 10 ** spec.prefixDigits - 1
  const counted =
    spec.unit === 'bytes' && spec.encoding === 'bcd'
      ? (spec.max + 1) >> 1
      : spec.unit === 'digits' && spec.encoding === 'hex'
        ? spec.max * 2
        : spec.max
  if (counted > largest) fail(`${path}.max`, `at most ${largest} in its length prefix`)
}

function fail(path: string, rule: string): never {
  const place = path === '' ? 'dialect' : path
  throw new CodecError('dialect_invalid', 0, `${place}: ${rule}`, { path: place, rule })
}

const objectOf = (value: unknown, path: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(path, 'an object')
  return value as Readonly<Record<string, unknown>>
}

const only = (
  object: Readonly<Record<string, unknown>>,
  path: string,
  keys: readonly string[],
): void => {
  for (const key of Object.keys(object)) {
    if (!keys.includes(key)) fail(path === '' ? key : `${path}.${key}`, `one of ${keys.join(', ')}`)
  }
}

const oneOf = <T extends string>(value: unknown, path: string, values: readonly T[]): T => {
  const found = values.find((one) => one === value)
  return found ?? fail(path, `one of ${values.join(', ')}`)
}

const integerOf = (value: unknown, path: string, min: number, max: number): number => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    return fail(path, `an integer of ${min} to ${max}`)
  }
  return value
}

const booleanOf = (value: unknown, path: string): boolean =>
  typeof value === 'boolean' ? value : fail(path, 'true or false')
