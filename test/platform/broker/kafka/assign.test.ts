import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { assignPartitions, type GroupMember } from '#src/platform/broker/kafka/assign.ts'

const sorted = (partitions: Iterable<number>): number[] => [...partitions].sort((a, b) => a - b)

test('the first member has all, and keeps what a second is not due', () => {
  expect([...assignPartitions([{ id: 'a', owned: [] }], 4)]).toEqual([['a', [0, 1, 2, 3]]])
  const shared = assignPartitions(
    [
      { id: 'a', owned: [] },
      { id: 'b', owned: [0, 1, 2, 3] },
    ],
    4,
  )
  // 2 and 3 are with b until it has given them back.
  expect(shared.get('b')).toEqual([0, 1])
  expect(shared.get('a')).toEqual([])
})

test('what was given back goes to who lacks it', () => {
  const shared = assignPartitions(
    [
      { id: 'a', owned: [] },
      { id: 'b', owned: [0, 1] },
    ],
    4,
  )
  expect(shared.get('a')).toEqual([2, 3])
  expect(shared.get('b')).toEqual([0, 1])
})

const groups = fc
  .record({
    partitionCount: fc.integer({ min: 1, max: 40 }),
    owners: fc.array(fc.integer({ min: -1, max: 6 }), { minLength: 40, maxLength: 40 }),
    count: fc.integer({ min: 1, max: 7 }),
  })
  .map(({ partitionCount, owners, count }) => {
    const members = Array.from({ length: count }, (_, at): GroupMember => {
      const owned = owners.flatMap((owner, partition) => (owner === at ? [partition] : []))
      return { id: `m${at}`, owned: owned.filter((partition) => partition < partitionCount) }
    })
    return { partitionCount, members }
  })

test('no partition is given to one while another reads it, and giving back leads to even shares', () => {
  fc.assert(
    fc.property(groups, ({ partitionCount, members: first }) => {
      let members = first
      for (let round = 0; round < 3; round++) {
        const shared = assignPartitions(members, partitionCount)
        for (const { id, owned } of members) {
          for (const [other, partitions] of shared) {
            if (other === id) continue
            expect(partitions.filter((partition) => owned.includes(partition))).toEqual([])
          }
        }
        members = members.map(({ id }) => ({ id, owned: shared.get(id) ?? [] }))
      }
      const shares = members.map(({ owned }) => owned.length)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
      expect(sorted(members.flatMap(({ owned }) => owned))).toEqual(
        Array.from({ length: partitionCount }, (_, at) => at),
      )
      // Calm: nothing moves any more.
      const again = assignPartitions(members, partitionCount)
      for (const { id, owned } of members)
        expect(sorted(again.get(id) ?? [])).toEqual(sorted(owned))
    }),
    { numRuns: 300 },
  )
})

test('two that name the same partition cannot both have it', () => {
  const shared = assignPartitions(
    [
      { id: 'b', owned: [0, 1] },
      { id: 'a', owned: [0, 7] },
    ],
    2,
  )
  expect(sorted([...shared.values()].flat())).toEqual([0, 1])
})
