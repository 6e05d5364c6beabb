import { afterAll, expect, test } from 'bun:test'
import { inSnapshot, openDatabase } from '#src/platform/database/index.ts'
import { withTransactionRules } from '../../../src/platform/database/transactions.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase(3)
await database.sql`create table held (id int primary key)`
await database.sql`insert into held values (1)`
afterAll(() => database.close())

test('every client has the limit, what its transactions answer counts, and their options too', async () => {
  const { sql } = database
  const [limit] = await sql.begin((tx) => tx`show idle_in_transaction_session_timeout`)
  expect(limit).toEqual({ idle_in_transaction_session_timeout: '10s' })
  const [none] = await sql`show idle_in_transaction_session_timeout`
  expect(none).toEqual({ idle_in_transaction_session_timeout: '0' })
  expect(await inSnapshot(sql, async (tx) => (await tx`select from held`).count)).toBe(1)
  expect(inSnapshot(sql, (tx) => tx`insert into held values (3)`)).rejects.toThrow('read-only')
})

/** What makes a connection beside them runs no transaction of a feature; migrations set the limit themselves. */
const makers = [
  'src/platform/broker/postgresql/session.ts',
  'src/platform/database/database.ts',
  'src/platform/database/embedded/index.ts',
  'src/platform/database/migrate.ts',
  'src/platform/database/primary.ts',
  'src/platform/database/reach.ts',
  'src/platform/database/silent-server.ts',
]

test('features are given a client, and make none', async () => {
  const found: string[] = []
  for (const path of new Bun.Glob('src/**/*.ts').scanSync()) {
    if (/\bpostgres\(/.test(await Bun.file(path).text())) found.push(path)
  }
  expect(found.sort()).toEqual(makers)
})

test('a transaction whose process says nothing ends, and others get its locks', async () => {
  const own = openDatabase({
    dsn: database.dsn,
    connectionsMax: 1,
    statementTimeoutMs: 30_000,
    logger: quietLogger,
  })
  // A busy machine takes its time between two statements, too.
  const sql = withTransactionRules(own.sql, 500)
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
  await own.close()
})
