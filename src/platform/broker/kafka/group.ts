import {
  decodeConsumerProtocolAssignment,
  decodeConsumerProtocolSubscription,
  encodeConsumerProtocolAssignment,
  encodeConsumerProtocolSubscription,
} from '@platformatic/kafka'
import type { Logger } from '#src/platform/observe/index.ts'
import { assignPartitions } from './assign.ts'
import { protocolErrorCodes as codes, hasProtocolError, plainError } from './errors.ts'
import { inTime } from './in-time.ts'
import type { Wire } from './wire.ts'

/** A member that is silent for so long is taken for dead, and its partitions go to others: the least Kafka allows. */
export const sessionTimeoutDefaultMs = 6_000
/** How long members have to join again when one comes or goes. They do it at their next heartbeat. */
export const rebalanceTimeoutMs = 30_000
const heartbeatEveryMs = 1_000
const retryEveryMs = 500
const leaveTimeoutMs = 2_000
/** Partitions added to a topic are seen after this. */
const partitionsMaxAgeMs = 60_000
const protocolType = 'consumer'
const protocolName = 'trilho'

/** The membership under which positions may be written. */
export type Standing = { readonly memberId: string; readonly generation: number }

export type MembershipDeps = {
  /** Of its own: a join waits at the broker for the other members. */
  readonly wire: Wire
  /** Nothing waits here, so the goodbye gets through. */
  readonly control: Wire
  readonly groupId: string
  readonly topic: string
  readonly sessionTimeoutMs: number
  readonly ensureTopic: () => Promise<void>
  /** Partitions that this member reads or is still to give back. */
  readonly owned: () => readonly number[]
  /** What the member may read from now; what it owns besides is to be given back. */
  readonly onAssigned: (partitions: readonly number[]) => Promise<void>
  /** The group has given the member up: nothing is owned any more. */
  readonly onLost: () => void
  readonly logger: Logger
}

export type Membership = {
  /** Undefined outside of a group. */
  readonly standing: () => Standing | undefined
  /** What is owned has changed: the group is to share anew. */
  readonly rejoin: () => void
  readonly leave: () => Promise<void>
}

type State = {
  memberId: string
  generation: number
  isJoinDue: boolean
  /** Leaders only: the number of partitions they have shared. */
  sharedPartitions: number | undefined
  /** When the group last heard of this member. */
  heardMs: number
}

/** Keeps one member in its group until it leaves: joins, sends heartbeats, joins again. */
export const keepMembership = (deps: MembershipDeps): Membership => {
  const { wire, groupId, topic, logger } = deps
  const state: State = {
    memberId: '',
    generation: -1,
    isJoinDue: true,
    sharedPartitions: undefined,
    heardMs: performance.now(),
  }
  const leaving = new AbortController()
  const alarm = createAlarm()
  let isAway = false

  const lose = (): void => {
    state.memberId = ''
    state.generation = -1
    state.isJoinDue = true
    deps.onLost()
  }
  const step = async (): Promise<void> => {
    if (state.isJoinDue) await join(state, deps, leaving.signal)
    else await beat(state, deps)
    if (isAway) logger.info({ topic, group: groupId }, 'Kafka answers again')
    isAway = false
  }
  /** @returns how long to wait before the next step */
  const recover = (error: unknown): number => {
    if (hasProtocolError(error, codes.rebalanceInProgress)) {
      state.isJoinDue = true
      return 0
    }
    if (hasProtocolError(error, codes.unknownMemberId, codes.illegalGeneration)) {
      if (state.generation >= 0) {
        logger.warn({ topic, group: groupId }, 'the group has given this member up: joining again')
      }
      lose()
      return 0
    }
    // A cluster that has just started is still reading who belongs to which group.
    if (!hasProtocolError(error, codes.coordinatorNotAvailable, codes.coordinatorLoadInProgress)) {
      const fields = { topic, group: groupId, err: plainError(error) }
      if (!isAway) logger.warn(fields, 'the group cannot be reached')
      isAway = true
    }
    wire.forgetCoordinator(groupId)
    if (performance.now() - state.heardMs > deps.sessionTimeoutMs && state.memberId !== '') lose()
    return retryEveryMs
  }
  const run = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      let waitMs = heartbeatEveryMs
      try {
        await step()
      } catch (error) {
        if (leaving.signal.aborted) return
        waitMs = recover(error)
      }
      if (waitMs > 0) await alarm.wait(waitMs)
    }
  }
  const running = run()
  return {
    standing: () => {
      const { memberId, generation } = state
      return generation < 0 ? undefined : { memberId, generation }
    },
    rejoin: () => {
      state.isJoinDue = true
      alarm.ring()
    },
    leave: async () => {
      leaving.abort()
      alarm.ring()
      const { memberId } = state
      if (memberId !== '') await leaveGroup(memberId, deps)
      await wire.close()
      await running
    },
  }
}

/** Best effort: a member that cannot say goodbye is missed after its session. */
const leaveGroup = async (memberId: string, { control, groupId, logger }: MembershipDeps) => {
  try {
    const connection = await control.onCoordinator(groupId)
    await inTime(control.call(connection, 'LeaveGroup', groupId, [{ memberId }]), leaveTimeoutMs)
  } catch (error) {
    logger.debug({ group: groupId, err: plainError(error) }, 'a group could not be left')
  }
}

const beat = async (state: State, deps: MembershipDeps): Promise<void> => {
  const { wire, groupId, topic, sessionTimeoutMs } = deps
  const sentMs = performance.now()
  const connection = await wire.onCoordinator(groupId)
  await inTime(
    wire.call(connection, 'Heartbeat', groupId, state.generation, state.memberId, null),
    sessionTimeoutMs,
  )
  // Not when the answer came: the broker counts from when it heard.
  state.heardMs = sentMs
  if (state.sharedPartitions === undefined) return
  const known = await wire.topic(topic, partitionsMaxAgeMs)
  if (known !== undefined && known.leaders.length !== state.sharedPartitions) state.isJoinDue = true
}

/** Until it has come to its end, joining remains due. */
const join = async (state: State, deps: MembershipDeps, leaving: AbortSignal): Promise<void> => {
  // A wish that comes while this runs is one for the next time.
  state.isJoinDue = false
  try {
    await joinOnce(state, deps, leaving)
  } catch (error) {
    state.isJoinDue = true
    throw error
  }
}

const joinOnce = async (
  state: State,
  deps: MembershipDeps,
  leaving: AbortSignal,
): Promise<void> => {
  const { wire, groupId, topic } = deps
  const connection = await wire.onCoordinator(groupId)
  const joined = await requestJoin(state, deps, connection)
  state.memberId = joined.memberId
  if (leaving.aborted) return
  const isLeader = joined.leader === joined.memberId
  const shared = isLeader ? await share(joined.members, deps) : undefined
  state.generation = joined.generationId
  state.sharedPartitions = shared?.partitionCount
  const synced = await wire.call(
    connection,
    'SyncGroup',
    groupId,
    joined.generationId,
    joined.memberId,
    null,
    protocolType,
    protocolName,
    shared?.assignments ?? [],
  )
  state.heardMs = performance.now()
  const { assignedPartitions } = decodeConsumerProtocolAssignment(synced.assignment)
  const partitions = assignedPartitions.filter((one) => one.topic === topic)
  await deps.onAssigned(partitions.flatMap((one) => one.partitions))
}

/** The first request of a new member is answered with an id to come back with. */
const requestJoin = async (
  state: State,
  { wire, groupId, topic, owned, sessionTimeoutMs }: MembershipDeps,
  connection: Awaited<ReturnType<Wire['onCoordinator']>>,
) => {
  const ask = () =>
    wire.call(
      connection,
      'JoinGroup',
      groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs,
      state.memberId,
      null,
      protocolType,
      [
        {
          name: protocolName,
          metadata: subscriptionOf(topic, owned()),
        },
      ],
      null,
    )
  try {
    return await ask()
  } catch (error) {
    if (!hasProtocolError(error, codes.memberIdRequired)) throw error
    state.memberId = memberIdOf(error)
    return ask()
  }
}

/** The standard field, which tools show, is sorted on its way: the order of the claim goes beside it. */
const subscriptionOf = (topic: string, partitions: readonly number[]): Buffer =>
  encodeConsumerProtocolSubscription({
    version: 1,
    topics: [topic],
    ownedPartitions: [{ topic, partitions: [...partitions] }],
    userData: partitions.join(','),
  })

const claimOf = (subscription: Buffer): readonly number[] => {
  const { userData } = decodeConsumerProtocolSubscription(subscription)
  return userData.length === 0 ? [] : userData.toString().split(',').map(Number)
}

const memberIdOf = (error: unknown): string => {
  const response = typeof error === 'object' && error !== null && 'response' in error
  const answer = response ? error.response : undefined
  if (typeof answer === 'object' && answer !== null && 'memberId' in answer) {
    return String(answer.memberId)
  }
  throw new Error('the group gave no member id', { cause: error })
}

/** The leader shares the partitions for all members. */
const share = async (
  members: readonly { readonly memberId: string; readonly metadata: Buffer }[],
  { wire, topic, ensureTopic }: MembershipDeps,
) => {
  await ensureTopic()
  const known = await wire.topic(topic, 0)
  if (known === undefined) throw new Error(`topic ${topic} is not there`)
  const partitionCount = known.leaders.length
  const claims = members.map(({ memberId: id, metadata }) => ({ id, owned: claimOf(metadata) }))
  const assignments = [...assignPartitions(claims, partitionCount)].map(
    ([memberId, partitions]) => ({
      memberId,
      assignment: encodeConsumerProtocolAssignment({
        version: 1,
        assignedPartitions: [{ topic, partitions: [...partitions] }],
      }),
    }),
  )
  return { partitionCount, assignments }
}

/** Waits until rung or for a time; a ring before the wait counts. */
const createAlarm = () => {
  let isRung = false
  let answer: (() => void) | undefined
  return {
    ring: () => {
      isRung = true
      answer?.()
    },
    wait: async (ms: number): Promise<void> => {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          answer = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        answer = undefined
      }
      isRung = false
    },
  }
}
