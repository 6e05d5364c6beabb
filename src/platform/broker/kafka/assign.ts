/** A member of a group, and the partitions that it says it reads; it would rather keep the first ones. */
export type GroupMember = { readonly id: string; readonly owned: readonly number[] }

/**
 * Shares partitions evenly and moves as few as possible. We never give a partition that one member reads to another:
 * a member with too many is left out of some, gives them back when it has settled what it has of them, and joins
 * again; only then do others get them. So no partition moves in the middle of a batch, and the others are read on.
 *
 * @returns partitions by member id; no member gets those that still have to be given back
 */
export const assignPartitions = (
  members: readonly GroupMember[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> => {
  const claims = claimedOnce(members, partitionCount)
  // The members with the most partitions keep the odd ones, and all members come to the same order.
  const ordered = [...claims].sort(
    ([idA, a], [idB, b]) => b.length - a.length || (idA < idB ? -1 : 1),
  )
  const least = Math.floor(partitionCount / Math.max(1, members.length))
  const odd = partitionCount % Math.max(1, members.length)
  const claimed = new Set([...claims.values()].flat())
  const free = Array.from({ length: partitionCount }, (_, at) => at).filter(
    (partition) => !claimed.has(partition),
  )
  return new Map(
    ordered.map(([id, owned], place) => {
      const share = least + (place < odd ? 1 : 0)
      const kept = owned.slice(0, share)
      return [id, [...kept, ...free.splice(0, share - kept.length)]]
    }),
  )
}

/** If two members name the same partition, the first in order of ids has it. */
const claimedOnce = (
  members: readonly GroupMember[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> => {
  const taken = new Set<number>()
  const claims = new Map<string, readonly number[]>()
  for (const { id, owned } of [...members].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const own = [...new Set(owned)].filter(
      (partition) => partition >= 0 && partition < partitionCount && !taken.has(partition),
    )
    for (const partition of own) taken.add(partition)
    claims.set(id, own)
  }
  return claims
}
