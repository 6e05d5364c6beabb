import { protocolErrorCodes as codes, hasProtocolError } from './errors.ts'
import type { Standing } from './group.ts'
import type { Lease } from './lease.ts'
import type { Wire } from './wire.ts'

export type PositionWriter = {
  readonly settled: (lease: Lease) => void
  /** Resolves when all that was settled is written; rejects when it cannot be now. */
  readonly written: () => Promise<void>
}

export type PositionWriterDeps = {
  readonly wire: Wire
  readonly groupId: string
  readonly topic: string
  readonly standing: () => Standing | undefined
  /** False when the partition has been lost since: its next owner finds out what was settled. */
  readonly isOwned: (lease: Lease) => boolean
}

/** Writes positions behind the work: those settled while one request runs go with the next. */
export const createPositionWriter = (deps: PositionWriterDeps): PositionWriter => {
  const dirty = new Set<Lease>()
  let writing: Promise<void> | undefined
  const writeAll = async (): Promise<void> => {
    while (dirty.size > 0) {
      const leases = [...dirty]
      dirty.clear()
      try {
        await commit(leases.filter(deps.isOwned), deps)
      } catch (error) {
        for (const lease of leases) if (deps.isOwned(lease)) dirty.add(lease)
        throw error
      }
    }
  }
  const written = (): Promise<void> => {
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }
  return {
    settled: (lease) => {
      dirty.add(lease)
      // What is not written now goes with the next position, or before the partition is given back.
      written().catch(() => {})
    },
    written,
  }
}

/** The generation shuts out a member that the group has given up. */
const commit = async (leases: readonly Lease[], deps: PositionWriterDeps): Promise<void> => {
  if (leases.length === 0) return
  const { wire, groupId, topic } = deps
  const standing = deps.standing()
  if (standing === undefined) throw new Error('not a member of the group at present')
  const partitions = leases.map(({ partition, position }) => ({
    partitionIndex: partition,
    committedOffset: position,
    committedLeaderEpoch: -1,
    committedMetadata: null,
  }))
  try {
    const connection = await wire.onCoordinator(groupId)
    const { generation, memberId } = standing
    const topics = [{ name: topic, partitions }]
    await wire.call(connection, 'OffsetCommit', groupId, generation, memberId, null, topics)
  } catch (error) {
    if (!hasProtocolError(error, codes.rebalanceInProgress, codes.illegalGeneration)) {
      wire.forgetCoordinator(groupId)
    }
    throw error
  }
}
