import { CodecError } from '#codecs/bytes'
import { bytesOfHex, toHex } from './characters.ts'
import type { Dialect } from './dialect.ts'
import { hidden, maskBytes, maskText } from './mask.ts'
import { createPacker, type FieldValue } from './packer.ts'
import { createParser } from './parser.ts'

/** One field on the wire; value and bytes are masked by default. */
export type ExplainedIsoField = {
  readonly de: number
  readonly name: string
  readonly offset: number
  readonly wireBytes: number
  readonly hex: string
  readonly value: string
}

/** Binary values as upper-case hexadecimal digits. */
type IsoJson = {
  readonly mti: string
  readonly fields: Readonly<Record<string, string | { readonly hex: string }>>
}

/** The fields that could be read and, for an invalid message, why the rest could not. */
type Iso8583Explanation = {
  readonly dialect: string
  readonly json: IsoJson
  readonly fields: readonly ExplainedIsoField[]
  readonly error: CodecError | undefined
}

/**
 * Reads a message as far as it goes, masked by default.
 *
 * @param options.secret fields to hide as a whole, beside those that always are
 */
export const explainIso8583 = (
  bytes: Uint8Array,
  dialect: Dialect,
  options: { readonly unmasked?: boolean; readonly secret?: ReadonlySet<number> | undefined } = {},
): Iso8583Explanation => {
  const { unmasked = false, secret } = options
  const parser = createParser(dialect)
  let error: CodecError | undefined
  try {
    parser.parse(bytes)
  } catch (thrown) {
    if (!(thrown instanceof CodecError)) throw thrown
    error = thrown
  }
  const json: Record<string, string | { hex: string }> = {}
  const fields: ExplainedIsoField[] = []
  for (const de of parser.fields()) {
    const value = parser.value(de)
    const isText = typeof value === 'string'
    const plain = isText ? value : toHex(value)
    const masked = () => (isText ? maskText(de, value, dialect.version) : maskBytes(de, value))
    const shown = unmasked ? plain : secret?.has(de) === true ? hidden : masked()
    json[de] = isText ? shown : { hex: shown }
    const view = parser.view(de)
    fields.push({
      de,
      name: dialect.fields[de]?.name ?? '',
      offset: parser.offset(de),
      wireBytes: view.length,
      hex: shown === plain ? toHex(view) : '',
      value: shown,
    })
  }
  return { dialect: dialect.name, json: { mti: parser.mti, fields: json }, fields, error }
}

const packBytesMax = 65_536

/**
 * The message that `IsoJson` describes.
 *
 * @throws CodecError `iso8583_json`, and the packer's errors
 */
export const packIso8583 = (json: unknown, dialect: Dialect): Uint8Array => {
  const object = objectOf(json, 'message')
  const mti = object['mti']
  if (typeof mti !== 'string') refuse('mti', 'text of four digits')
  const values: Record<number, FieldValue> = {}
  for (const [key, value] of Object.entries(objectOf(object['fields'], 'fields'))) {
    const de = /^[1-9]\d{0,2}$/.test(key) ? Number(key) : 0
    if (dialect.fields[de] === undefined) refuse(key, 'a field that the dialect defines')
    values[de] = fieldValue(key, value)
  }
  const out = new Uint8Array(packBytesMax)
  return out.slice(0, createPacker(dialect).pack(mti, values, out))
}

const fieldValue = (key: string, value: unknown): FieldValue => {
  if (typeof value === 'string') return value
  const hex = objectOf(value, key)['hex']
  const bytes = typeof hex === 'string' ? bytesOfHex(hex) : undefined
  return bytes ?? refuse(key, 'text, or hex of whole bytes')
}

const objectOf = (value: unknown, field: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse(field, 'an object')
  }
  return value as Readonly<Record<string, unknown>>
}

function refuse(field: string, rule: string): never {
  throw new CodecError('iso8583_json', 0, `${field}: ${rule}`, { field, rule })
}
