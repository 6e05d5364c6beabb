import { createAPI, fetchV13, type Reader, type RecordsBatch } from '@platformatic/kafka'
import { readBatches, type UnreadBatch } from './batches.ts'
import { batchBytesMax } from './inflate.ts'

export type FetchedPartition = {
  readonly partitionIndex: number
  readonly errorCode: number
  readonly batches: readonly (RecordsBatch | UnreadBatch)[]
}

const fetchKey = 1
const version = 13

/**
 * Reads an answer to a request for messages. The library's own reader inflates whatever stands in it, and gives up the
 * whole answer where one batch cannot be read.
 *
 * @throws Error where the broker refuses the whole request
 */
const readAnswer = (reader: Reader): readonly FetchedPartition[] => {
  reader.readInt32() // how long the broker was throttling
  const errorCode = reader.readInt16()
  if (errorCode !== 0) throw new Error(`Kafka refuses to be read: ${errorCode}`)
  reader.readInt32() // the session
  const room = { left: batchBytesMax }
  return reader
    .readArray((topic) => {
      topic.readUUID()
      return topic.readArray((partition) => readPartition(partition, room))
    })
    .flat()
}

const readPartition = (reader: Reader, room: { left: number }): FetchedPartition => {
  const partitionIndex = reader.readInt32()
  const errorCode = reader.readInt16()
  // Where its log begins and ends.
  for (let at = 0; at < 3; at++) reader.readInt64()
  reader.readNullableArray((aborted) => [aborted.readInt64(), aborted.readInt64()])
  reader.readInt32() // another replica to read from
  const bytes = reader.readNullableBytes()
  const batches = bytes === null ? [] : readBatches(bytes, room)
  return { partitionIndex, errorCode, batches }
}

export const fetchApi = createAPI<fetchV13.FetchRequest, readonly FetchedPartition[]>(
  fetchKey,
  version,
  fetchV13.createRequest,
  (_correlationId, _key, _version, reader) => readAnswer(reader),
)
