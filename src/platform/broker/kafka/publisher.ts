import { findErrorBy } from '@platformatic/kafka'
import { inTime } from '#src/platform/runtime/index.ts'
import { BrokerUnavailableError, PublishRefusedError } from '../errors.ts'
import { refuseTooLarge } from '../partition.ts'
import type { OutgoingMessage } from '../types.ts'
import type { ClusterOptions } from './client.ts'
import { plainError } from './errors.ts'
import { type Outcomes, openProducer } from './producer.ts'
import { extrasBytesMax, extrasBytesOf, recordBytesOf, requestBytesMax } from './sizes.ts'
import type { Topics } from './topics.ts'

/** The most bytes that may wait to be sent; we refuse any more at once. */
export const waitingBytesMax = 64 * 1024 * 1024
/** After this we tell a publisher that Kafka does not answer. Messages sent by then may still arrive. */
const publishTimeoutMs = 15_000

export type Publisher = {
  readonly publish: (messages: readonly OutgoingMessage[]) => Promise<void>
  readonly close: () => Promise<void>
}

type Entry = {
  readonly message: OutgoingMessage
  readonly bytes: number
  readonly sent: PromiseWithResolvers<void>
  /** True when nobody waits for it any more. */
  isOver: boolean
}

/**
 * Sends what callers publish, in the order of their calls: one request at a time, with everything that came while the
 * one before was under way. Every replica in sync has a message before its publication resolves (acks=all), and Kafka
 * stores a request once that we repeat after a lost answer (idempotent producer).
 */
export const openPublisher = (
  cluster: ClusterOptions,
  topics: Topics,
  timeoutMs = publishTimeoutMs,
): Publisher => {
  const producer = openProducer(cluster, timeoutMs)
  let waiting: Entry[] = []
  let waitingBytes = 0
  let sending: Promise<void> | undefined

  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const entries = waiting.splice(0, countOfRequest(waiting))
      waitingBytes -= bytesOf(entries)
      await send(entries, producer, topics)
    }
    sending = undefined
  }

  return {
    publish: async (messages) => {
      refuseTooLarge(messages)
      refuseOversized(messages)
      const entries = messages.map(
        (message): Entry => ({
          message,
          bytes: recordBytesOf(message),
          sent: Promise.withResolvers(),
          isOver: false,
        }),
      )
      const bytes = bytesOf(entries)
      if (waitingBytes > 0 && waitingBytes + bytes > waitingBytesMax) {
        throw new BrokerUnavailableError(`${waitingBytes} bytes wait for Kafka: no room for more`)
      }
      waiting.push(...entries)
      waitingBytes += bytes
      sending ??= sendAll()
      try {
        await inTime(Promise.all(entries.map(({ sent }) => sent.promise)), timeoutMs)
      } catch (error) {
        for (const entry of entries) entry.isOver = true
        waiting = waiting.filter(({ isOver }) => !isOver)
        waitingBytes = bytesOf(waiting)
        throw error instanceof PublishRefusedError || error instanceof BrokerUnavailableError
          ? error
          : unavailable(error)
      }
    },
    close: async () => {
      await producer.close()
      await sending
    },
  }
}

type Producer = ReturnType<typeof openProducer>

/** Sends entries in one request, and tells each its result. */
const send = async (
  entries: readonly Entry[],
  producer: Producer,
  topics: Topics,
): Promise<void> => {
  const outcomes = await outcomesOf(
    entries.map(({ message }) => message),
    producer,
    topics,
  )
  const alone: Entry[] = []
  for (const [place, entry] of entries.entries()) {
    const error = outcomes[place]
    if (error === undefined) {
      entry.sent.resolve()
    } else if (!isTooLarge(error)) {
      topics.forget(entry.message.topic)
      entry.sent.reject(unavailable(error))
    } else if (entries.length > 1) {
      alone.push(entry)
    } else {
      entry.sent.reject(tooLarge(entry.message, error))
    }
  }
  // The limit covers everything that goes to a partition at once: each message alone may fit.
  for (const entry of alone) if (!entry.isOver) await send([entry], producer, topics)
}

const outcomesOf = async (
  messages: readonly OutgoingMessage[],
  producer: Producer,
  topics: Topics,
): Promise<Outcomes> => {
  try {
    await Promise.all([...new Set(messages.map(({ topic }) => topic))].map(topics.ensure))
  } catch (error) {
    return messages.map(() => error as Error)
  }
  return producer.send(messages)
}

const bytesOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0)

/** How many of the waiting messages go together. */
const countOfRequest = (waiting: readonly Entry[]): number => {
  let bytes = 0
  const end = waiting.findIndex((entry, place) => {
    bytes += entry.bytes
    return place > 0 && bytes > requestBytesMax
  })
  return end === -1 ? waiting.length : end
}

const isTooLarge = (error: Error): boolean =>
  findErrorBy(error, 'apiId', 'MESSAGE_TOO_LARGE') !== null ||
  findErrorBy(error, 'apiId', 'RECORD_LIST_TOO_LARGE') !== null

const unavailable = (cause: unknown): BrokerUnavailableError =>
  new BrokerUnavailableError('Kafka has not taken the messages', { cause: plainError(cause) })

const tooLarge = ({ topic, value }: OutgoingMessage, cause: unknown): PublishRefusedError =>
  new PublishRefusedError(
    `a message of ${value.length} bytes is over max.message.bytes of topic ${topic}`,
    { cause: plainError(cause) },
  )

const refuseOversized = (messages: readonly OutgoingMessage[]): void => {
  for (const message of messages) {
    const bytes = extrasBytesOf(message)
    if (bytes > extrasBytesMax) {
      throw new PublishRefusedError(
        `key and headers of a message for ${message.topic} have ${bytes} bytes; at most ${extrasBytesMax} are taken`,
      )
    }
  }
}
