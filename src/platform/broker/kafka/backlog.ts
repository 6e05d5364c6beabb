import { type Admin, ListOffsetTimestamps } from '@platformatic/kafka'
import { type Backlog, backlogCountMax } from '../types.ts'
import { fetchOnce, topicOf } from './client.ts'

/** Returns where reading may begin (`earliest`) or ends (`latest`), by partition. */
export const listOffsets = async (
  admin: Admin,
  topic: string,
  partitions: readonly number[],
  place: 'earliest' | 'latest',
): Promise<ReadonlyMap<number, bigint>> => {
  const timestamp = ListOffsetTimestamps[place === 'earliest' ? 'EARLIEST' : 'LATEST']
  const asked = partitions.map((partitionIndex) => ({ partitionIndex, timestamp }))
  const listed = await admin.listOffsets({ topics: [{ name: topic, partitions: asked }] })
  const found = listed.flatMap((one) => one.partitions)
  return new Map(found.map(({ partitionIndex, offset }) => [partitionIndex, offset]))
}

/**
 * Returns where a group goes on, by partition: after what it settled last, or at the first message that is kept when it
 * has settled none.
 */
export const groupPositions = async (
  admin: Admin,
  groupId: string,
  topic: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, bigint>> => {
  if (partitions.length === 0) return new Map()
  const topics = [{ name: topic, partitionIndexes: [...partitions] }]
  const groups = await admin.listConsumerGroupOffsets({ groups: [{ groupId, topics }] })
  const found = groups.flatMap((group) => group.topics.flatMap((one) => one.partitions))
  const positions = new Map(
    found
      .filter(({ committedOffset }) => committedOffset >= 0n)
      .map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
  )
  const fresh = partitions.filter((partition) => !positions.has(partition))
  if (fresh.length === 0) return positions
  return new Map([...positions, ...(await listOffsets(admin, topic, fresh, 'earliest'))])
}

/** Returns what waits for a group: offsets between its positions and the ends, and the time of the first message there. */
export const backlogOf = async (admin: Admin, groupId: string, topic: string): Promise<Backlog> => {
  const known = await topicOf(admin, topic)
  if (known === undefined) return { depth: 0, ageSeconds: 0 }
  const all = [...known.partitions.keys()]
  const positions = await groupPositions(admin, groupId, topic, all)
  const ends = await listOffsets(admin, topic, all, 'latest')
  const waiting = all.flatMap((partition) => {
    const offset = positions.get(partition) ?? 0n
    const count = (ends.get(partition) ?? 0n) - offset
    return count > 0n ? [{ partition, offset, count }] : []
  })
  const times = await Promise.all(
    waiting.map(({ partition, offset }) => {
      const leader = known.partitions[partition]?.leader ?? -1
      return firstTimeMs(admin, known.id, leader, { partition, offset })
    }),
  )
  const depth = waiting.reduce((sum, { count }) => sum + Number(count), 0)
  const oldestMs = Math.min(Date.now(), ...times.filter((time) => time !== undefined))
  return {
    depth: Math.min(depth, backlogCountMax),
    ageSeconds: waiting.length === 0 ? 0 : (Date.now() - oldestMs) / 1000,
  }
}

/** A broker returns at least one batch of messages, however little we ask for. */
const firstTimeMs = async (
  admin: Admin,
  topicId: string,
  leader: number,
  place: { readonly partition: number; readonly offset: bigint },
): Promise<number | undefined> => {
  const least = { waitMs: 0, partitionBytesMax: 1, responseBytesMax: 1 }
  const answers = await fetchOnce(admin, { leader, topicId, from: [place], ...least })
  for (const batch of answers.flatMap(({ batches }) => batches)) {
    if ('failure' in batch) {
      if (batch.lastOffset >= place.offset) return batch.publishedAt.getTime()
      continue
    }
    const record = batch.records.find(
      ({ offsetDelta }) => batch.firstOffset + BigInt(offsetDelta) >= place.offset,
    )
    if (record) return Number(batch.firstTimestamp + record.timestampDelta)
  }
  return undefined
}
