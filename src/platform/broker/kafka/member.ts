import type { Logger } from '#src/platform/observe/index.ts'
import type { PartitionSource } from '../engine.ts'
import type { Delivery } from '../types.ts'
import { createFetcher } from './fetch.ts'
import { keepMembership, rebalanceTimeoutMs } from './group.ts'
import { type Lease, newLease } from './lease.ts'
import { groupPositions } from './offsets.ts'
import { createPositionWriter, type PositionWriter } from './positions.ts'
import { type ClusterOptions, openWire, type Wire } from './wire.ts'

export type MemberDeps = {
  readonly cluster: ClusterOptions
  /** Shared by the process. */
  readonly control: Wire
  readonly topic: string
  readonly groupId: string
  readonly ensureTopic: () => Promise<void>
  readonly sessionTimeoutMs: number
  /** There is something to read, or another partition to read from. */
  readonly onNews: () => void
  readonly logger: Logger
}

/** The join waits for the other members, and a little for the network. */
const joinTimeoutMs = rebalanceTimeoutMs + 5_000

/** One member of a group, on two connections of its own: one for reading, one for the group. */
export const joinGroup = (deps: MemberDeps): PartitionSource<Lease, Delivery> => {
  const { cluster, control, topic, groupId, sessionTimeoutMs, ensureTopic, onNews, logger } = deps
  const leases = new Map<number, Lease>()
  /** Owned, but read no further: the group wants them for another member. */
  const surplus = new Set<number>()
  /** Handed out and not settled. */
  const atWork = new Set<number>()
  const isOwned = (lease: Lease): boolean => leases.get(lease.partition) === lease
  const kept = (): readonly Lease[] =>
    [...leases.values()].filter(({ partition }) => !surplus.has(partition))

  const membership = keepMembership({
    wire: openWire(cluster, joinTimeoutMs),
    ...{ control, groupId, topic, sessionTimeoutMs, ensureTopic, logger },
    // What is easiest to part with comes last: what was asked for already, before that what is idle.
    owned: () => {
      const cost = (partition: number): number =>
        surplus.has(partition) ? 0 : atWork.has(partition) ? 2 : 1
      return [...leases.keys()].sort((a, b) => cost(b) - cost(a) || a - b)
    },
    onAssigned: async (partitions) => {
      const added = partitions.filter((partition) => !leases.has(partition))
      const positions = await groupPositions(control, groupId, topic, added)
      for (const [partition, position] of positions) {
        leases.set(partition, newLease(partition, position))
      }
      surplus.clear()
      for (const partition of leases.keys()) {
        if (!partitions.includes(partition)) surplus.add(partition)
      }
      fetcher.look()
      onNews()
    },
    onLost: () => {
      leases.clear()
      surplus.clear()
    },
  })
  const positions = createPositionWriter({
    ...{ wire: control, groupId, topic, isOwned },
    standing: membership.standing,
  })
  const wire = openWire(cluster)
  const fetcher = createFetcher({ wire, topic, leases: kept, isOwned, onNews, logger })
  return {
    rebalance: async (busy) => {
      atWork.clear()
      for (const partition of busy) atWork.add(partition)
      const idle = [...surplus].filter((partition) => !busy.has(partition))
      // Also those that could not be written when they were settled. A failure is found out by the next call.
      const written = positions.written().then(
        () => true,
        () => false,
      )
      if (idle.length === 0 || !(await written)) return
      for (const partition of idle) {
        leases.delete(partition)
        surplus.delete(partition)
      }
      membership.rejoin()
    },
    assigned: () => kept().map(({ partition }) => partition),
    fetch: async (partitions, messagesMax) => {
      const wanted = new Set(partitions)
      const batches = kept()
        .filter(({ partition, ready }) => wanted.has(partition) && ready.length > 0)
        .map((lease) => ({ lease, messages: handOut(lease, messagesMax) }))
      for (const { lease } of batches) atWork.add(lease.partition)
      if (batches.length > 0) fetcher.look()
      return batches
    },
    settle: (lease, { offset }) => {
      atWork.delete(lease.partition)
      if (!isOwned(lease)) return
      lease.position = offset + 1n
      positions.settled(lease)
    },
    close: async () => {
      await fetcher.stop()
      await writeLast(positions)
      await membership.leave()
    },
  }
}

const lastWritesMax = 10
const lastWriteEveryMs = 100

/** Not written, for all the trying: the messages are handled twice, nothing worse. */
const writeLast = async ({ written }: PositionWriter): Promise<void> => {
  for (let attempt = 1; attempt <= lastWritesMax; attempt++) {
    try {
      await written()
      return
    } catch {
      await Bun.sleep(lastWriteEveryMs)
    }
  }
}

const handOut = (lease: Lease, messagesMax: number): readonly Delivery[] => {
  const messages = lease.ready.splice(0, messagesMax)
  for (const { value } of messages) lease.readyBytes -= value.length
  return messages
}
