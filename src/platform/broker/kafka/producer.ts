import { compatibilityPartitioner, NumericMap } from '@platformatic/kafka'
import type { OutgoingMessage } from '../types.ts'
import { AnswerError, protocolErrorCodes as codes } from './errors.ts'
import { type ClusterOptions, openWire, type TopicMetadata, type Wire } from './wire.ts'

/** What became of each message: undefined when every replica in sync has it. */
export type Outcomes = readonly (Error | undefined)[]

export type Producer = {
  /** Sends, again and again while the cluster may still take it, until `timeoutMs` is over. One call at a time. */
  readonly send: (messages: readonly OutgoingMessage[]) => Promise<Outcomes>
  readonly close: () => Promise<void>
}

/** The messages of one partition. Its numbers let the broker know a repetition, whichever broker leads by then. */
type Batch = {
  readonly topic: string
  readonly partition: number
  readonly messages: readonly OutgoingMessage[]
  /** Place of each in what was asked. */
  readonly places: readonly number[]
  firstSequence: number
}
type Identity = { readonly producerId: bigint; readonly producerEpoch: number }
/** By place: what ended. */
type Ended = Map<number, Error | undefined>

const allReplicas = -1
const retryFirstMs = 50
const retryMaxMs = 1_000
/** Numbers of a partition go up to here; then the producer takes another identity. */
const sequenceMax = 0x7fff_ffff

const stored: ReadonlySet<number> = new Set([0, codes.duplicateSequenceNumber])
/** The broker knows this producer no more, or lacks what came before. */
const forgotten: ReadonlySet<number> = new Set([
  codes.outOfOrderSequenceNumber,
  codes.invalidProducerEpoch,
  codes.unknownProducerId,
])
const passing: ReadonlySet<number> = new Set([
  codes.unknownServerError,
  codes.unknownTopicOrPartition,
  codes.leaderNotAvailable,
  codes.notLeaderOrFollower,
  codes.requestTimedOut,
  codes.networkException,
  codes.notEnoughReplicas,
  codes.notEnoughReplicasAfterAppend,
  codes.storageError,
  codes.unknownTopicId,
])

/** An idempotent producer that waits for all replicas in sync (acks=all). */
export const openProducer = (cluster: ClusterOptions, timeoutMs: number): Producer => {
  const wire = openWire(cluster)
  const sequences = new Map<string, number>()
  let identity: Identity | undefined
  let isClosed = false

  /** Gives each batch its numbers, under an identity whose numbers have not run out. */
  const number = async (batches: readonly Batch[]): Promise<Identity> => {
    const isSpent = [...sequences.values()].some((next) => next > sequenceMax - 1_000_000)
    if (identity === undefined || isSpent) {
      identity = await newIdentity(wire)
      sequences.clear()
    }
    for (const batch of batches) {
      const key = `${batch.topic}:${batch.partition}`
      batch.firstSequence = sequences.get(key) ?? 0
      sequences.set(key, batch.firstSequence + batch.messages.length)
    }
    return identity
  }

  const send = async (messages: readonly OutgoingMessage[]): Promise<Outcomes> => {
    const endMs = performance.now() + timeoutMs
    const ended: Ended = new Map()
    let batches: readonly Batch[] | undefined
    let numbered: Identity | undefined
    let last: unknown
    for (let attempt = 1; performance.now() < endMs && !isClosed; attempt++) {
      try {
        batches ??= await batchesOf(wire, messages)
        numbered ??= await number(batches)
        const answer = await sendBatches(wire, batches, numbered, attempt > 1)
        for (const [place, outcome] of answer.ended) ended.set(place, outcome)
        batches = answer.again
        if (batches.length === 0) break
        last = answer.error
        if (answer.isForgotten) {
          identity = undefined
          numbered = undefined
        }
      } catch (error) {
        last = error
      }
      await Bun.sleep(Math.min(retryMaxMs, retryFirstMs * 2 ** (attempt - 1)))
    }
    const outcomes = messages.map((_, place) =>
      ended.has(place) ? ended.get(place) : asError(last),
    )
    // A number that was not used, or of which that is not known, may not be followed by another.
    if (outcomes.some((outcome) => outcome !== undefined)) identity = undefined
    return outcomes
  }
  return {
    send,
    close: async () => {
      isClosed = true
      await wire.close()
    },
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('Kafka does not answer')

const newIdentity = async (wire: Wire): Promise<Identity> => {
  const connection = await wire.onAny()
  const { producerId, producerEpoch } = await wire.call(connection, 'InitProducerId', null, 0)
  return { producerId, producerEpoch }
}

let turn = 0

/** The same partition as Kafka's own clients choose for a key; without a key each in turn. */
const partitionOf = ({ topic, key }: OutgoingMessage, partitionCount: number): number =>
  (key === undefined ? turn++ : compatibilityPartitioner({ topic }, Buffer.from(key))) %
  partitionCount

const batchesOf = async (
  wire: Wire,
  messages: readonly OutgoingMessage[],
): Promise<readonly Batch[]> => {
  const known = new Map<string, TopicMetadata>()
  for (const topic of new Set(messages.map((message) => message.topic))) {
    known.set(topic, await topicOf(wire, topic, false))
  }
  const batches = new Map<string, { messages: OutgoingMessage[]; places: number[] } & Batch>()
  for (const [place, message] of messages.entries()) {
    const { topic } = message
    const partition = partitionOf(message, known.get(topic)?.leaders.length ?? 1)
    const key = `${topic}:${partition}`
    const batch = batches.get(key) ?? {
      ...{ topic, partition, firstSequence: 0 },
      messages: [],
      places: [],
    }
    batch.messages.push(message)
    batch.places.push(place)
    batches.set(key, batch)
  }
  return [...batches.values()]
}

const topicOf = async (wire: Wire, name: string, isAnew: boolean): Promise<TopicMetadata> => {
  const known = await wire.topic(name, isAnew ? 0 : undefined)
  if (known === undefined) throw new AnswerError(codes.unknownTopicOrPartition, name)
  return known
}

type Answer = {
  readonly ended: Ended
  readonly again: readonly Batch[]
  readonly isForgotten: boolean
  readonly error: unknown
}

/** One request to each broker that leads some of the partitions. */
const sendBatches = async (
  wire: Wire,
  batches: readonly Batch[],
  identity: Identity,
  isAnew: boolean,
): Promise<Answer> => {
  const byLeader = new Map<number, Batch[]>()
  for (const batch of batches) {
    const { leaders } = await topicOf(wire, batch.topic, isAnew)
    const leader = leaders[batch.partition] ?? -1
    byLeader.set(leader, [...(byLeader.get(leader) ?? []), batch])
  }
  const answers = await Promise.all(
    [...byLeader].map(async ([leader, led]) => {
      try {
        return judge(led, await request(wire, leader, led, identity))
      } catch (error) {
        return { ended: new Map(), again: led, isForgotten: false, error }
      }
    }),
  )
  return {
    ended: new Map(answers.flatMap(({ ended }) => [...ended])),
    again: answers.flatMap(({ again }) => again),
    isForgotten: answers.some(({ isForgotten }) => isForgotten),
    error: answers.find(({ error }) => error !== undefined)?.error,
  }
}

/** @returns the broker's codes, by topic and partition */
const request = async (
  wire: Wire,
  leader: number,
  batches: readonly Batch[],
  { producerId, producerEpoch }: Identity,
): Promise<ReadonlyMap<string, number>> => {
  const sequences = new NumericMap()
  const records = batches.flatMap(({ topic, partition, messages, firstSequence }) => {
    sequences.set(`${topic}:${partition}`, firstSequence)
    return messages.map((message) => ({ ...recordOf(message), partition }))
  })
  const connection = await wire.onBroker(leader)
  const options = { producerId, producerEpoch, sequences }
  const answer: unknown = await wire
    .call(connection, 'Produce', allReplicas, ackTimeoutMs, records, options)
    // One partition's error is thrown with what the others have answered.
    .catch((error: unknown) => {
      if (error instanceof Error && 'response' in error) return error.response
      throw error
    })
  const { responses } = answer as { readonly responses: readonly ProducedTopic[] }
  return new Map(
    responses.flatMap(({ name, partitionResponses }) =>
      partitionResponses.map(({ index, errorCode }) => [`${name}:${index}`, errorCode] as const),
    ),
  )
}

type ProducedTopic = {
  readonly name: string
  readonly partitionResponses: readonly { readonly index: number; readonly errorCode: number }[]
}

/** How long a broker waits for the other replicas; it says so when they do not come. */
const ackTimeoutMs = 8_000

const judge = (batches: readonly Batch[], answered: ReadonlyMap<string, number>): Answer => {
  const ended: Ended = new Map()
  const again: Batch[] = []
  let isForgotten = false
  let error: unknown
  for (const batch of batches) {
    const { topic, partition, places } = batch
    const code = answered.get(`${topic}:${partition}`) ?? codes.unknownServerError
    if (stored.has(code)) {
      for (const place of places) ended.set(place, undefined)
      continue
    }
    error = new AnswerError(code, `${topic}, partition ${partition}`)
    if (forgotten.has(code)) isForgotten = true
    if (forgotten.has(code) || passing.has(code)) again.push(batch)
    else for (const place of places) ended.set(place, asError(error))
  }
  return { ended, again, isForgotten, error }
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
