import { protocolErrorCodes as codes, hasProtocolError } from './errors.ts'
import type { Wire } from './wire.ts'

/** Stands for the first message that is kept, as a time in ListOffsets. */
export const earliest = -2n
/** Stands for the place of the next message. */
export const latest = -1n

/** A partition that is new, or has a new leader, is known to that leader within this. */
const askedMax = 20
const askedEveryMs = 50

/** Where reading may begin or ends, by partition. */
export const listOffsets = async (
  ...question: Parameters<typeof askOffsets>
): Promise<ReadonlyMap<number, bigint>> => {
  for (let asked = 1; ; asked++) {
    try {
      return await askOffsets(...question)
    } catch (error) {
      const isPassing = hasProtocolError(
        error,
        codes.notLeaderOrFollower,
        codes.leaderNotAvailable,
        codes.unknownTopicOrPartition,
      )
      if (!isPassing || asked === askedMax) throw error
      await Bun.sleep(askedEveryMs)
    }
  }
}

const askOffsets = async (
  wire: Wire,
  topic: string,
  partitions: readonly number[],
  timestamp: typeof earliest | typeof latest,
): Promise<ReadonlyMap<number, bigint>> => {
  const offsets = new Map<number, bigint>()
  for (const [leader, led] of await byLeader(wire, topic, partitions)) {
    const asked = led.map((partitionIndex) => ({
      partitionIndex,
      currentLeaderEpoch: -1,
      timestamp,
    }))
    const connection = await wire.onBroker(leader)
    const { topics } = await wire.call(connection, 'ListOffsets', -1, 0, [
      { name: topic, partitions: asked },
    ])
    for (const { partitionIndex, offset } of topics.flatMap((one) => one.partitions)) {
      offsets.set(partitionIndex, offset)
    }
  }
  return offsets
}

const byLeader = async (
  wire: Wire,
  topic: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> => {
  const known = await wire.topic(topic, 0)
  const groups = new Map<number, number[]>()
  for (const partition of partitions) {
    const leader = known?.leaders[partition]
    if (leader === undefined) throw new Error(`partition ${partition} of ${topic} is not there`)
    groups.set(leader, [...(groups.get(leader) ?? []), partition])
  }
  return groups
}

/**
 * Where a group goes on, by partition: after what it settled last, or at the first message that is kept when it has
 * settled none.
 */
export const groupPositions = async (
  wire: Wire,
  groupId: string,
  topic: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, bigint>> => {
  if (partitions.length === 0) return new Map()
  const connection = await wire.onCoordinator(groupId)
  const topics = [{ name: topic, partitionIndexes: [...partitions] }]
  const { groups } = await wire.call(
    connection,
    'OffsetFetch',
    [{ groupId, memberId: null, memberEpoch: -1, topics }],
    false,
  )
  const found = groups.flatMap((group) => group.topics.flatMap((one) => one.partitions))
  const positions = new Map(
    found
      .filter(({ committedOffset }) => committedOffset >= 0n)
      .map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
  )
  const fresh = partitions.filter((partition) => !positions.has(partition))
  if (fresh.length === 0) return positions
  return new Map([...positions, ...(await listOffsets(wire, topic, fresh, earliest))])
}
