/** Hosts of which none takes writes for a while: who asks meanwhile fails, and nobody stays with one of them. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { isTransientDatabaseError, openDatabase } from '#src/platform/database/index.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../support/database.ts'
import { fallingSilent } from '../../support/falling-silent.ts'
import { freePort } from '../../support/free-port.ts'

const real = await createTestDatabase(1)
await real.sql`create table written (by text)`
afterEach(() => takeWrites(true))
afterAll(() => real.close())

/** Connections that are opened from now on take writes, or none. */
const takeWrites = async (does: boolean): Promise<void> => {
  const setting = does ? 'off' : 'on'
  const [row] = await real.sql<{ name: string }[]>`select current_database() as name`
  await real.sql.unsafe(
    `alter database "${row?.name}" set default_transaction_read_only = ${setting}`,
  )
}

/** The same server twice. */
const several = (): string => real.dsn.replace(/@([^/]+)/, '@$1,$1')

const open = (dsn: string) =>
  openDatabase({ dsn, connectionsMax: 3, statementTimeoutMs: 5_000, logger: quietLogger })

const write = async ({ sql }: { readonly sql: TestDatabase['sql'] }): Promise<unknown> =>
  sql`insert into written values ('us')`.then(
    () => 'written',
    (error: unknown) => error,
  )

test('of several hosts none is taken that takes no writes', async () => {
  await takeWrites(false)
  const pool = open(several())
  // More often than the pool has connections.
  for (let round = 0; round < 3; round++) {
    const refusals = await Promise.all(Array.from({ length: 5 }, () => write(pool)))
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: '25006', message: 'none of the hosts takes writes' })
      expect(isTransientDatabaseError(refusal)).toBe(true)
    }
  }
  await pool.close()
})

test('of several hosts the one that takes writes again is found by every connection', async () => {
  await takeWrites(false)
  const pool = open(several())
  await Promise.all(Array.from({ length: 5 }, () => write(pool)))
  await takeWrites(true)
  // What was found is kept for a second.
  await Bun.sleep(1_100)
  const all = await Promise.all(Array.from({ length: 12 }, () => write(pool)))
  expect(new Set(all)).toEqual(new Set(['written']))
  await pool.close()
})

test('a connection to a host that takes no writes is not kept, though its transaction is undone', async () => {
  await takeWrites(false)
  const pool = openDatabase({
    dsn: real.dsn,
    connectionsMax: 1,
    statementTimeoutMs: 5_000,
    logger: quietLogger,
  })
  const within = pool.sql.begin(async (tx) => {
    await tx`insert into written values ('us')`
  })
  expect(await within.catch((error: unknown) => error)).toMatchObject({ code: '25006' })
  await takeWrites(true)
  expect(await write(pool)).toBe('written')
  await takeWrites(false)
  expect(await write(pool)).toBe('written')
  await pool.close()
})

for (const query of ['', '?sslmode=require']) {
  test(`hosts that do not answer are told as they are ${query}`, async () => {
    const hosts = `127.0.0.1:${freePort()},127.0.0.1:${freePort()}`
    const pool = open(`postgres://nobody:x@${hosts}/none${query}`)
    for (let round = 0; round < 5; round++) {
      expect(await write(pool)).toMatchObject({ code: 'ECONNREFUSED' })
    }
    await pool.close()
  })
}

test('a host that says nothing after the login is waited for no longer than for one that is away', async () => {
  const silent = await fallingSilent(real.dsn, 'pg_is_in_recovery')
  const pool = open(silent.dsn.replace(/@[^/]+/, (host) => `${host},127.0.0.1:${freePort()}`))
  for (let round = 0; round < 2; round++) {
    expect(isTransientDatabaseError(await write(pool))).toBe(true)
  }
  await pool.close()
  silent.stop()
}, 60_000)
