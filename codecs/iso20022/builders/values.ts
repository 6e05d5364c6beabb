/**
 * A value that is checked and ready for a message: in UTF-8, markup escaped. The number tells where its bytes stand
 * among {@link values}, how many they are, and in which round they were written.
 *
 * It is for the message or the list item that is being built: the memory is written round and round, and who asks
 * for a value whose bytes are another's by now gets an error ({@link startOf}).
 */
export type Value = number & { readonly of: 'values' }

/** What may stand in a message: a value, or a short text that is ready as it is, of ASCII. */
export type Content = Value | string

const lengthBits = 13
const lengthMask = 2 ** lengthBits - 1
const startBits = 17
const startMask = 2 ** startBits - 1
/** Rounds have numbers of two bits, from 1 to 3; 0 is of what is not in the round. */
const roundShift = lengthBits + startBits
const rounds = 3
/** Several times what the largest operation of any message holds, the texts of one of its reasons included. */
export const roundBytes = 65_536
/** Bytes are copied eight at a time: so many are read, and written, behind the last one. */
const slackBytes = 8

const createdAt = 0
const createdBytes = 24
const messageIdAt = createdAt + createdBytes
const messageIdBytes = 32
const roundStart = messageIdAt + messageIdBytes + slackBytes
const roundEnd = roundStart + roundBytes

/** Bun makes a string of bytes with this; TypeScript does not know it. */
type Memory = Buffer<ArrayBuffer> & { latin1Slice(start: number, end: number): string }

const memory = Buffer.alloc(roundEnd + slackBytes) as Memory

export const values: Uint8Array<ArrayBuffer> = new Uint8Array(memory.buffer)
export const valueView = new DataView(memory.buffer)

let next = roundStart
let round = 1
let roundBefore = 0

const valueAt = (from: number, length: number, ofRound: number): Value =>
  ((ofRound << roundShift) | (from << lengthBits) | length) as Value

/** @throws when the value was kept so long ago that its bytes are written over */
export const startOf = (value: Value): number => {
  const start = (value >>> lengthBits) & startMask
  const ofRound = value >>> roundShift
  // The round before stands from where this one has come to, and a few bytes further.
  const stands = ofRound === roundBefore && start >= next + slackBytes
  if (ofRound === round || ofRound === 0 || stands) return start
  throw new Error('a value of a message is written over')
}

/** In bytes. */
export const lengthOf = (content: Content): number =>
  typeof content === 'string' ? content.length : content & lengthMask

/** Of the message that is being built, these two stand until the next one. */
export const messageIdValue: Value = valueAt(messageIdAt, messageIdBytes, 0)
export const createdValue: Value = valueAt(createdAt, createdBytes, 0)

/** Where a value may be written that has no more bytes than these. */
export const roomFor = (bytesMax: number): number => {
  if (next + bytesMax > roundEnd) {
    next = roundStart
    roundBefore = round
    round = (round % rounds) + 1
  }
  return next
}

/** Keeps what was written from `from`, which {@link roomFor} gave, to before `to`. */
export const keep = (from: number, to: number): Value => {
  next = to
  return valueAt(from, to - from, round)
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
