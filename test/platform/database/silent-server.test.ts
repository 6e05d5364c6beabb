/** A server that loses its power closes nothing: what waits for it, and what would, is given up. */
import { afterAll, expect, test } from 'bun:test'
import { isTransientDatabaseError, openDatabase } from '#src/platform/database/index.ts'
import { patient } from '../../../src/platform/database/silent-server.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { fallingSilent } from '../../support/falling-silent.ts'
import { until } from '../../support/until.ts'

const statementTimeoutMs = 500
/** With the five seconds that an answer may take to arrive, and the rounds in which they are counted. */
const givenUpMs = 9_000

const real = await createTestDatabase(2)
afterAll(() => real.close())

const opened = async (connectionsMax: number) => {
  const server = await fallingSilent(real.dsn)
  const pool = openDatabase({
    dsn: server.dsn,
    connectionsMax,
    statementTimeoutMs,
    logger: quietLogger,
  })
  const close = async (): Promise<void> => {
    await pool.close()
    server.stop()
  }
  return { server, sql: pool.sql, close }
}

/** The error of what must fail in time. */
const failure = (asked: PromiseLike<unknown>): Promise<unknown> =>
  Promise.race([
    Promise.resolve(asked).then(
      () => 'answered',
      (error: unknown) => error,
    ),
    Bun.sleep(givenUpMs).then(() => 'silent for ever'),
  ])

test('what waits for it fails as transient, and all connections are opened anew', async () => {
  const { server, sql, close } = await opened(4)
  const heard: string[] = []
  await sql.listen('news', (text) => heard.push(text))
  await Promise.all([1, 2, 3, 4].map(() => sql`select pg_sleep(0.1)`))
  const within = Promise.withResolvers<void>()
  const transaction = failure(
    sql.begin(async (tx) => {
      await tx`select 1`
      await within.promise
      await Promise.all([tx`select 2`, tx`select ${3}::int`])
    }),
  )
  await until(() => sql`select 1`.then(() => true))
  server.silence()
  within.resolve()
  // Some connections stay idle: they would cost the next statements as much time again.
  const errors = await Promise.all([transaction, failure(sql`select 4`)])
  expect(errors.map(isTransientDatabaseError)).toEqual([true, true])
  await until(() => server.silent() === 0)
  const answers = await Promise.all([5, 6, 7, 8].map((n) => failure(sql`select ${n}::int`)))
  expect(answers).toEqual(Array(4).fill('answered'))
  await until(async () => {
    await real.sql`select pg_notify('news', 'again')`
    return heard.length > 0
  })
  await close()
}, 60_000)

test('a statement without a limit of time is left alone, and so is who is only idle', async () => {
  const { sql, close } = await opened(2)
  const pidOf = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
  const pid = await pidOf()
  const slow = sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await patient(tx`select pg_sleep(9)`)
    return 'done'
  })
  expect(await slow).toBe('done')
  expect([await pidOf(), await pidOf()]).toContain(pid)
  await close()
}, 60_000)

test('a cursor whose rows are read slowly is no silence', async () => {
  const { sql, close } = await opened(1)
  let rows = 0
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    for await (const part of tx`select generate_series(1, 20)`.cursor(20)) {
      rows += part.length
      await Bun.sleep(9_000)
    }
  })
  expect(rows).toBe(20)
  await close()
}, 60_000)
