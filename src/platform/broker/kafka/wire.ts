import {
  type API,
  Base,
  type BaseOptions,
  type Connection,
  FindCoordinatorKeyTypes,
  type fetchV17,
  type findCoordinatorV6,
  type heartbeatV4,
  type initProducerIdV5,
  type joinGroupV9,
  kGetApi,
  kGetBootstrapConnection,
  kGetConnection,
  type leaveGroupV5,
  type listOffsetsV9,
  type offsetCommitV9,
  type offsetFetchV9,
  type produceV11,
  type syncGroupV5,
} from '@platformatic/kafka'
import { hasProtocolError, protocolErrorCodes } from './errors.ts'

/** The requests in use. The library takes the same fields in every version and sends the newest the broker knows. */
type Apis = {
  InitProducerId: typeof initProducerIdV5.api
  Produce: typeof produceV11.api
  FindCoordinator: typeof findCoordinatorV6.api
  JoinGroup: typeof joinGroupV9.api
  SyncGroup: typeof syncGroupV5.api
  Heartbeat: typeof heartbeatV4.api
  LeaveGroup: typeof leaveGroupV5.api
  OffsetFetch: typeof offsetFetchV9.api
  OffsetCommit: typeof offsetCommitV9.api
  ListOffsets: typeof listOffsetsV9.api
  Fetch: typeof fetchV17.api
}

type RequestOf<T> = T extends API<infer Request, infer _> ? Request : never
type ResponseOf<T> = T extends API<infer _, infer Response> ? Response : never

/** How to reach the cluster; the same for every connection of the process. */
export type ClusterOptions = Pick<BaseOptions, 'tls' | 'sasl'> & {
  /** `host:port` of some brokers; the others are learned from them. */
  readonly addresses: readonly string[]
  readonly clientId: string
}

export type TopicMetadata = {
  readonly id: string
  /** Broker that leads each partition, by partition number. */
  readonly leaders: readonly number[]
}

/**
 * A set of connections, one to each broker. A broker answers the requests of one connection in turn, so whatever waits
 * at the broker (reading, joining a group) needs a wire of its own.
 */
export type Wire = {
  /** Any broker that can be reached. */
  onAny(): Promise<Connection>
  /** Connects when there is no connection yet. */
  onBroker(id: number): Promise<Connection>
  /** The broker that keeps a group's members and positions; asked once. */
  onCoordinator(groupId: string): Promise<Connection>
  forgetCoordinator(groupId: string): void
  call<N extends keyof Apis>(
    connection: Connection,
    name: N,
    ...request: RequestOf<Apis[N]>
  ): Promise<ResponseOf<Apis[N]>>
  /** Undefined when the topic is not there. `maxAgeMs` 0: asked anew. */
  topic(name: string, maxAgeMs?: number): Promise<TopicMetadata | undefined>
  /** Resolves when a broker answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

const connectTimeoutMs = 3_000
const requestTimeoutMs = 10_000
const metadataMaxAgeMs = 60_000

/** What every client of the library is opened with. */
export const clientOptions = (
  { addresses, clientId, tls, sasl }: ClusterOptions,
  timeoutMs = requestTimeoutMs,
): BaseOptions => ({
  clientId,
  bootstrapBrokers: [...addresses],
  connectTimeout: connectTimeoutMs,
  requestTimeout: timeoutMs,
  metadataMaxAge: metadataMaxAgeMs,
  autocreateTopics: false,
  retries: 0,
  ...(tls === undefined ? {} : { tls }),
  ...(sasl === undefined ? {} : { sasl }),
})

export const openWire = (options: ClusterOptions, timeoutMs = requestTimeoutMs): Wire => {
  const base = new Base(clientOptions(options, timeoutMs))
  const coordinators = new Map<string, number>()

  const onAny = (): Promise<Connection> =>
    answered((done) => base[kGetBootstrapConnection](done, Math.floor(Math.random() * 1000)))

  const onBroker = async (id: number): Promise<Connection> => {
    const known = base.currentMetadata?.brokers.get(id)
    const broker = known ?? (await base.metadata({ topics: [], forceUpdate: true })).brokers.get(id)
    if (broker === undefined) throw new Error(`broker ${id} is not in the cluster`)
    return answered((done) => base[kGetConnection](broker, done))
  }

  const call: Wire['call'] = async <N extends keyof Apis>(
    connection: Connection,
    name: N,
    ...request: RequestOf<Apis[N]>
  ): Promise<ResponseOf<Apis[N]>> => {
    type Chosen = API<RequestOf<Apis[N]>, ResponseOf<Apis[N]>>
    const api = await answered<Chosen>((done) => base[kGetApi](name, done))
    return api.async(connection, ...request)
  }

  const findCoordinator = async (groupId: string): Promise<number> => {
    const known = coordinators.get(groupId)
    if (known !== undefined) return known
    const { coordinators: found } = await call(
      await onAny(),
      'FindCoordinator',
      FindCoordinatorKeyTypes.GROUP,
      [groupId],
    )
    const [coordinator] = found
    if (coordinator === undefined) throw new Error(`no coordinator for group ${groupId}`)
    coordinators.set(groupId, coordinator.nodeId)
    return coordinator.nodeId
  }

  return {
    onAny,
    onBroker,
    onCoordinator: async (groupId) => onBroker(await findCoordinator(groupId)),
    forgetCoordinator: (groupId) => {
      coordinators.delete(groupId)
      // Its address may have changed, too.
      base.clearMetadata()
    },
    call,
    topic: async (name, maxAgeMs = metadataMaxAgeMs) => {
      const forceUpdate = maxAgeMs === 0
      try {
        const { topics } = await base.metadata({
          topics: [name],
          forceUpdate,
          ...(forceUpdate ? {} : { metadataMaxAge: maxAgeMs }),
        })
        const found = topics.get(name)
        return found && { id: found.id, leaders: found.partitions.map(({ leader }) => leader) }
      } catch (error) {
        if (isUnknownTopic(error)) return undefined
        throw error
      }
    },
    ping: async () => {
      await base.metadata({ topics: [], forceUpdate: true })
    },
    close: () => closeClient(base),
  }
}

/** Without waiting for a broker that does not say goodbye. What is still asked fails. */
export const closeClient = async (client: Pick<Base, 'close' | 'connections'>): Promise<void> => {
  const connections = [...client.connections].map(([, connection]) => connection)
  const closed = client.close()
  for (const { socket } of connections) socket?.destroy()
  await closed
}

/** The library reports it in words of its own. */
const isUnknownTopic = (error: unknown): boolean =>
  hasProtocolError(error, protocolErrorCodes.unknownTopicOrPartition) ||
  (error instanceof Error && error.message.startsWith('Unknown topic '))

const answered = <T>(ask: (done: (error: Error | null, answer?: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    ask((error, answer) => {
      if (error === null && answer !== undefined) resolve(answer)
      else reject(error ?? new Error('no answer'))
    })
  })
