import { PublishRefusedError } from './errors.ts'
import { type OutgoingMessage, valueBytesMax } from './types.ts'

/** Partitions of every topic of the embedded brokers, so at most this many members of a group share its work. */
export const partitionCount = 8

let turn = 0

/** The same for a key in every process and version: otherwise an upgrade would break the order by key. */
export const partitionOf = (key: string | undefined): number => {
  if (key !== undefined) return Bun.hash.crc32(key) % partitionCount
  turn = (turn + 1) % partitionCount
  return turn
}

export const refuseTooLarge = (messages: readonly OutgoingMessage[]): void => {
  for (const { topic, value } of messages) {
    if (value.length > valueBytesMax) {
      throw new PublishRefusedError(
        `a message for ${topic} has ${value.length} bytes; at most ${valueBytesMax} are taken`,
      )
    }
  }
}
