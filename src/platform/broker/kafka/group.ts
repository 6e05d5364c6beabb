import {
  type Admin,
  Consumer,
  findErrorBy,
  type GroupPartitionsAssigner,
} from '@platformatic/kafka'
import type { Logger } from '#src/platform/observe/index.ts'
import { createOutageLog } from '#src/platform/observe/index.ts'
import { inTime, pause } from '#src/platform/runtime/index.ts'
import { assignPartitions } from './assign.ts'
import { type ClusterOptions, clientOptions, closeClient, topicOf } from './client.ts'
import { plainError } from './errors.ts'

/** The group considers a member dead after this silence and moves its partitions: the least that Kafka allows. */
export const sessionTimeoutDefaultMs = 6_000
/** How long members have to join again when one comes or goes. They do so at their next heartbeat. */
const rebalanceTimeoutMs = 30_000
/** The join waits for the other members, and a little for the network. */
const joinTimeoutMs = rebalanceTimeoutMs + 5_000
const heartbeatEveryMs = 1_000
const retryEveryMs = 500
const leaveTimeoutMs = 2_000

type Position = { readonly partition: number; readonly position: bigint }

export type MembershipDeps = {
  readonly cluster: ClusterOptions
  /** Carries no other requests, so the goodbye gets through. */
  readonly control: Admin
  readonly groupId: string
  readonly topic: string
  readonly sessionTimeoutMs: number
  readonly ensureTopic: () => Promise<void>
  /** Partitions that this member reads or must still give back; first those that it would rather keep. */
  readonly owned: () => readonly number[]
  /** The partitions that the member may read from now on, while `isCurrent`; it must give back all others. */
  readonly onAssigned: (partitions: readonly number[], isCurrent: () => boolean) => Promise<void>
  /** The group has given the member up: it owns nothing any more. */
  readonly onLost: () => void
  readonly logger: Logger
}

export type Membership = {
  /** Writes positions. The generation shuts out a member that the group has given up. */
  readonly commit: (positions: readonly Position[]) => Promise<void>
  /** Asks the group to share again, because this member owns other partitions now. */
  readonly rejoin: () => void
  readonly leave: () => Promise<void>
}

type State = MembershipDeps & {
  consumer: Consumer | undefined
  isJoinDue: boolean
  /** The library is joining, and sends no heartbeats meanwhile. */
  isJoining: boolean
  /** Grows when the group asks for or gives another assignment. */
  round: number
  /** When the group last heard of this member. */
  heardMs: number
  /** Leaders only: the number of partitions that they have shared. */
  sharedPartitions: number | undefined
  /** Aborted when something must be done before the next turn. */
  nap: AbortController
  readonly leaving: AbortController
  readonly outage: ReturnType<typeof createOutageLog>
}

/**
 * Keeps one member in its group until it leaves. The library's consumer joins, sends heartbeats and joins again, and
 * the members share the partitions by {@link assignPartitions}. The library's way to read (`consume`) is not used: it
 * gives a partition away in the middle of a batch, and one partition that waits stops the others (test `a partition is
 * not given away in the middle of a batch, and the others are`).
 */
export const keepMembership = (deps: MembershipDeps): Membership => {
  const { control, groupId, topic, logger } = deps
  const state: State = {
    ...deps,
    consumer: undefined,
    isJoinDue: true,
    isJoining: false,
    round: 0,
    heardMs: performance.now(),
    sharedPartitions: undefined,
    nap: new AbortController(),
    leaving: new AbortController(),
    outage: createOutageLog(logger, {
      level: 'warn',
      away: 'the group cannot be reached',
      back: 'Kafka answers again',
      about: { topic, group: groupId },
    }),
  }
  void run(state)
  return {
    commit: async (positions) => {
      const { consumer } = state
      if (!consumer?.memberId) throw new Error('not a member of the group at present')
      const offsets = positions.map(({ partition, position }) => ({
        topic,
        partition,
        leaderEpoch: -1,
        offset: position,
      }))
      await consumer.commit({ offsets })
    },
    rejoin: () => {
      state.isJoinDue = true
      state.nap.abort()
    },
    leave: async () => {
      state.leaving.abort()
      state.nap.abort()
      const memberId = state.consumer?.memberId
      if (memberId) {
        // Best effort: the group misses a member that cannot say goodbye after its session.
        const members = [{ memberId, reason: 'stopped' }]
        const asked = control.removeMembersFromConsumerGroup({ groupId, members })
        await inTime(asked, leaveTimeoutMs).catch((error: unknown) => {
          logger.debug({ group: groupId, err: plainError(error) }, 'a group could not be left')
        })
      }
      if (state.consumer !== undefined) await closeClient(state.consumer)
    },
  }
}

const run = async (state: State): Promise<void> => {
  while (!state.leaving.signal.aborted) {
    let waitMs = heartbeatEveryMs
    try {
      await step(state)
    } catch (error) {
      waitMs = retryEveryMs
      notJoined(state, error)
    }
    await pause(waitMs, state.nap.signal)
    state.nap = new AbortController()
  }
}

const step = async (state: State): Promise<void> => {
  const { topic, sessionTimeoutMs } = state
  if (
    !state.isJoinDue &&
    !state.isJoining &&
    performance.now() - state.heardMs > sessionTimeoutMs
  ) {
    // Others have its partitions by now: the member begins again, and we drop what its client still waits for.
    const old = state.consumer
    state.consumer = undefined
    state.onLost()
    if (old !== undefined) closeClient(old).catch(() => {})
    state.isJoinDue = true
  }
  if (state.isJoinDue) {
    await state.ensureTopic()
    if (state.leaving.signal.aborted) return
    state.consumer ??= openConsumer(state)
    await state.consumer.joinGroup({})
  } else if (state.sharedPartitions !== undefined && state.consumer !== undefined) {
    const known = await topicOf(state.consumer, topic)
    if (known !== undefined && known.partitionsCount !== state.sharedPartitions) {
      state.isJoinDue = true
    }
  }
}

const openConsumer = (state: State): Consumer => {
  const { cluster, groupId, topic, sessionTimeoutMs } = state
  const consumer = new Consumer({
    ...clientOptions(cluster, joinTimeoutMs),
    groupId,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: heartbeatEveryMs,
    autocommit: false,
    protocols: [{ name: 'trilho', version: 1 }],
    protocolsMetadata: () => claim(state),
    partitionAssigner: share,
  })
  consumer.topics.track(topic)
  let askedMs = 0
  const ifPresent =
    <T>(act: (event: T) => void) =>
    (event: T): void => {
      if (state.consumer === consumer && !state.leaving.signal.aborted) act(event)
    }
  consumer.on('consumer:heartbeat:start', () => {
    askedMs = performance.now()
  })
  consumer.on(
    'consumer:heartbeat:end',
    ifPresent(() => {
      // We use the time of the question: the broker counts from when it heard us.
      state.heardMs = askedMs
      state.outage.worked()
    }),
  )
  consumer.on(
    'consumer:heartbeat:error',
    ifPresent(({ error }) => unheard(state, error)),
  )
  consumer.on(
    'consumer:group:join',
    ifPresent(({ isLeader, assignments }) => {
      const count = consumer.currentMetadata?.topics.get(topic)?.partitionsCount
      state.sharedPartitions = isLeader ? count : undefined
      void joined(state, assignments?.find((one) => one.topic === topic)?.partitions ?? [])
    }),
  )
  // The library could not join again, and has given up.
  consumer.on(
    'error',
    ifPresent((error: unknown) => {
      notJoined(state, error)
      state.nap.abort()
    }),
  )
  return consumer
}

/** Returns what this member says it owns when it joins. A later wish to join counts for the next time. */
const claim = (state: State): Buffer => {
  state.isJoining = true
  state.isJoinDue = false
  state.round++
  // If there is no id, the group has given the member up.
  if (!state.consumer?.memberId) state.onLost()
  return Buffer.from(state.owned().join(','))
}

const joined = async (state: State, partitions: readonly number[]): Promise<void> => {
  state.isJoining = false
  state.heardMs = performance.now()
  state.outage.worked()
  const round = ++state.round
  const isCurrent = (): boolean => round === state.round && !state.leaving.signal.aborted
  while (isCurrent()) {
    try {
      await state.onAssigned(partitions, isCurrent)
      return
    } catch (error) {
      unheard(state, error)
      await Bun.sleep(retryEveryMs)
    }
  }
}

const notJoined = (state: State, error: unknown): void => {
  state.isJoining = false
  state.isJoinDue = true
  if (!state.consumer?.memberId) state.onLost()
  unheard(state, error)
}

/** A rebalance is not an outage, and a cluster that has just started is still reading who belongs to which group. */
const unheard = ({ outage, leaving }: State, error: unknown): void => {
  const isPassing = [
    ['needsRejoin', true],
    ['apiId', 'COORDINATOR_NOT_AVAILABLE'],
    ['apiId', 'COORDINATOR_LOAD_IN_PROGRESS'],
  ].some(([name, value]) => findErrorBy(error as Error, name as string, value) !== null)
  if (!isPassing && !leaving.signal.aborted) outage.failed(plainError(error))
}

/** The leader shares the partitions for all members. */
const share: GroupPartitionsAssigner = (_, members, topics, metadata) => {
  const [topic = ''] = topics
  const claims = [...members.values()].map((member) => {
    const claimed = String(member.metadata ?? '')
    return { id: member.memberId, owned: claimed === '' ? [] : claimed.split(',').map(Number) }
  })
  const shares = assignPartitions(claims, metadata.topics.get(topic)?.partitionsCount ?? 0)
  return [...shares].map(([memberId, partitions]) => ({
    memberId,
    assignments: new Map([[topic, { topic, partitions: [...partitions] }]]),
  }))
}
