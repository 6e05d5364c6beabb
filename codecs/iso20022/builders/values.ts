/**
 * A value that is checked and ready for a message: in UTF-8, markup escaped. The number tells where its bytes stand
 * among {@link values}, and how many they are.
 *
 * It is for the message or the list item that is being built: the memory is written round and round.
 */
export type Value = number & { readonly of: 'values' }

/** What may stand in a message: a value, or a short text that is ready as it is, of ASCII. */
export type Content = Value | string

const LENGTH_BITS = 13
const LENGTH_MASK = 2 ** LENGTH_BITS - 1
/** Several times what the largest operation of any message holds, the texts of one of its reasons included. */
const ROUND_BYTES = 65_536
/** Values are copied eight bytes at a time: so many are read behind the last one. */
const SLACK_BYTES = 8

const MESSAGE_ID_AT = 0
const MESSAGE_ID_BYTES = 32
const CREATED_AT = MESSAGE_ID_BYTES
const CREATED_BYTES = 24
const ROUND_START = CREATED_AT + CREATED_BYTES
const ROUND_END = ROUND_START + ROUND_BYTES

/** Bun makes a string of bytes with this; TypeScript does not know it. */
type Memory = Buffer<ArrayBuffer> & { latin1Slice(start: number, end: number): string }

const memory = Buffer.alloc(ROUND_END + SLACK_BYTES) as Memory

export const values: Uint8Array<ArrayBuffer> = new Uint8Array(memory.buffer)
export const valueView = new DataView(memory.buffer)

const valueAt = (from: number, length: number): Value => ((from << LENGTH_BITS) | length) as Value

export const startOf = (value: Value): number => value >>> LENGTH_BITS

/** In bytes. */
export const lengthOf = (content: Content): number =>
  typeof content === 'string' ? content.length : content & LENGTH_MASK

/** Of the message that is being built, these two stand until the next one. */
export const messageIdValue: Value = valueAt(MESSAGE_ID_AT, MESSAGE_ID_BYTES)
export const createdValue: Value = valueAt(CREATED_AT, CREATED_BYTES)

let next = ROUND_START

/** Where a value may be written that has no more bytes than these. */
export const roomFor = (bytesMax: number): number => {
  if (next + bytesMax > ROUND_END) next = ROUND_START
  return next
}

/** Keeps what was written from `from`, which {@link roomFor} gave, to before `to`. */
export const keep = (from: number, to: number): Value => {
  next = to
  return valueAt(from, to - from)
}

/** A value of ASCII as text. */
export const textOf = (value: Content): string =>
  typeof value === 'string'
    ? value
    : memory.latin1Slice(startOf(value), startOf(value) + lengthOf(value))

/** Text of ASCII without anything that XML wants escaped. */
export const keepAscii = (text: string): Value => {
  const from = roomFor(text.length)
  writeAscii(text, from)
  return keep(from, from + text.length)
}

export const writeAscii = (text: string, from: number): void => {
  for (let i = 0; i < text.length; i++) values[from + i] = text.charCodeAt(i)
}
