import type { Broker, ConsumeOptions, Consumer, Delivery } from '#src/platform/broker/index.ts'
import { deliver } from '../../src/platform/broker/deliver.ts'
import { quietLogger as logger } from './database.ts'

/** A broker outside of the database, as an array for each topic: for what is tested around it. */
export const createTopicsOutside = (): Broker => {
  const topics = new Map<string, Delivery[]>()
  const topicOf = (name: string): Delivery[] => {
    const messages = topics.get(name) ?? []
    topics.set(name, messages)
    return messages
  }
  const consumers: Consumer[] = []
  const broker: Broker = {
    kind: 'kafka',
    publish: async (messages) => {
      for (const { topic, key, value, headers = {}, publishedAt = new Date() } of messages) {
        const offset = BigInt(topicOf(topic).length)
        topicOf(topic).push({
          topic,
          key,
          value,
          headers,
          publishedAt,
          offset,
          partition: 0,
          attempt: 1,
        })
      }
    },
    consume: (options) => {
      const consumer = consumerOf(topicOf(options.topic), options, broker)
      consumers.push(consumer)
      return consumer
    },
    backlog: async () => ({ depth: 0, ageSeconds: 0 }),
    ping: async () => {},
    loops: () => [],
    start: async () => {},
    stop: async () => {
      await Promise.all(consumers.map((consumer) => consumer.stop()))
    },
  }
  return broker
}

const consumerOf = (
  messages: readonly Delivery[],
  options: ConsumeOptions,
  { publish }: Broker,
): Consumer => {
  const draining = new AbortController()
  const { signal } = draining
  const read = async (): Promise<void> => {
    for (let at = 0; !signal.aborted; ) {
      const batch = messages.slice(at, at + options.batchSizeMax)
      const settled = await deliver(batch, options, {
        publish,
        logger,
        signal,
        isSuspect: false,
        bury: (letter) => publish([letter]),
        remaining: async (left) => left,
        onDeadLetter: () => {},
        onProgress: () => {},
      })
      at += settled.length
      if (batch.length === 0) await Bun.sleep(2)
    }
  }
  const ended = read()
  const drain = async (): Promise<void> => {
    draining.abort()
    await ended
  }
  return { drain, stop: drain }
}
