import type { Admin } from '@platformatic/kafka'
import type { Logger } from '#src/platform/observe/index.ts'
import { shownOffset } from '../observe.ts'
import type { Delivery } from '../types.ts'
import { listOffsets } from './backlog.ts'
import type { UnreadBatch } from './batches.ts'
import { type ClusterOptions, closeClient, fetchOnce, openClient, topicOf } from './client.ts'
import { plainError } from './errors.ts'
import type { FetchedPartition } from './fetch-answer.ts'
import { recordBytesOf } from './sizes.ts'

/** A partition that this member reads, with the messages that it has read and not yet handed out. */
export type Lease = {
  readonly partition: number
  /** Where the group goes on: behind the last settled message. */
  position: bigint
  /** Next offset to ask for. */
  fetchFrom: bigint
  readonly ready: Delivery[]
  readyBytes: number
  /** When an answer last brought something of it, by the clock of the process. */
  broughtAtMs: number
}

export const newLease = (partition: number, position: bigint): Lease => ({
  partition,
  position,
  fetchFrom: position,
  ready: [],
  readyBytes: 0,
  broughtAtMs: 0,
})

/** We read no further from a partition with so much waiting to be handed out. A larger message is read alone. */
const partitionBytesMax = 1024 * 1024
/** The bytes of one answer of a broker, for all partitions that it leads. */
const responseBytesMax = 4 * 1024 * 1024
/** How long a broker with nothing new keeps the request. */
const longPollMs = 250
const retryAfterMs = 250
const isControlBatch = 0x20
const offsetOutOfRange = 1
/** Stands, among the brokers that did not answer, for the question who leads a partition. */
const anyBroker = -1

export type FetcherDeps = {
  readonly cluster: ClusterOptions
  readonly control: Admin
  readonly topic: string
  /** The partitions to read from. */
  readonly leases: () => readonly Lease[]
  readonly isOwned: (lease: Lease) => boolean
  readonly onNews: () => void
  readonly logger: Logger
}

export type Fetcher = {
  /** Call it when the leases have changed, or one has room again. */
  readonly look: () => void
  readonly stop: () => Promise<void>
}

/**
 * Reads ahead a little: keeps one request waiting at each broker that leads a partition of ours with room, so that
 * published messages come at once.
 */
export const createFetcher = (deps: FetcherDeps): Fetcher => {
  const { cluster, topic, logger } = deps
  // A client of its own, because a request waits at the broker until there is something to read.
  const client = openClient(cluster)
  const waiting = new Map<number, Promise<void>>()
  const stopping = new AbortController()
  let looking: Promise<void> | undefined
  let isWanted = false
  /** Brokers that did not answer the last time. */
  const away = new Set<number>()
  let isStale = false

  const lookOnce = async (): Promise<void> => {
    const known = await topicOf(client, topic, { isAnew: isStale })
    isStale = false
    answered(anyBroker)
    if (known === undefined) throw new Error(`topic ${topic} is not there`)
    // The leases that brought messages last go last: unreadable batches may take all the room of an answer.
    const withRoom = deps
      .leases()
      .filter(({ readyBytes }) => readyBytes < partitionBytesMax)
      .toSorted((a, b) => a.broughtAtMs - b.broughtAtMs)
    const byLeader = Map.groupBy(
      withRoom,
      ({ partition }) => known.partitions[partition]?.leader ?? anyBroker,
    )
    for (const [leader, leases] of byLeader) {
      if (waiting.has(leader) || stopping.signal.aborted) continue
      waiting.set(leader, readFrom(leader, known.id, leases))
    }
  }
  const readFrom = async (leader: number, topicId: string, leases: readonly Lease[]) => {
    try {
      const from = leases.map(({ partition, fetchFrom: offset }) => ({ partition, offset }))
      const limits = { waitMs: longPollMs, partitionBytesMax, responseBytesMax }
      const answers = await fetchOnce(client, { leader, topicId, from, ...limits })
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
        await failed(anyBroker, error)
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
      await closeClient(client)
      await looking
      await Promise.all(waiting.values())
    },
  }
}

/** @returns true when we must look for a partition at another broker */
const take = async (
  answers: readonly FetchedPartition[],
  leases: readonly Lease[],
  deps: FetcherDeps,
): Promise<boolean> => {
  let isStale = false
  let isNews = false
  for (const { partitionIndex, errorCode, batches } of answers) {
    const lease = leases.find(({ partition }) => partition === partitionIndex)
    if (lease === undefined || !deps.isOwned(lease)) continue
    if (errorCode === offsetOutOfRange) await begin(lease, deps)
    else if (errorCode !== 0) isStale = true
    if (batches.length > 0) lease.broughtAtMs = performance.now()
    for (const batch of batches) isNews = append(lease, batch, deps.topic) || isNews
  }
  if (isNews) deps.onNews()
  return isStale
}

/** Goes on reading at the first message there is. */
const begin = async (lease: Lease, { control, topic, logger }: FetcherDeps): Promise<void> => {
  const { partition } = lease
  const first = (await listOffsets(control, topic, [partition], 'earliest')).get(partition)
  if (first === undefined) return
  const from = shownOffset(lease.fetchFrom)
  logger.error(
    { topic, partition, from, to: shownOffset(first) },
    'Kafka has deleted unread messages',
  )
  lease.fetchFrom = first
}

type Batch = FetchedPartition['batches'][number]

const keep = (lease: Lease, delivery: Delivery): void => {
  lease.ready.push(delivery)
  lease.readyBytes += recordBytesOf(delivery)
}

/** Adds a batch, which may begin before the offset we asked for. Returns true when it held something new. */
const append = (lease: Lease, batch: Batch, topic: string): boolean => {
  if ('failure' in batch) return appendUnread(lease, batch, topic)
  const { firstOffset, firstTimestamp } = batch
  let isNews = false
  for (const record of (batch.attributes & isControlBatch) === 0 ? batch.records : []) {
    const offset = firstOffset + BigInt(record.offsetDelta)
    if (offset < lease.fetchFrom) continue
    const value = record.value ?? new Uint8Array(0)
    const delivery: Delivery = {
      topic,
      partition: lease.partition,
      offset,
      key: record.key?.toString('utf8'),
      value,
      headers: Object.fromEntries(
        record.headers.map(([name, text]) => [name?.toString() ?? '', text?.toString() ?? '']),
      ),
      publishedAt: new Date(Number(firstTimestamp + record.timestampDelta)),
      attempt: 1,
    }
    keep(lease, delivery)
    isNews = true
  }
  const next = firstOffset + BigInt(batch.lastOffsetDelta) + 1n
  if (next > lease.fetchFrom) lease.fetchFrom = next
  return isNews
}

/** Treats an unreadable batch as one message: its bytes go to `dlq`, and the messages behind it go on. */
const appendUnread = (
  lease: Lease,
  { failure, bytes, lastOffset, publishedAt }: UnreadBatch,
  topic: string,
): boolean => {
  if (lastOffset < lease.fetchFrom) return false
  const delivery: Delivery = {
    topic,
    partition: lease.partition,
    offset: lastOffset,
    key: undefined,
    value: bytes,
    headers: {},
    publishedAt,
    attempt: 1,
    failure,
  }
  keep(lease, delivery)
  lease.fetchFrom = lastOffset + 1n
  return true
}
