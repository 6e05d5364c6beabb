/*
 * The protobuf wire format, as far as the few messages of this service need it. We write it by hand because they
 * are few and fixed: at run time we need no parser of .proto files and no descriptor, the built file has to find
 * nothing on disk, and a message costs one pass. protobufjs is the oracle of the tests.
 */

/** Thrown for bytes that are not a protobuf message. Never quotes the bytes. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

/** A position in a message. `end` is one past its last byte. */
export type WireReader = { readonly bytes: Uint8Array; at: number; readonly end: number }

/** Reads one field's value; returns false to have it skipped. */
export type FieldReader = (number: number, type: number, reader: WireReader) => boolean

export const wireTypes = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  groupStart: 3,
  groupEnd: 4,
  fixed32: 5,
} as const

const varintBytesMax = 10
const tagBytesMax = 5
const tagMax = 0xffff_ffff
/** Only the unknown fields of a hostile sender can have deeper groups. */
export const groupDepthMax = 16

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Calls `field` for each field in order; skips unknown ones. Throws {@link WireError}. */
export const readFields = (bytes: Uint8Array, field: FieldReader): void => {
  const reader: WireReader = { bytes, at: 0, end: bytes.length }
  while (reader.at < reader.end) {
    const tag = readTag(reader)
    const type = tag & 7
    const number = tag >>> 3
    if (!field(number, type, reader)) skip(reader, number, type, 0)
  }
}

/** The value of a varint; above 2^53 rounded, which no field here needs exactly. */
const readVarint = (reader: WireReader, bytesMax: number = varintBytesMax): number => {
  const { bytes, end } = reader
  let value = 0
  let scale = 1
  for (let count = 0; count < bytesMax; count++) {
    if (reader.at >= end) throw new WireError('ends within a number')
    const byte = bytes[reader.at++] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
    scale *= 128
  }
  throw new WireError('holds a number of too many bytes')
}

/** A view of the field's bytes, not a copy. */
export const readBytes = (reader: WireReader): Uint8Array => {
  const length = readVarint(reader)
  const start = reader.at
  if (length > reader.end - start) throw new WireError('ends within a field')
  reader.at = start + length
  return reader.bytes.subarray(start, reader.at)
}

export const readText = (reader: WireReader): string => {
  const bytes = readBytes(reader)
  try {
    return utf8.decode(bytes)
  } catch {
    throw new WireError('holds a string that is not UTF-8')
  }
}

export const readBoolean = (reader: WireReader): boolean => readVarint(reader) !== 0

const readTag = (reader: WireReader): number => {
  const tag = readVarint(reader, tagBytesMax)
  if (tag > tagMax || tag < 8) throw new WireError('holds an impossible field number')
  return tag
}

const skip = (reader: WireReader, number: number, type: number, depth: number): void => {
  switch (type) {
    case wireTypes.varint:
      readVarint(reader)
      return
    case wireTypes.fixed64:
      advance(reader, 8)
      return
    case wireTypes.bytes:
      readBytes(reader)
      return
    case wireTypes.groupStart:
      skipGroup(reader, number, depth + 1)
      return
    case wireTypes.fixed32:
      advance(reader, 4)
      return
    default:
      throw new WireError('holds an impossible wire type')
  }
}

const advance = (reader: WireReader, count: number): void => {
  if (count > reader.end - reader.at) throw new WireError('ends within a field')
  reader.at += count
}

const skipGroup = (reader: WireReader, group: number, depth: number): void => {
  if (depth > groupDepthMax) throw new WireError('nests groups too deeply')
  for (;;) {
    if (reader.at >= reader.end) throw new WireError('ends within a group')
    const tag = readTag(reader)
    const number = tag >>> 3
    if ((tag & 7) === wireTypes.groupEnd) {
      if (number !== group) throw new WireError('ends another group than it began')
      return
    }
    skip(reader, number, tag & 7, depth)
  }
}

/**
 * A field to write. We leave out text, bytes and numbers that are the default of proto3, but write a
 * message even when it is empty. Numbers are whole, 0 to 2^32 - 1.
 */
export type WireField =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly bytes: Uint8Array }
  | { readonly number: number; readonly message: Uint8Array }
  | { readonly number: number; readonly varint: number }

/** The message with these fields, in their order. */
export const writeFields = (fields: readonly WireField[]): Buffer => {
  const lengths = fields.map(valueLength)
  const size = fields.reduce((sum, field, index) => sum + fieldLength(field, lengths[index]), 0)
  const out = Buffer.allocUnsafe(size)
  let at = 0
  for (const [index, field] of fields.entries()) {
    const length = lengths[index]
    if (length === undefined) continue
    const { number } = field
    if ('varint' in field) {
      at = writeVarint(out, at, number * 8 + wireTypes.varint)
      at = writeVarint(out, at, field.varint)
      continue
    }
    at = writeVarint(out, at, number * 8 + wireTypes.bytes)
    at = writeVarint(out, at, length)
    if ('text' in field) out.write(field.text, at, 'utf8')
    else out.set('bytes' in field ? field.bytes : field.message, at)
    at += length
  }
  return out
}

/**
 * Like {@link writeFields}, but only for two texts and a number below 128, which are the fields 1 to 3: every call
 * writes this message.
 */
export const writeTextsAndNumber = (first: string, second: string, third: number): Buffer => {
  const firstLength = Buffer.byteLength(first)
  const secondLength = Buffer.byteLength(second)
  const size = textSize(firstLength) + textSize(secondLength) + (third === 0 ? 0 : 2)
  const out = Buffer.allocUnsafe(size)
  let at = writeShortText(out, 0, 1, first, firstLength)
  at = writeShortText(out, at, 2, second, secondLength)
  if (third !== 0) {
    out[at] = 3 * 8 + wireTypes.varint
    out[at + 1] = third
  }
  return out
}

const textSize = (length: number): number => (length === 0 ? 0 : 1 + varintLength(length) + length)

const writeShortText = (
  out: Buffer,
  start: number,
  number: number,
  text: string,
  length: number,
): number => {
  if (length === 0) return start
  out[start] = number * 8 + wireTypes.bytes
  const at = writeVarint(out, start + 1, length)
  return at + out.write(text, at, 'utf8')
}

/** The field without tag and length; undefined: leave it out. */
const valueLength = (field: WireField): number | undefined => {
  if ('message' in field) return field.message.length
  if ('varint' in field) return field.varint === 0 ? undefined : varintLength(field.varint)
  const length = 'text' in field ? Buffer.byteLength(field.text) : field.bytes.length
  return length === 0 ? undefined : length
}

const fieldLength = (field: WireField, length: number | undefined): number => {
  if (length === undefined) return 0
  const tag = varintLength(field.number * 8)
  return 'varint' in field ? tag + length : tag + varintLength(length) + length
}

const varintLength = (value: number): number => {
  let length = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++
  return length
}

const writeVarint = (out: Buffer, start: number, value: number): number => {
  let at = start
  let rest = value
  while (rest > 127) {
    out[at++] = (rest % 128) + 128
    rest = Math.floor(rest / 128)
  }
  out[at++] = rest
  return at
}
