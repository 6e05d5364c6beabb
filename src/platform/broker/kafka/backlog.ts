import { type Backlog, backlogCountMax } from '../types.ts'
import { groupPositions, latest, listOffsets } from './offsets.ts'
import type { Wire } from './wire.ts'

/** What waits for a group: offsets between its positions and the ends, and the time of the first message there. */
export const backlogOf = async (wire: Wire, groupId: string, topic: string): Promise<Backlog> => {
  const known = await wire.topic(topic)
  if (known === undefined) return { depth: 0, ageSeconds: 0 }
  const all = known.leaders.map((_, partition) => partition)
  const positions = await groupPositions(wire, groupId, topic, all)
  const ends = await listOffsets(wire, topic, all, latest)
  const waiting = all.flatMap((partition) => {
    const from = positions.get(partition) ?? 0n
    const count = (ends.get(partition) ?? 0n) - from
    return count > 0n ? [{ partition, from, count }] : []
  })
  const times = await Promise.all(
    waiting.map(({ partition, from }) =>
      firstTimeMs(wire, { id: known.id, leader: known.leaders[partition] ?? -1, partition, from }),
    ),
  )
  const depth = waiting.reduce((sum, { count }) => sum + Number(count), 0)
  const oldestMs = Math.min(Date.now(), ...times.filter((time) => time !== undefined))
  return {
    depth: Math.min(depth, backlogCountMax),
    ageSeconds: waiting.length === 0 ? 0 : (Date.now() - oldestMs) / 1000,
  }
}

type Place = {
  readonly id: string
  readonly leader: number
  readonly partition: number
  readonly from: bigint
}

/** A broker gives one batch of messages at least, however little is asked for. */
const firstTimeMs = async (
  wire: Wire,
  { id: topicId, leader, partition, from }: Place,
): Promise<number | undefined> => {
  const asked = {
    partition,
    currentLeaderEpoch: -1,
    fetchOffset: from,
    lastFetchedEpoch: -1,
    partitionMaxBytes: 1,
  }
  const { responses } = await wire.call(
    await wire.onBroker(leader),
    'Fetch',
    0,
    1,
    1,
    0,
    0,
    -1,
    [{ topicId, partitions: [asked] }],
    [],
    '',
  )
  for (const batch of responses.flatMap((one) => one.partitions).flatMap((one) => one.records)) {
    const record = batch?.records.find(
      ({ offsetDelta }) => batch.firstOffset + BigInt(offsetDelta) >= from,
    )
    if (batch && record) return Number(batch.firstTimestamp + record.timestampDelta)
  }
  return undefined
}
