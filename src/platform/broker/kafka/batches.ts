import { Reader, type RecordsBatch, readRecordsBatch } from '@platformatic/kafka'
import { unreadableBatch } from '../dead-letter.ts'
import { PoisonMessageError } from '../errors.ts'
import { inflated } from './inflate.ts'

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
 */
export const readBatches = (
  bytes: Buffer,
  room: { left: number },
): readonly (RecordsBatch | UnreadBatch)[] => {
  const batches: (RecordsBatch | UnreadBatch)[] = []
  for (let at = 0; bytes.length - at >= headBytes && room.left > 0; ) {
    const end = at + beginBytes + bytes.readInt32BE(at + lengthAt)
    if (end > bytes.length || end - at < headBytes) break
    const batch = bytes.subarray(at, end)
    batches.push(readOne(batch, room))
    at = end
  }
  return batches
}

const readOne = (batch: Buffer, room: { left: number }): RecordsBatch | UnreadBatch => {
  try {
    const plain = plainOf(batch)
    room.left -= plain.length
    return readRecordsBatch(Reader.from(plain))
  } catch (cause) {
    const failure = new PoisonMessageError(unreadableBatch, 'a batch of Kafka is unreadable', {
      cause,
    })
    return {
      failure,
      bytes: batch,
      lastOffset: batch.readBigInt64BE() + BigInt(batch.readInt32BE(lastOffsetDeltaAt)),
      publishedAt: new Date(Number(batch.readBigInt64BE(firstTimestampAt))),
    }
  }
}

/** The same batch, not compressed. @throws Error where it is too large */
const plainOf = (batch: Buffer): Buffer => {
  const count = batch.readInt32BE(countAt)
  if (count > recordsMax) throw new RangeError(`the batch has ${count} records`)
  const attributes = batch.readInt16BE(attributesAt)
  const codec = attributes & codecBits
  if (codec === 0) return batch
  const plain = Buffer.concat([
    batch.subarray(0, headBytes),
    inflated(codec, batch.subarray(headBytes)),
  ])
  plain.writeInt16BE(attributes & ~codecBits, attributesAt)
  plain.writeInt32BE(plain.length - beginBytes, lengthAt)
  return plain
}
