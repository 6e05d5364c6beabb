/** Transactions that wait for each other: the server ends one, which begins anew. */
import { afterAll, expect, test } from 'bun:test'
import { withDeadlockRetries } from '#src/platform/database/index.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

await sql`create table pairs (id integer primary key, taken integer not null default 0)`
await sql`insert into pairs values (1), (2)`

const crosswise = (order: readonly number[], meet: () => Promise<void>) => {
  let begun = 0
  const done = withDeadlockRetries(sql, async (tx) => {
    begun++
    for (const id of order) {
      await tx`update pairs set taken = taken + 1 where id = ${id}`
      if (begun === 1) await meet()
    }
  })
  return done.then(() => begun)
}

test('both are done, each once', async () => {
  const { promise: both, resolve } = Promise.withResolvers<void>()
  let there = 0
  const meet = async (): Promise<void> => {
    if (++there === 2) resolve()
    await both
  }
  const begun = await Promise.all([crosswise([1, 2], meet), crosswise([2, 1], meet)])
  // Who begins anew may meet the other once more, and then the other may be the one that is ended.
  expect(Math.max(...begun)).toBeGreaterThan(1)
  const pairs = await sql`select id, taken from pairs order by id`
  expect([...pairs]).toEqual([
    { id: 1, taken: 2 },
    { id: 2, taken: 2 },
  ])
})

test('whatever else fails is told at once', async () => {
  let begun = 0
  const failed = withDeadlockRetries(sql, async (tx) => {
    begun++
    await tx`insert into pairs values (1)`
  })
  expect(failed).rejects.toMatchObject({ code: '23505' })
  await failed.catch(() => {})
  expect(begun).toBe(1)
})
