import type { Admin } from '@platformatic/kafka'
import type { Logger } from '#src/platform/observe/index.ts'
import type { PartitionSource } from '../engine.ts'
import type { Delivery } from '../types.ts'
import { groupPositions } from './backlog.ts'
import type { ClusterOptions } from './client.ts'
import { createFetcher, type Lease, newLease } from './fetch.ts'
import { keepMembership, type Membership } from './group.ts'
import { recordBytesOf } from './sizes.ts'

export type MemberDeps = {
  readonly cluster: ClusterOptions
  /** All members of the process share it. */
  readonly control: Admin
  readonly topic: string
  readonly groupId: string
  readonly ensureTopic: () => Promise<void>
  readonly sessionTimeoutMs: number
  /** Called when there is something to read, or another partition to read from. */
  readonly onNews: () => void
  readonly logger: Logger
}

/** One member of a group, on two clients of its own: one for reading, one for the group. */
export const joinGroup = (deps: MemberDeps): PartitionSource<Lease, Delivery> => {
  const { cluster, control, topic, groupId, onNews, logger } = deps
  const leases = new Map<number, Lease>()
  /** Owned, but we read no further: the group wants them for another member. */
  const surplus = new Set<number>()
  /** Handed out and not settled. */
  const atWork = new Set<number>()
  const isOwned = (lease: Lease): boolean => leases.get(lease.partition) === lease
  const kept = (): readonly Lease[] =>
    [...leases.values()].filter(({ partition }) => !surplus.has(partition))
  const fetcher = createFetcher({ cluster, control, topic, isOwned, onNews, logger, leases: kept })
  const membership = keepMembership({
    ...deps,
    // The partitions that we can best do without come last: surplus ones; before them, idle ones.
    owned: () => {
      const cost = (partition: number): number =>
        surplus.has(partition) ? 0 : atWork.has(partition) ? 2 : 1
      return [...leases.keys()].sort((a, b) => cost(b) - cost(a) || a - b)
    },
    onAssigned: async (partitions, isCurrent) => {
      const added = partitions.filter((partition) => !leases.has(partition))
      const positions = await groupPositions(control, groupId, topic, added)
      if (!isCurrent()) return
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
      if (leases.size > 0) {
        logger.warn({ topic, group: groupId }, 'the group has given this member up: joining again')
      }
      leases.clear()
      surplus.clear()
    },
  })
  const positions = createPositionWriter(membership, isOwned)
  return {
    rebalance: async (busy) => {
      atWork.clear()
      for (const partition of busy) atWork.add(partition)
      const idle = [...surplus].filter((partition) => !busy.has(partition))
      // This includes positions whose writing failed when they were settled. The next call finds out a failure.
      const isWritten = positions.written().then(
        () => true,
        () => false,
      )
      if (idle.length === 0 || !(await isWritten)) return
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
    settle: async (lease, settled) => {
      atWork.delete(lease.partition)
      const last = settled.at(-1)
      if (last === undefined || !isOwned(lease)) return
      lease.position = last.offset + 1n
      positions.settled(lease)
    },
    close: async () => {
      await fetcher.stop()
      await positions.writtenAtLast()
      await membership.leave()
    },
  }
}

const lastWritesMax = 10
const lastWriteEveryMs = 100

/** Writes positions while the work goes on: positions settled during one request go with the next. */
const createPositionWriter = (membership: Membership, isOwned: (lease: Lease) => boolean) => {
  const dirty = new Set<Lease>()
  let writing: Promise<void> | undefined
  const writeAll = async (): Promise<void> => {
    while (dirty.size > 0) {
      const leases = [...dirty].filter(isOwned)
      dirty.clear()
      try {
        if (leases.length > 0) await membership.commit(leases)
      } catch (error) {
        // If we have lost a partition since, its next owner finds out what was settled.
        for (const lease of leases) if (isOwned(lease)) dirty.add(lease)
        throw error
      }
    }
  }
  /** Resolves when all settled positions are written; rejects when they cannot be written now. */
  const written = (): Promise<void> => {
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }
  return {
    written,
    settled: (lease: Lease): void => {
      dirty.add(lease)
      // If this fails, the position goes with the next one, or before we give the partition back.
      written().catch(() => {})
    },
    /** Tries for a second. A message whose position we could not write is handled twice, nothing worse. */
    writtenAtLast: async (): Promise<void> => {
      for (let attempt = 1; attempt <= lastWritesMax; attempt++) {
        try {
          return await written()
        } catch {
          await Bun.sleep(lastWriteEveryMs)
        }
      }
    },
  }
}

const handOut = (lease: Lease, messagesMax: number): readonly Delivery[] => {
  const messages = lease.ready.splice(0, messagesMax)
  for (const message of messages) lease.readyBytes -= recordBytesOf(message)
  return messages
}
