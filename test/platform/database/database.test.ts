import { afterAll, describe, expect, test } from 'bun:test'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { migrate, openDatabase, SchemaMismatchError } from '#src/platform/database/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { migrations } from '../../../drizzle/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()

afterAll(() => database.close())

describe('migrate', () => {
  test('has nothing to do the second time', async () => {
    expect(await migrate(database.dsn, migrations, quietLogger)).toEqual([])
  })

  test('instances that start together apply each migration once', async () => {
    const own = await createTestDatabase()
    const extra = [...migrations, { name: '9998_probe', sql: 'create table probe (id int)' }]
    const all = await Promise.all([1, 2, 3, 4].map(() => migrate(own.dsn, extra, quietLogger)))
    expect(all.flat()).toEqual(['9998_probe'])
    await own.close()
  })

  test('an instance that misses nothing waits for nobody who has the lock of migrations', async () => {
    const own = await createTestDatabase()
    const holder = await own.sql.reserve()
    await holder`select pg_advisory_lock(${0x7472696c})`
    try {
      expect(await migrate(own.dsn, migrations, quietLogger)).toEqual([])
    } finally {
      holder.release()
      await own.close()
    }
  }, 60_000)

  test('a failing migration leaves nothing behind', async () => {
    const bad = [
      ...migrations,
      { name: '9999_bad', sql: 'create table half (id int); select 1/0;' },
    ]
    await expect(migrate(database.dsn, bad, quietLogger)).rejects.toThrow('division by zero')
    const rows = await database.sql`select to_regclass('half') as half`
    expect(rows[0]?.['half']).toBeNull()
  })

  test('a table in use holds up a migration, which lets others have it in between', async () => {
    const own = await createTestDatabase(3)
    await own.sql`create table busy (id int)`
    const letGo = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    // As a backup does.
    const backup = own.sql.begin(async (tx) => {
      await tx`lock table busy in access share mode`
      held.resolve()
      await letGo.promise
    })
    await held.promise
    const more = [...migrations, { name: '9998_busy', sql: 'alter table busy add column more int' }]
    const migrating = migrate(own.dsn, more, quietLogger)
    const isHeldUp = async (): Promise<boolean> =>
      (await own.sql`select from pg_locks where relation = 'busy'::regclass and not granted`)
        .count > 0
    // Each is written although the backup goes on: the migration in front of it gives up for a while.
    for (let count = 0; count < 3; count++) {
      await until(isHeldUp)
      await own.sql`insert into busy values (1)`
    }
    letGo.resolve()
    await backup
    expect(await migrating).toEqual(['9998_busy'])
    await own.close()
  }, 60_000)

  test('a migration whose process says nothing gives its tables back', async () => {
    const own = await createTestDatabase()
    const text = `create table silence as select current_setting('idle_in_transaction_session_timeout')`
    await migrate(own.dsn, [...migrations, { name: '9998_silence', sql: text }], quietLogger)
    expect(await own.sql`select current_setting from silence`).toMatchObject([
      { current_setting: '10s' },
    ])
    await own.close()
  })

  test('a schema newer than the program is refused', async () => {
    const own = await createTestDatabase()
    await migrate(own.dsn, [...migrations, { name: '9999_future', sql: 'select 1' }], quietLogger)
    await expect(migrate(own.dsn, migrations, quietLogger)).rejects.toThrow(SchemaMismatchError)
    await own.close()
  })

  test('a migration whose text changed after it was applied is refused', async () => {
    const changed = migrations.map(({ name, sql }) => ({ name, sql: `${sql} -- changed` }))
    await expect(migrate(database.dsn, changed, quietLogger)).rejects.toThrow(SchemaMismatchError)
  })
})

describe('openDatabase', () => {
  test('bigint columns are bigint', async () => {
    const [row] = await database.sql`select 9007199254740993::bigint as value`
    expect(row?.['value']).toBe(9_007_199_254_740_993n)
  })

  test('ping says whether the server answers', async () => {
    expect(await database.ping()).toBe(true)
    const absent = openDatabase({
      dsn: 'postgres://nobody:x@127.0.0.1:1/none',
      connectionsMax: 1,
      statementTimeoutMs: 1000,
      logger: quietLogger,
    })
    expect(await absent.ping()).toBe(false)
    await absent.close()
  })

  test('the gauge counts the connections of this process to its database, consumers included', async () => {
    const own = await createTestDatabase(1)
    await own.sql`select 1`
    const metrics = createMetrics({ version: '0', withProcess: false })
    const pool = openDatabase({
      dsn: own.dsn,
      connectionsMax: 3,
      statementTimeoutMs: 5000,
      logger: quietLogger,
      metrics,
    })
    await Promise.all([1, 2, 3].map(() => pool.sql`select pg_sleep(0.05)`))
    const counted = async () =>
      /spigw_db_connections_active (\d+)/.exec((await metrics.render()).text)
    expect((await counted())?.[1]).toBe('4')
    const broker = createPostgresBroker({
      sql: own.sql,
      dsn: own.dsn,
      logger: quietLogger,
    })
    broker.consume({ topic: 't', group: 'g', batchSizeMax: 1, handler: async () => {} })
    // The one that keeps its leases, its reader, and the one that listens.
    await until(async () => (await counted())?.[1] === '7')
    await broker.stop()
    await pool.close()
    await own.close()
  })

  test('a name in the connection string is kept, and does not hide the connections', async () => {
    const own = await createTestDatabase(1)
    const metrics = createMetrics({ version: '0', withProcess: false })
    const pool = openDatabase({
      dsn: `${own.dsn}?application_name=gateway%20${'x'.repeat(60)}`,
      connectionsMax: 2,
      statementTimeoutMs: 5000,
      logger: quietLogger,
      metrics,
    })
    const [row] = await pool.sql<
      { name: string }[]
    >`select current_setting('application_name') as name`
    expect(row?.name).toMatch(/^gateway x{32}-[0-9a-f]{8}$/)
    expect((await metrics.render()).text).toContain('spigw_db_connections_active 1')
    await pool.close()
    await own.close()
  })

  test('a statement over the time limit is cancelled', async () => {
    const pool = openDatabase({
      dsn: database.dsn,
      connectionsMax: 1,
      statementTimeoutMs: 50,
      logger: quietLogger,
    })
    await expect(pool.sql`select pg_sleep(5)`.then(() => 'done')).rejects.toThrow(
      'statement timeout',
    )
    await pool.close()
  })
})

test('a database of one test is not seen by another', async () => {
  const other = await createTestDatabase()
  await other.sql`create table only_here (id int)`
  const [row] = await database.sql`select to_regclass('only_here') as found`
  expect(row?.['found']).toBeNull()
  await other.close()
})
