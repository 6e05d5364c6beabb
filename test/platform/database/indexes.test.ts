/** Migrations that index tables which others write to meanwhile. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { migrate } from '#src/platform/database/index.ts'
import { migrations } from '../../../drizzle/index.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../support/database.ts'
import { isLong } from '../../support/page-budgets.ts'
import { until } from '../../support/until.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase(4)
})

afterEach(() => database.close())

const name = '9998_index'
const indexed = [
  ...migrations,
  {
    name,
    sql: '-- expand\nCREATE INDEX "busy_id" ON "busy" USING btree ("id") WHERE id is not null;',
  },
]

/** A transaction that has written to a table, and what ends it. */
const holdWriter = async (table: string) => {
  const letGo = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const done = database.sql.begin(async (tx) => {
    await tx.unsafe(`insert into ${table} values (1)`)
    held.resolve()
    await letGo.promise
  })
  await held.promise
  return async () => {
    letGo.resolve()
    await done
  }
}

/** The sessions that build an index beside a transaction which has written to the table. */
const builders = () => database.sql<{ pid: number }[]>`
  select pid from pg_stat_progress_create_index 
  where datname = current_database() and phase = 'waiting for writers before build'`
const isBuilding = async (): Promise<boolean> => (await builders()).length > 0

/** As a payment does; it waits for no transaction. */
const write = (id: number) =>
  database.sql.begin(async (tx) => {
    await tx`set local lock_timeout = 500`
    await tx`insert into busy values (${id})`
  })

/** All indexes of the table and its partitions: name, and whether it is valid. */
const indexes = async () =>
  (
    await database.sql<{ name: string; isValid: boolean }[]>`
      select indexrelid::regclass::text as name, indisvalid as "isValid" from pg_index
      where indrelid in (
        select 'busy'::regclass union all select inhrelid from pg_inherits where inhparent = 'busy'::regclass
      )`
  )
    .map((index) => `${index.name} ${index.isValid ? 'valid' : 'invalid'}`)
    .sort()

describe.each([
  ['a table', 'busy', ['create table busy (id int)'], ['busy_id valid']],
  [
    'a partitioned table',
    'busy_p1',
    [
      'create table busy (id int) partition by range (id)',
      'create table busy_p1 partition of busy for values from (1) to (2)',
      'create table busy_p2 partition of busy for values from (2) to (3)',
      'create table busy_default partition of busy default',
    ],
    ['busy_default_id valid', 'busy_id valid', 'busy_p1_id valid', 'busy_p2_id valid'],
  ],
] as const)('%s', (_, written, made, whole) => {
  beforeEach(async () => {
    for (const statement of made) await database.sql.unsafe(statement)
    await database.sql`insert into busy select generate_series(1, 3)`
  })

  test('is written to while an index of it is built', async () => {
    const endWriter = await holdWriter(written)
    const migrating = migrate(database.dsn, indexed, quietLogger)
    await until(isBuilding)
    for (const id of [1, 2, 3]) await write(id)
    await endWriter()
    expect(await migrating).toEqual([name])
    expect(await indexes()).toEqual([...whole])
  })

  test('gets the whole index from whoever comes after one that was cut off', async () => {
    const endWriter = await holdWriter(written)
    const cutOff = migrate(database.dsn, indexed, quietLogger).then(
      () => 'done',
      () => 'cut off',
    )
    await until(isBuilding)
    for (const { pid } of await builders()) await database.sql`select pg_terminate_backend(${pid})`
    expect(await cutOff).toBe('cut off')
    await endWriter()
    expect((await indexes()).filter((index) => index.endsWith(' invalid'))).not.toEqual([])
    expect(await migrate(database.dsn, indexed, quietLogger)).toEqual([name])
    expect(await indexes()).toEqual([...whole])
  })

  test('is indexed once by instances that start together', async () => {
    const endWriter = await holdWriter(written)
    const all = [1, 2, 3].map(() => migrate(database.dsn, indexed, quietLogger))
    await until(isBuilding)
    await endWriter()
    expect((await Promise.all(all)).flat()).toEqual([name])
    expect(await indexes()).toEqual([...whole])
  })
})

test('a partition that is made while the others are indexed has its part', async () => {
  const { sql, dsn } = database
  await sql`create table busy (id int) partition by range (id)`
  await sql`create table busy_p1 partition of busy for values from (1) to (2)`
  const endWriter = await holdWriter('busy_p1')
  const migrating = migrate(dsn, indexed, quietLogger)
  await until(isBuilding)
  await endWriter()
  await sql`create table busy_p2 partition of busy for values from (2) to (3)`
  await migrating
  expect((await indexes()).filter((index) => index.endsWith(' valid'))).toHaveLength(3)
})

test('an index that cannot be is an error, and the migration is missing still', async () => {
  await database.sql`create table busy (id int)`
  await database.sql`insert into busy values (1), (1)`
  const unique = [
    ...migrations,
    { name, sql: 'CREATE UNIQUE INDEX "busy_id" ON "busy" USING btree ("id");' },
  ]
  await expect(migrate(database.dsn, unique, quietLogger)).rejects.toThrow('busy_id')
  await database.sql`delete from busy`
  expect(await migrate(database.dsn, unique, quietLogger)).toEqual([name])
  expect(await indexes()).toEqual(['busy_id valid'])
})

const manyRows = 1_000_000

/** For each migration that indexed a table with rows: how to fill that table, and how a payment writes to it. */
const grown = [
  {
    migration: '0064_transaction_amounts',
    table: 'spi_transactions_default',
    fill: `insert into spi_transactions (message_id, position, amount_cents)
      select gen_random_uuid(), 0, n from generate_series(1, ${manyRows}) n`,
    write: `insert into spi_transactions (message_id, position, amount_cents)
      values (gen_random_uuid(), 0, 100)`,
  },
  {
    migration: '0068_webhook_subjects',
    table: 'webhook_events',
    fill: `insert into webhook_events (id, type, patterns, subject, sequence, data)
      select 'evt_' || n, 'a', '{}', 's' || n, 1, '{}' from generate_series(1, ${manyRows}) n`,
    write: `insert into webhook_events (id, type, patterns, subject, sequence, data)
      values ('evt_' || gen_random_uuid(), 'a', '{}', 's', 1, '{}')`,
  },
] as const

test.skipIf(!isLong).each(grown)(
  `of ${manyRows} rows: payments are written while $migration is applied, and the version before it starts again`,
  async ({ migration, table, fill, write }) => {
    const { sql, dsn } = database
    await sql.unsafe('drop schema public cascade; create schema public')
    const at = migrations.findIndex(({ name }) => name.startsWith(migration.slice(0, 4)))
    const before = migrations.slice(0, at)
    const after = migrations.slice(0, at + 1)
    await migrate(dsn, before, quietLogger)
    await sql.begin(async (tx) => {
      await tx`set local statement_timeout = 0`
      await tx.unsafe(fill)
    })
    const building = async (): Promise<number | undefined> => {
      const [row] = await sql<{ pid: number }[]>`
        select pid from pg_stat_progress_create_index
        where relid = to_regclass(${table}) and phase like 'building index%'`
      return row?.pid
    }
    let isOver = false
    const migrating = migrate(dsn, after, quietLogger).finally(() => {
      isOver = true
    })
    let meanwhile = 0
    while (!isOver) {
      const builder = await building()
      await sql.unsafe(write)
      // It was built when the write began, and still is: the write did not wait for its end.
      if (builder !== undefined && (await building()) === builder) meanwhile++
    }
    expect(await migrating).toEqual([after.at(-1)!.name])
    expect(meanwhile).toBeGreaterThan(0)
    expect(await migrate(dsn, before, quietLogger)).toEqual([])
    await sql.unsafe(write)
  },
  400_000,
)
