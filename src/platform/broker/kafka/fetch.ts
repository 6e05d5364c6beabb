import type { fetchV17 } from '@platformatic/kafka'
import type { Logger } from '#src/platform/observe/index.ts'
import type { Delivery } from '../types.ts'
import { protocolErrorCodes as codes, plainError } from './errors.ts'
import type { Lease } from './lease.ts'
import { earliest, listOffsets } from './offsets.ts'
import type { Wire } from './wire.ts'

/** A partition with so much waiting to be handed out is read no further. A larger message is read alone. */
export const partitionBytesMax = 1024 * 1024
/** One answer of a broker, for all partitions it leads. */
export const responseBytesMax = 4 * 1024 * 1024
/** How long a broker that has nothing keeps the request. */
const longPollMs = 250
const retryAfterMs = 250
const isControlBatch = 0x20

export type FetcherDeps = {
  /** Of its own: a request waits at the broker until there is something to read. */
  readonly wire: Wire
  readonly topic: string
  /** Those to be read from. */
  readonly leases: () => readonly Lease[]
  readonly isOwned: (lease: Lease) => boolean
  readonly onNews: () => void
  readonly logger: Logger
}

export type Fetcher = {
  /** To be called when there are other leases, or room in one. */
  readonly look: () => void
  readonly stop: () => Promise<void>
}

/**
 * Reads ahead a little: keeps one request waiting at each broker that leads a partition of ours with room, so that what
 * is published comes at once.
 */
export const createFetcher = (deps: FetcherDeps): Fetcher => {
  const { wire, topic, logger } = deps
  const waiting = new Map<number, Promise<void>>()
  const stopping = new AbortController()
  let looking: Promise<void> | undefined
  let isWanted = false
  /** Brokers that did not answer when they were last asked; -1 for the question who leads. */
  const away = new Set<number>()
  let isStale = false

  const lookOnce = async (): Promise<void> => {
    const known = await wire.topic(topic, isStale ? 0 : undefined)
    isStale = false
    answered(-1)
    if (known === undefined) throw new Error(`topic ${topic} is not there`)
    const byLeader = new Map<number, Lease[]>()
    for (const lease of deps.leases()) {
      if (lease.readyBytes >= partitionBytesMax) continue
      const leader = known.leaders[lease.partition] ?? -1
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), lease])
    }
    for (const [leader, leases] of byLeader) {
      if (waiting.has(leader) || stopping.signal.aborted) continue
      const reading = readFrom(leader, known.id, leases)
      waiting.set(leader, reading)
    }
  }
  const readFrom = async (leader: number, topicId: string, leases: readonly Lease[]) => {
    try {
      const answers = await request(wire, leader, topicId, leases)
      answered(leader)
      if (await take(answers, leases, deps)) {
        isStale = true
        await Bun.sleep(retryAfterMs)
      }
    } catch (error) {
      await failed(leader, error)
    }
    waiting.delete(leader)
    look()
  }
  const answered = (leader: number): void => {
    if (away.delete(leader)) logger.info({ topic, broker: leader }, 'Kafka can be read again')
  }
  const failed = async (broker: number, error: unknown): Promise<void> => {
    if (stopping.signal.aborted) return
    if (!away.has(broker)) {
      logger.warn({ topic, broker, err: plainError(error) }, 'Kafka cannot be read')
    }
    away.add(broker)
    isStale = true
    await Bun.sleep(retryAfterMs)
  }
  const lookWhileWanted = async (): Promise<void> => {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false
      try {
        await lookOnce()
      } catch (error) {
        isWanted = true
        await failed(-1, error)
      }
    }
    looking = undefined
  }
  const look = (): void => {
    isWanted = true
    if (!stopping.signal.aborted) looking ??= lookWhileWanted()
  }
  return {
    look,
    stop: async () => {
      stopping.abort()
      await wire.close()
      await looking
      await Promise.all(waiting.values())
    },
  }
}

type Partitions = readonly fetchV17.FetchResponsePartition[]

const request = async (
  wire: Wire,
  leader: number,
  topicId: string,
  leases: readonly Lease[],
): Promise<Partitions> => {
  const partitions = leases.map(({ partition, fetchFrom }) => ({
    partition,
    currentLeaderEpoch: -1,
    fetchOffset: fetchFrom,
    lastFetchedEpoch: -1,
    partitionMaxBytes: partitionBytesMax,
  }))
  const connection = await wire.onBroker(leader)
  try {
    const { responses } = await wire.call(
      connection,
      'Fetch',
      longPollMs,
      1,
      responseBytesMax,
      0,
      0,
      -1,
      [{ topicId, partitions }],
      [],
      '',
    )
    return responses.flatMap((one) => one.partitions)
  } catch (error) {
    // One partition's error is thrown with all that the others have answered.
    const answered = responseOf(error)
    if (answered === undefined) throw error
    return answered
  }
}

const responseOf = (error: unknown): Partitions | undefined => {
  if (typeof error !== 'object' || error === null || !('response' in error)) return undefined
  const { responses } = error.response as Partial<fetchV17.FetchResponse>
  const partitions = responses?.flatMap((one) => one.partitions) ?? []
  return partitions.length === 0 ? undefined : partitions
}

/** @returns true when a partition has to be looked for at another broker */
const take = async (
  answers: Partitions,
  leases: readonly Lease[],
  deps: FetcherDeps,
): Promise<boolean> => {
  let isStale = false
  let isNews = false
  for (const { partitionIndex, errorCode, records } of answers) {
    const lease = leases.find(({ partition }) => partition === partitionIndex)
    if (lease === undefined || !deps.isOwned(lease)) continue
    if (errorCode === codes.offsetOutOfRange) await begin(lease, deps)
    else if (errorCode !== 0) isStale = true
    for (const batch of records ?? []) {
      isNews = append(lease, batch, deps.topic) || isNews
    }
  }
  if (isNews) deps.onNews()
  return isStale
}

/** Reads on at the first message there is. */
const begin = async (lease: Lease, { wire, topic, logger }: FetcherDeps): Promise<void> => {
  const { partition } = lease
  const first = (await listOffsets(wire, topic, [partition], earliest)).get(partition)
  if (first === undefined) return
  const from = String(lease.fetchFrom)
  logger.error({ topic, partition, from, to: String(first) }, 'Kafka has deleted unread messages')
  lease.fetchFrom = first
}

type Batch = NonNullable<fetchV17.FetchResponsePartition['records']>[number]

/** A batch may begin before the offset that was asked for. True when there was something new in it. */
const append = (lease: Lease, batch: Batch, topic: string): boolean => {
  const { firstOffset, firstTimestamp } = batch
  let isNews = false
  for (const record of (batch.attributes & isControlBatch) === 0 ? batch.records : []) {
    const offset = firstOffset + BigInt(record.offsetDelta)
    if (offset < lease.fetchFrom) continue
    const delivery = deliveryOf(topic, lease.partition, offset, firstTimestamp, record)
    lease.ready.push(delivery)
    lease.readyBytes += delivery.value.length
    isNews = true
  }
  const next = firstOffset + BigInt(batch.lastOffsetDelta) + 1n
  if (next > lease.fetchFrom) lease.fetchFrom = next
  return isNews
}

const deliveryOf = (
  topic: string,
  partition: number,
  offset: bigint,
  firstTimestamp: bigint,
  record: Batch['records'][number],
): Delivery => ({
  topic,
  partition,
  offset,
  key: record.key?.toString('utf8'),
  value: record.value ?? new Uint8Array(0),
  headers: Object.fromEntries(
    record.headers.map(([name, value]) => [name?.toString() ?? '', value?.toString() ?? '']),
  ),
  publishedAt: new Date(Number(firstTimestamp + record.timestampDelta)),
  attempt: 1,
})
