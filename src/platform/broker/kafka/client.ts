import {
  Base,
  type BaseOptions,
  type ClusterTopicMetadata,
  type Connection,
} from '@platformatic/kafka'
import { type FetchedPartition, fetchApi } from './fetch-answer.ts'

/** How to reach the cluster; the same for every connection of the process. */
export type ClusterOptions = Pick<BaseOptions, 'tls' | 'sasl'> & {
  /** `host:port` of some brokers; they name the others. */
  readonly addresses: readonly string[]
  readonly clientId: string
}

const connectTimeoutMs = 3_000
const requestTimeoutMs = 10_000
const metadataMaxAgeMs = 60_000
const retryAfterMs = 50

/**
 * The options of every client of the library. Each client has its own connection to each broker. A broker answers the
 * requests of one connection in turn, so whatever waits at the broker (reading, joining a group) needs a client of
 * its own.
 */
export const clientOptions = (
  { addresses, clientId, tls, sasl }: ClusterOptions,
  timeoutMs = requestTimeoutMs,
): BaseOptions => ({
  clientId,
  // The library asks the first broker that takes a connection: a silent one must not stop every client.
  bootstrapBrokers: addresses.toSorted(() => Math.random() - 0.5),
  connectTimeout: connectTimeoutMs,
  requestTimeout: timeoutMs,
  metadataMaxAge: metadataMaxAgeMs,
  autocreateTopics: false,
  retries: 0,
  retryDelay: retryAfterMs,
  ...(tls === undefined ? {} : { tls }),
  ...(sasl === undefined ? {} : { sasl }),
})

/** A client that does only what it is told, and nothing by itself. */
export const openClient = (cluster: ClusterOptions, timeoutMs?: number): Base =>
  new Base(clientOptions(cluster, timeoutMs))

type Client = Pick<Base, 'close' | 'connections' | 'connectToBrokers' | 'metadata'>

/** Closes without waiting for a broker that does not say goodbye. Open requests fail. */
export const closeClient = async (client: Client): Promise<void> => {
  const connections = [...client.connections].map(([, connection]) => connection)
  const closed = client.close()
  for (const { socket } of connections) socket?.destroy()
  await closed
}

/** @returns undefined when the topic is not there */
export const topicOf = async (
  client: Client,
  name: string,
  { isAnew = false } = {},
): Promise<ClusterTopicMetadata | undefined> => {
  try {
    // The second attempt asks another broker.
    const { topics } = await client.metadata({ topics: [name], forceUpdate: isAnew, retries: 1 })
    return topics.get(name)
  } catch (error) {
    // The library reports it in words of its own.
    if (error instanceof Error && error.message.startsWith('Unknown topic ')) return undefined
    throw error
  }
}

/** @throws Error when the cluster does not have this broker, or it cannot be reached */
export const connectionTo = async (client: Client, broker: number): Promise<Connection> => {
  const connection = (await client.connectToBrokers([broker])).get(broker)
  if (connection === undefined) throw new Error(`broker ${broker} is not in the cluster`)
  return connection
}

export type FetchRequest = {
  /** Broker that leads the partitions. */
  readonly leader: number
  readonly topicId: string
  readonly from: readonly { readonly partition: number; readonly offset: bigint }[]
  /** How long a broker with nothing new keeps the request. */
  readonly waitMs: number
  readonly partitionBytesMax: number
  readonly responseBytesMax: number
}

/** Reads once from a broker. Every broker from Kafka 3.5 on knows this version of the request. */
export const fetchOnce = async (
  client: Client,
  { leader, topicId, from, waitMs, partitionBytesMax, responseBytesMax }: FetchRequest,
): Promise<readonly FetchedPartition[]> => {
  const partitions = from.map(({ partition, offset }) => ({
    partition,
    currentLeaderEpoch: -1,
    fetchOffset: offset,
    lastFetchedEpoch: -1,
    partitionMaxBytes: partitionBytesMax,
  }))
  const connection = await connectionTo(client, leader)
  const topics = [{ topicId, partitions }]
  // Epoch -1 means a request without a session at the broker.
  const limits = [waitMs, 1, responseBytesMax, 0, 0, -1] as const
  return fetchApi.async(connection, ...limits, topics, [], '')
}

/**
 * Returns a broker's whole answer, which the library wraps in an error when one of its partitions has one.
 *
 * @throws the error if it comes from elsewhere
 */
export const answerOf = <T>(error: unknown): T => {
  if (error instanceof Error && 'response' in error && error.response) return error.response as T
  throw error
}
