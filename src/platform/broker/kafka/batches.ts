import { type KafkaRecord, Reader, type RecordsBatch, readRecordsBatch } from '@platformatic/kafka'
import { unreadableBatch } from '../dead-letter.ts'
import { PoisonMessageError } from '../errors.ts'
import { batchBytesMax, demandSound, inflated } from './inflate.ts'

/** A batch whose records cannot be read. */
export type UnreadBatch = {
  readonly failure: PoisonMessageError
  /** The batch as it is in Kafka, with its head, which names its compression. */
  readonly bytes: Uint8Array
  readonly lastOffset: bigint
  readonly publishedAt: Date
}

/** First offset and length. */
const lengthAt = 8
const beginBytes = 12
const magicAt = 16
/** Where the time of the message is in message sets, which came before batches; they have it since magic 1. */
const setTimestampAt = 18
/** The format that we read. In every other, the fields behind the length stand elsewhere. */
const magicRead = 2
const attributesAt = 21
const lastOffsetDeltaAt = 23
const firstTimestampAt = 27
const countAt = 57
const headBytes = 61
const codecBits = 0b111
/** Each record costs far more in memory than on the wire. */
const recordsMax = 100_000
/** The most headers that all records of a batch may have together. */
const headersMax = 100_000
/** The room that a record, and each header, takes besides its bytes. */
const itemBytes = 128

/**
 * The whole batches of one partition's answer. An unreadable batch stands alone: we still read those behind it.
 *
 * @param room bytes that may still be taken; once a batch was read, the next answer brings the batches beyond the room
 * @throws Error if batches cannot be read now, whatever they hold
 */
export const readBatches = (
  bytes: Buffer,
  room: { left: number },
): readonly (RecordsBatch | UnreadBatch)[] => {
  const batches: (RecordsBatch | UnreadBatch)[] = []
  const sound = new Set<number>()
  for (let at = 0; bytes.length - at > magicAt && room.left > 0; ) {
    const end = at + beginBytes + bytes.readInt32BE(at + lengthAt)
    const isRead = bytes.readInt8(at + magicAt) === magicRead
    if (end > bytes.length || end - at < (isRead ? headBytes : magicAt + 1)) break
    const batch = bytes.subarray(at, end)
    batches.push(isRead ? readOne(batch, room, sound) : unreadFormat(batch, room))
    at = end
  }
  return batches
}

/** @param sound codecs that work, as an earlier batch made sure of */
const readOne = (
  batch: Buffer,
  room: { left: number },
  sound: Set<number>,
): RecordsBatch | UnreadBatch => {
  try {
    return { ...headOf(batch), records: recordsOf(batch, room) }
  } catch (cause) {
    const codec = codecOf(batch)
    if (sound.has(codec)) return unread(batch, cause)
    // Nobody reads a batch again once it is in `dlq`, so it goes there only if it fails and its codec does not.
    demandSound(codec)
    sound.add(codec)
    return readOne(batch, room, sound)
  }
}

const unread = (batch: Buffer, cause: unknown): UnreadBatch => ({
  failure: new PoisonMessageError(unreadableBatch, 'a batch of Kafka is unreadable', { cause }),
  bytes: batch,
  lastOffset: batch.readBigInt64BE() + BigInt(batch.readInt32BE(lastOffsetDeltaAt)),
  publishedAt: new Date(Number(batch.readBigInt64BE(firstTimestampAt))),
})

/** A message of an older format begins with its offset: if others are compressed in it, with that of the last. */
const unreadFormat = (batch: Buffer, room: { left: number }): UnreadBatch => {
  room.left -= batch.length
  const magic = batch.readInt8(magicAt)
  const hasTime = magic === 1 && batch.length >= setTimestampAt + BigInt64Array.BYTES_PER_ELEMENT
  const message = `a batch of Kafka has magic ${magic}, and only ${magicRead} is read`
  return {
    failure: new PoisonMessageError(unreadableBatch, message),
    bytes: batch,
    lastOffset: batch.readBigInt64BE(),
    publishedAt: hasTime ? new Date(Number(batch.readBigInt64BE(setTimestampAt))) : new Date(),
  }
}

const codecOf = (batch: Buffer): number => batch.readInt16BE(attributesAt) & codecBits

const headOf = (batch: Buffer): RecordsBatch => {
  const head = Buffer.from(batch.subarray(0, headBytes))
  head.writeInt16BE(batch.readInt16BE(attributesAt) & ~codecBits, attributesAt)
  head.writeInt32BE(0, countAt)
  return readRecordsBatch(Reader.from(head))
}

/** @throws Error where they are too large or too many */
const recordsOf = (batch: Buffer, room: { left: number }): KafkaRecord[] => {
  const count = batch.readInt32BE(countAt)
  if (count > recordsMax) throw new RangeError(`the batch has ${count} records`)
  // Compaction leaves batches without records, and even without the first bytes that a codec needs.
  if (count === 0) return []
  const reader = Reader.from(plainOf(batch, room))
  let headers = 0
  const readHeader = (): [Buffer | null, Buffer | null] => {
    headers += 1
    if (headers > headersMax) throw new RangeError(`the batch has more than ${headersMax} headers`)
    room.left -= itemBytes
    return [readBytes(reader), readBytes(reader)]
  }
  const readRecord = (): KafkaRecord => {
    room.left -= itemBytes
    return {
      length: reader.readVarInt(),
      attributes: reader.readInt8(),
      timestampDelta: reader.readVarInt64(),
      offsetDelta: reader.readVarInt(),
      key: readBytes(reader),
      value: readBytes(reader),
      headers: reader.readVarIntArray(readHeader),
    }
  }
  return Array.from({ length: count }, readRecord)
}

/** A length below that of null would go back, and the same bytes would be read again and again. */
const readBytes = (reader: Reader): Buffer | null => {
  if (reader.peekVarInt() < -1) throw new RangeError('a length in the batch is negative')
  return reader.readVarIntBytes()
}

/** The records of a batch, uncompressed. A failed batch costs as much as a whole one: it may have inflated so far. */
const plainOf = (batch: Buffer, room: { left: number }): Buffer => {
  const packed = batch.subarray(headBytes)
  const codec = codecOf(batch)
  room.left -= codec === 0 ? packed.length : batchBytesMax
  if (codec === 0) return packed
  const plain = inflated(codec, packed)
  room.left += batchBytesMax - plain.length
  return plain
}
