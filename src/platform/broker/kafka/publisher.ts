import { BrokerUnavailableError, PublishRefusedError } from '../errors.ts'
import { refuseTooLarge } from '../partition.ts'
import type { OutgoingMessage } from '../types.ts'
import { protocolErrorCodes as codes, hasProtocolError, plainError } from './errors.ts'
import { inTime } from './in-time.ts'
import { type Outcomes, openProducer } from './producer.ts'
import { extrasBytesMax, extrasBytesOf, recordBytesOf, requestBytesMax } from './sizes.ts'
import type { Topics } from './topics.ts'
import type { ClusterOptions } from './wire.ts'

/** What may wait to be sent; more is refused at once. */
export const waitingBytesMax = 64 * 1024 * 1024
/** A publisher is told after this that Kafka does not answer. What was sent by then may still arrive. */
export const publishTimeoutMs = 15_000

export type Publisher = {
  readonly publish: (messages: readonly OutgoingMessage[]) => Promise<void>
  readonly close: () => Promise<void>
}

type Publication = {
  left: number
  isOver: boolean
  readonly sent: PromiseWithResolvers<void>
}
type Entry = {
  readonly message: OutgoingMessage
  readonly bytes: number
  readonly publication: Publication
}

/**
 * Sends what callers publish, in the order they called: one request at a time, with all that came while the one before
 * was on its way. Every replica in sync has a message before its publication resolves (acks=all), and a request that is
 * repeated after a lost answer is stored once (idempotent producer).
 */
export const openPublisher = (
  cluster: ClusterOptions,
  topics: Topics,
  timeoutMs = publishTimeoutMs,
): Publisher => {
  const producer = openProducer(cluster, timeoutMs)
  const queue = createQueue()
  let sending: Promise<void> | undefined

  const send = async (entries: readonly Entry[]): Promise<void> => {
    const outcomes = await outcomesOf(entries.map(({ message }) => message))
    const alone: Entry[] = []
    for (const [place, entry] of entries.entries()) {
      const { message, publication } = entry
      const error = outcomes[place]
      if (error === undefined) {
        publication.left--
        if (publication.left === 0) end(publication)
      } else if (hasProtocolError(error, codes.messageTooLarge, codes.recordListTooLarge)) {
        if (entries.length > 1) alone.push(entry)
        else end(publication, tooLarge(message, error))
      } else {
        topics.forget(message.topic)
        end(publication, unavailable(error))
      }
    }
    // The limit is one of all that goes to a partition at once: each may fit.
    for (const entry of alone) if (!entry.publication.isOver) await send([entry])
  }
  const outcomesOf = async (messages: readonly OutgoingMessage[]): Promise<Outcomes> => {
    try {
      for (const topic of new Set(messages.map(({ topic: name }) => name))) {
        await topics.ensure(topic)
      }
    } catch (error) {
      const failed = error instanceof Error ? error : new Error(String(error))
      return messages.map(() => failed)
    }
    return producer.send(messages)
  }
  const sendAll = async (): Promise<void> => {
    for (let entries = queue.take(); entries.length > 0; entries = queue.take()) {
      await send(entries)
    }
    sending = undefined
  }

  return {
    publish: async (messages) => {
      if (messages.length === 0) return
      refuseTooLarge(messages)
      const bytes = messages.reduce((sum, message) => sum + recordBytesOf(message), 0)
      refuseOversized(messages)
      const waiting = queue.bytes()
      if (waiting > 0 && waiting + bytes > waitingBytesMax) {
        throw new BrokerUnavailableError(`${waiting} bytes wait for Kafka: no room for more`)
      }
      const publication: Publication = {
        left: messages.length,
        isOver: false,
        sent: Promise.withResolvers(),
      }
      for (const message of messages) {
        queue.push({ message, bytes: recordBytesOf(message), publication })
      }
      sending ??= sendAll()
      try {
        await inTime(publication.sent.promise, timeoutMs)
      } catch (error) {
        publication.isOver = true
        queue.forget(publication)
        throw isOurs(error) ? error : unavailable(error)
      }
    },
    close: async () => {
      await producer.close()
      await sending
    },
  }
}

/** What waits to be sent, in the order it came. */
const createQueue = () => {
  const waiting: Entry[] = []
  let bytes = 0
  return {
    bytes: (): number => bytes,
    push: (entry: Entry): void => {
      waiting.push(entry)
      bytes += entry.bytes
    },
    /** As much as one request holds; nothing when nothing waits. */
    take: (): readonly Entry[] => {
      let taken = 0
      let count = 0
      for (const entry of waiting) {
        if (count > 0 && taken + entry.bytes > requestBytesMax) break
        taken += entry.bytes
        count++
      }
      bytes -= taken
      return waiting.splice(0, count)
    },
    /** What nobody waits for any more. */
    forget: (publication: Publication): void => {
      let kept = 0
      for (const entry of waiting) {
        if (entry.publication === publication) bytes -= entry.bytes
        else waiting[kept++] = entry
      }
      waiting.length = kept
    },
  }
}

const end = (publication: Publication, error?: Error): void => {
  if (publication.isOver) return
  publication.isOver = true
  if (error === undefined) publication.sent.resolve()
  else publication.sent.reject(error)
}

const isOurs = (error: unknown): boolean =>
  error instanceof PublishRefusedError || error instanceof BrokerUnavailableError

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
