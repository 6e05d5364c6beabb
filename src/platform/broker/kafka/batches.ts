import { Reader, type RecordsBatch, readRecordsBatch } from '@platformatic/kafka'
import { unreadableBatch } from '../dead-letter.ts'
import { PoisonMessageError } from '../errors.ts'
import { demandSound, inflated } from './inflate.ts'

/** A batch whose records cannot be read. */
export type UnreadBatch = {
  readonly failure: PoisonMessageError
  /** As it is in Kafka, with its head, which says how it is compressed. */
  readonly bytes: Uint8Array
  readonly lastOffset: bigint
  readonly publishedAt: Date
}

/** First offset and length. */
const lengthAt = 8
const beginBytes = 12
const attributesAt = 21
const lastOffsetDeltaAt = 23
const firstTimestampAt = 27
const countAt = 57
const headBytes = 61
const codecBits = 0b111
/** Each costs far more in memory than on the wire. */
const recordsMax = 100_000

/**
 * The whole batches of one partition's answer. One that cannot be read stands alone: those behind it are read.
 *
 * @param room bytes of records that may still be read; what is beyond is left for the next answer, once any was read
 * @throws Error where batches cannot be read now, whatever is in them
 */
export const readBatches = (
  bytes: Buffer,
  room: { left: number },
): readonly (RecordsBatch | UnreadBatch)[] => {
  const batches: (RecordsBatch | UnreadBatch)[] = []
  const sound = new Set<number>()
  for (let at = 0; bytes.length - at >= headBytes && room.left > 0; ) {
    const end = at + beginBytes + bytes.readInt32BE(at + lengthAt)
    if (end > bytes.length || end - at < headBytes) break
    const batch = bytes.subarray(at, end)
    batches.push(readOne(batch, room, sound))
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
    const plain = plainOf(batch)
    room.left -= plain.length
    return readRecordsBatch(Reader.from(plain))
  } catch (cause) {
    const codec = codecOf(batch)
    if (sound.has(codec)) return unread(batch, cause)
    // Nobody reads it again once it is in `dlq`: it goes there only where it fails and the codec does not.
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

const codecOf = (batch: Buffer): number => batch.readInt16BE(attributesAt) & codecBits

/** The same batch, not compressed. @throws Error where it is too large */
const plainOf = (batch: Buffer): Buffer => {
  const count = batch.readInt32BE(countAt)
  if (count > recordsMax) throw new RangeError(`the batch has ${count} records`)
  const codec = codecOf(batch)
  if (codec === 0) return batch
  const plain = Buffer.concat([
    batch.subarray(0, headBytes),
    inflated(codec, batch.subarray(headBytes)),
  ])
  plain.writeInt16BE(batch.readInt16BE(attributesAt) & ~codecBits, attributesAt)
  plain.writeInt32BE(plain.length - beginBytes, lengthAt)
  return plain
}
