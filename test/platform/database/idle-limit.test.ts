import { afterAll, beforeAll, expect, test } from 'bun:test'
import { inSnapshot, withIdleLimit } from '#src/platform/database/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(3)
  await database.sql`create table held (id int primary key)`
  await database.sql`insert into held values (1)`
})
afterAll(() => database.close())

test('a transaction whose process says nothing ends, and others get its locks', async () => {
  // A busy machine takes its time between two statements, too.
  const sql = withIdleLimit(database.sql, 500)
  const silence = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const silent = sql.begin(async (tx) => {
    await tx`select from held for update`
    held.resolve()
    await silence.promise
    await tx`insert into held values (2)`
  })
  await held.promise
  // It waits for the lock, and not for the one that holds it.
  await database.sql`select from held for update`
  silence.resolve()
  expect(silent).rejects.toThrow()
  await silent.catch(() => {})
  expect((await database.sql`select from held`).count).toBe(1)
})

test('what is said in time counts, its options and results too, and no other transaction is limited', async () => {
  const sql = withIdleLimit(database.sql, 60_000)
  const limitOf = async (on: typeof sql) => {
    const [row] = await on.begin((tx) => tx`show idle_in_transaction_session_timeout`)
    return row
  }
  expect(await limitOf(sql)).toEqual({ idle_in_transaction_session_timeout: '1min' })
  expect(await limitOf(database.sql)).toEqual({ idle_in_transaction_session_timeout: '0' })
  expect(await inSnapshot(sql, async (tx) => (await tx`select from held`).count)).toBe(1)
  expect(inSnapshot(sql, (tx) => tx`insert into held values (3)`)).rejects.toThrow('read-only')
})
