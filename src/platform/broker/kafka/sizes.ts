import { type OutgoingMessage, valueBytesMax } from '../types.ts'

/** Key and headers of a message, together. */
export const extrasBytesMax = 512 * 1024

/** `max.message.bytes` of the topics that we create: the largest message with everything around it. */
export const recordBatchBytesMax = valueBytesMax + 2 * extrasBytesMax

/**
 * We send messages together up to this size, so that they fit topics that others have created with Kafka's own limit
 * (1 MiB). A larger message goes alone.
 */
export const requestBytesMax = 900 * 1024
/** Lengths, times and the checksums around a record, and the share of its batch. */
const recordOverheadBytes = 128

/** Bytes of a record besides its value, at most. */
export const extrasBytesOf = ({ key, headers }: OutgoingMessage): number => {
  let bytes = recordOverheadBytes + Buffer.byteLength(key ?? '')
  for (const [name, value] of Object.entries(headers ?? {})) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 10
  }
  return bytes
}

export const recordBytesOf = (message: OutgoingMessage): number =>
  message.value.length + extrasBytesOf(message)
