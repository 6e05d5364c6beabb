import { afterAll, describe, expect, test } from 'bun:test'
import { isTransientDatabaseError, type Transaction } from '#src/platform/database/index.ts'

import { createTestDatabase } from '../../support/database.ts'

const single = await createTestDatabase(1)
const admin = await createTestDatabase(1)
await single.sql`create table written (by text)`

afterAll(() => Promise.all([single.close(), admin.close()]))

const pidOf = async (sql: Transaction): Promise<number> => {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row?.pid ?? 0
}

const cut = async (pid: number): Promise<void> => {
  await admin.sql`select pg_terminate_backend(${pid}, 5000)`
}

/** The error of a promise that must fail. */
const failure = async (promise: Promise<unknown>): Promise<Error> => {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof Error) return outcome
  throw new Error('the promise was fulfilled')
}

describe('a connection cut inside a transaction', () => {
  test('fails the transaction as transient, and the pool goes on', async () => {
    const error = await failure(
      single.sql.begin(async (sql) => {
        await cut(await pidOf(sql))
        await sql`insert into written values ('cut')`
      }),
    )
    expect(isTransientDatabaseError(error)).toBe(true)
    expect(await single.sql`select * from written`).toHaveLength(0)
  })

  test('what the lost transaction says later never runs in the one that has its connection now', async () => {
    const isCut = Promise.withResolvers<void>()
    const mayGoOn = Promise.withResolvers<void>()
    const late = Promise.withResolvers<Error>()
    const lost = single.sql.begin(async (sql) => {
      await cut(await pidOf(sql))
      isCut.resolve()
      await mayGoOn.promise
      const said = failure(sql`insert into written values ('lost')`)
      late.resolve(await said)
      throw await said
    })
    const lostError = failure(lost)
    await isCut.promise
    await single.sql.begin(async (sql) => {
      await sql`insert into written values ('kept')`
      mayGoOn.resolve()
      expect(isTransientDatabaseError(await late.promise)).toBe(true)
      expect(await sql`select by from written`).toHaveLength(1)
    })
    expect(isTransientDatabaseError(await lostError)).toBe(true)
    const rows = await single.sql<{ by: string }[]>`select by from written`
    expect(rows.map(({ by }) => by)).toEqual(['kept'])
  })

  test('statements already sent when it is cut all fail', async () => {
    const pending: Promise<Error>[] = []
    const error = await failure(
      single.sql.begin(async (sql) => {
        const pid = await pidOf(sql)
        for (let index = 0; index < 5; index++)
          pending.push(failure(sql`select pg_sleep(${10 + index})`.execute()))
        await cut(pid)
        await Promise.all(pending)
      }),
    )
    expect(isTransientDatabaseError(error)).toBe(true)
    expect((await Promise.all(pending)).every(isTransientDatabaseError)).toBe(true)
    expect(await single.ping()).toBe(true)
  })
})

test('a pool under load survives the random loss of its connections', async () => {
  const pool = await createTestDatabase(4)
  let committed = 0
  let cuts = 0
  const isOver = () => committed > 20 && cuts >= 40
  const writer = async (): Promise<void> => {
    while (!isOver()) {
      try {
        await pool.sql.begin(async (sql) => {
          await sql`insert into probe values (1)`
          await sql`insert into probe values (-1)`
        })
        committed++
      } catch (error) {
        if (!isTransientDatabaseError(error)) throw error
      }
    }
  }
  await pool.sql`create table probe (value int)`
  const cutter = async (): Promise<void> => {
    while (!isOver()) {
      await admin.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = ${new URL(pool.dsn).pathname.slice(1)} order by random() limit 2`
      cuts++
      await Bun.sleep(40)
    }
  }
  await Promise.all([...Array.from({ length: 8 }, writer), cutter()])
  const [row] = await pool.sql<{ sum: number; count: number }[]>`
    select coalesce(sum(value), 0)::int as sum, count(*)::int as count from probe`
  expect(row?.sum).toBe(0)
  // A commit whose answer was lost is counted by the server only.
  expect(row?.count ?? 0).toBeGreaterThanOrEqual(committed * 2)
  await pool.close()
})
