import {
  compatibilityPartitioner,
  findErrorBy,
  Producer as LibraryProducer,
  NumericMap,
  type ProducerInfo,
  ProtocolError,
  produceV9,
} from '@platformatic/kafka'
import type { OutgoingMessage } from '../types.ts'
import {
  answerOf,
  type ClusterOptions,
  clientOptions,
  closeClient,
  connectionTo,
  topicOf,
} from './client.ts'

/** The result for each message: undefined when every replica in sync has it. */
export type Outcomes = readonly (Error | undefined)[]

export type Producer = {
  /** Sends, and repeats while the cluster may still take it, until `timeoutMs` is over. One call at a time. */
  readonly send: (messages: readonly OutgoingMessage[]) => Promise<Outcomes>
  readonly close: () => Promise<void>
}

/** The messages of one partition. By their numbers any broker that leads by then recognises a repetition. */
type Batch = {
  readonly topic: string
  readonly partition: number
  /** Position of each message in the request. */
  readonly places: number[]
  readonly records: produceV9.ProduceRequest[2]
  numberedBy: ProducerInfo | undefined
  firstSequence: number
}

const allReplicas = -1
/** How long a broker waits for the other replicas; if they do not answer, it says so. */
const ackTimeoutMs = 8_000
const retryFirstMs = 50
const retryMaxMs = 1_000
/** Numbers of a partition go up to 2^31 - 1: before that the producer takes another identity. */
const messagesPerIdentityMax = 1_000_000_000

/** The broker no longer knows this producer, or lacks earlier messages. */
const forgotten: ReadonlySet<unknown> = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'INVALID_PRODUCER_EPOCH',
  'UNKNOWN_PRODUCER_ID',
])

/**
 * An idempotent producer that waits for all replicas in sync (acks=all). The library's `send` repeats a request for
 * several partitions of one broker only where the first of them is led. When a broker is lost and others lead the rest,
 * those do not arrive (test `has three nodes and each is killed in turn`); with one request per partition it sends half
 * as much. So we make the request here, and leave the rest to the library.
 */
export const openProducer = (cluster: ClusterOptions, timeoutMs: number): Producer => {
  const client = new LibraryProducer(clientOptions(cluster))
  const sequences = new Map<string, number>()
  let identity: ProducerInfo | undefined
  let numberedCount = 0
  let isClosed = false

  /** Gives each batch its numbers under the present identity, once. */
  const number = async (batches: readonly Batch[]): Promise<void> => {
    if (identity === undefined) {
      identity = await client.initIdempotentProducer({})
      sequences.clear()
      numberedCount = 0
    }
    for (const batch of batches) {
      if (batch.numberedBy === identity) continue
      const { topic, partition, records } = batch
      const next = sequences.get(`${topic}:${partition}`) ?? 0
      batch.numberedBy = identity
      batch.firstSequence = next
      sequences.set(`${topic}:${partition}`, next + records.length)
      numberedCount += records.length
    }
  }

  const send = async (messages: readonly OutgoingMessage[]): Promise<Outcomes> => {
    const endMs = performance.now() + timeoutMs
    const outcomes: (Error | undefined)[] = messages.map(() => undefined)
    let batches: readonly Batch[] | undefined
    let last = new Error('Kafka does not answer')
    if (numberedCount > messagesPerIdentityMax) identity = undefined
    for (let attempt = 1; performance.now() < endMs && !isClosed; attempt++) {
      try {
        batches ??= await batchesOf(client, messages)
        await number(batches)
        const failed = await sendBatches(client, batches, attempt > 1)
        batches = []
        for (const [batch, error] of failed) {
          last = error
          const isForgotten = forgotten.has(apiIdOf(error))
          if (isForgotten) identity = undefined
          if (isForgotten || mayBeRepeated(error)) batches = [...batches, batch]
          else for (const place of batch.places) outcomes[place] = error
        }
        if (batches.length === 0) break
      } catch (error) {
        last = asError(error)
      }
      await Bun.sleep(Math.min(retryMaxMs, retryFirstMs * 2 ** (attempt - 1)))
    }
    const left = batches?.flatMap(({ places }) => places) ?? messages.keys()
    for (const place of left) outcomes[place] = last
    // No number may follow one that may be unused.
    if (outcomes.some((outcome) => outcome !== undefined)) identity = undefined
    return outcomes
  }
  return {
    send,
    close: async () => {
      isClosed = true
      await closeClient(client)
    },
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))

const apiIdOf = (error: Error): unknown => ('apiId' in error ? error.apiId : undefined)

/** When an error is not a broker's answer, we do not know whether the messages were stored. */
const mayBeRepeated = (error: Error): boolean =>
  apiIdOf(error) === undefined || findErrorBy(error, 'canRetry', true) !== null

let turn = 0

/** Chooses the same partition for a key as Kafka's own clients; without a key each in turn. */
const partitionOf = ({ topic, key }: OutgoingMessage, partitionCount: number): number =>
  (key === undefined ? turn++ : compatibilityPartitioner({ topic }, Buffer.from(key))) %
  partitionCount

const batchesOf = async (
  client: LibraryProducer,
  messages: readonly OutgoingMessage[],
): Promise<readonly Batch[]> => {
  const counts = new Map<string, number>()
  for (const topic of new Set(messages.map((message) => message.topic))) {
    counts.set(topic, (await knownTopic(client, topic, false)).partitionsCount)
  }
  const batches = new Map<string, Batch>()
  for (const [place, message] of messages.entries()) {
    const { topic } = message
    const partition = partitionOf(message, counts.get(topic) ?? 1)
    const key = `${topic}:${partition}`
    let batch = batches.get(key)
    if (batch === undefined) {
      batch = { topic, partition, places: [], records: [], numberedBy: undefined, firstSequence: 0 }
      batches.set(key, batch)
    }
    batch.places.push(place)
    batch.records.push({ ...recordOf(message), partition })
  }
  return [...batches.values()]
}

const knownTopic = async (client: LibraryProducer, name: string, isAnew: boolean) => {
  const known = await topicOf(client, name, { isAnew })
  if (known === undefined) throw new ProtocolError('UNKNOWN_TOPIC_OR_PARTITION')
  return known
}

/**
 * Sends one request to each broker that leads some of the partitions.
 *
 * @returns the batches that are not stored, as far as that is known
 */
const sendBatches = async (
  client: LibraryProducer,
  batches: readonly Batch[],
  isAnew: boolean,
): Promise<readonly (readonly [Batch, Error])[]> => {
  const byLeader = new Map<number, Batch[]>()
  for (const batch of batches) {
    const { partitions } = await knownTopic(client, batch.topic, isAnew)
    const leader = partitions[batch.partition]?.leader ?? -1
    byLeader.set(leader, [...(byLeader.get(leader) ?? []), batch])
  }
  const answers = [...byLeader].map(async ([leader, led]) => {
    try {
      return await request(client, leader, led)
    } catch (error) {
      return led.map((batch) => [batch, asError(error)] as const)
    }
  })
  return (await Promise.all(answers)).flat()
}

const request = async (client: LibraryProducer, leader: number, batches: readonly Batch[]) => {
  const { producerId = -1n, producerEpoch = -1 } = batches[0]?.numberedBy ?? {}
  const sequences = new NumericMap()
  for (const { topic, partition, firstSequence } of batches) {
    sequences.set(`${topic}:${partition}`, firstSequence)
  }
  const connection = await connectionTo(client, leader)
  const records = batches.flatMap((batch) => batch.records)
  const options = { producerId, producerEpoch, sequences }
  // Every broker from Kafka 3.5 on knows this version of the request.
  const { responses } = (await produceV9.api
    .async(connection, allReplicas, ackTimeoutMs, records, options)
    .catch(answerOf)) as produceV9.ProduceResponse
  return batches.flatMap((batch) => {
    const answer = responses
      .find(({ name }) => name === batch.topic)
      ?.partitionResponses.find(({ index }) => index === batch.partition)
    const error =
      answer === undefined ? new Error('no answer') : new ProtocolError(answer.errorCode)
    const isStored = answer?.errorCode === 0 || apiIdOf(error) === 'DUPLICATE_SEQUENCE_NUMBER'
    return isStored ? [] : [[batch, error] as const]
  })
}

const recordOf = ({ topic, key, value, headers, publishedAt }: OutgoingMessage) => ({
  topic,
  ...(publishedAt === undefined ? {} : { timestamp: BigInt(publishedAt.getTime()) }),
  ...(key === undefined ? {} : { key: Buffer.from(key) }),
  value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
  headers: new Map(
    Object.entries(headers ?? {}).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
  ),
})
