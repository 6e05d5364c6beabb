import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createPostgresBroker,
  type TransactionalBroker,
  withOutbox,
} from '#src/platform/broker/index.ts'
import {
  type Client,
  migrate,
  openDatabase,
  startEmbeddedPostgres,
} from '#src/platform/database/index.ts'
import { migrations } from '../../../drizzle/index.ts'
import { quietLogger as logger } from '../../support/database.ts'
import { engines, type RunningEngine, startEngine } from '../../support/engines.ts'
import { createTopicsOutside } from '../../support/topics-outside.ts'
import { until } from '../../support/until.ts'

/** The major version of pg_dump, which refuses a newer server; 0: none is here. */
const dumpVersion = (): number => {
  if (Bun.which('pg_dump') === null || Bun.which('psql') === null) return 0
  const said = Bun.spawnSync(['pg_dump', '--version']).stdout.toString()
  return Number(/ (\d+)/.exec(said)?.[1] ?? 0)
}

const engineOf = (version: number) => engines.find(({ name }) => name.includes(` ${version}.`))
const dumped = engineOf(dumpVersion())
const way = dumped === undefined ? 'tables copied' : `pg_dump of ${dumped.name} and psql`

let source: RunningEngine
let target: Awaited<ReturnType<typeof startEmbeddedPostgres>>
let directory: string

beforeAll(async () => {
  directory = join(tmpdir(), `trilho-test-restore-${process.pid}`)
  mkdirSync(directory, { mode: 0o755 })
  const [own = { name: '', bin: undefined }] = engines
  ;[source, target] = await Promise.all([
    startEngine(dumped ?? own),
    startEmbeddedPostgres({
      directory,
      settings: { fsync: 'off', max_prepared_transactions: '2' },
    }),
  ])
}, 60_000)

afterAll(async () => {
  await source[Symbol.asyncDispose]()
  await target.stop()
  for (const path of [directory, target.directory]) rmSync(path, { recursive: true, force: true })
})

const openOn = (dsn: string) =>
  openDatabase({ dsn, connectionsMax: 3, statementTimeoutMs: 30_000, logger })

const databaseOn = async (name: string): Promise<string> => {
  const admin = openOn(target.url)
  await admin.sql`create database ${admin.sql(name)}`
  await admin.close()
  const url = new URL(target.url)
  url.pathname = `/${name}`
  return url.href
}

const tables = ['broker_lanes', 'broker_members', 'broker_backlogs', 'broker_queue'] as const

/** Brings the schema and every row to another server, as people do who move a database. */
const carryOver = async (to: string): Promise<void> => {
  if (dumped !== undefined) {
    const dump = Bun.spawn(['pg_dump', '--no-owner', '-d', source.dsn], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const restore = Bun.spawn(
      ['psql', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', to],
      {
        stdin: dump.stdout,
        stderr: 'inherit',
      },
    )
    expect([await dump.exited, await restore.exited]).toEqual([0, 0])
    return
  }
  await migrate(to, migrations, logger)
  const [from, into] = [openOn(source.dsn), openOn(to)]
  for (const table of tables) {
    await into.sql`delete from ${into.sql(table)}`
    const [row] = await from.sql<{ rows: string }[]>`
      select coalesce(json_agg(one), '[]')::text as rows from ${from.sql(table)} one`
    await into.sql`
      insert into ${into.sql(table)} overriding system value
      select * from json_populate_recordset(null::${into.sql(table)}, ${row?.rows ?? '[]'}::text::json)`
  }
  const [order] = await from.sql<{ last: bigint }[]>`
    select last_value as last from broker_queue_order`
  await into.sql`select setval('broker_queue_order', ${order?.last ?? 1n})`
  await Promise.all([from.close(), into.close()])
}

const openBroker = (sql: Client, dsn: string, way: 'itself' | 'outbox'): TransactionalBroker => {
  const log = createPostgresBroker({ sql, dsn, logger })
  return way === 'itself' ? log : withOutbox({ broker: createTopicsOutside(), log, logger })
}

const publish = async (
  broker: TransactionalBroker,
  sql: Client,
  topic: string,
  texts: readonly string[],
): Promise<void> => {
  await sql.begin((tx) =>
    broker.publishIn(
      tx,
      texts.map((text) => ({ topic, key: text, value: Buffer.from(text) })),
    ),
  )
}

const read = (broker: TransactionalBroker, topic: string): string[] => {
  const seen: string[] = []
  broker.consume({
    topic,
    group: 'g',
    batchSizeMax: 10,
    handler: async (batch) => {
      seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
    },
  })
  return seen
}

const textsOf = (stem: string) => Array.from({ length: 20 }, (_, index) => `${stem} ${index}`)

describe(`a database restored on another server (${way})`, () => {
  test.each(['itself', 'outbox'] as const)(
    'delivers what waited and what is published afterwards, and nothing that was settled: the broker is the %s',
    async (way) => {
      const topic = `restored.${way}`
      const here = openOn(source.dsn)
      // The server that the database leaves has counted further than the one that it comes to.
      await here.sql`do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$`
      const before = openBroker(here.sql, source.dsn, way)
      await before.start()
      const seenBefore = read(before, topic)
      await publish(before, here.sql, topic, textsOf('settled'))
      await until(() => seenBefore.length === 20)
      const isSettled = async () =>
        (await here.sql`select from broker_queue where id > 0`).count === 0
      await until(isSettled)
      await before.stop()
      await publish(before, here.sql, topic, textsOf('waiting'))
      // Whoever had the lanes is not there to give them back, and its clock was ahead.
      await here.sql`update broker_lanes set owner = 'elsewhere', until = now() + interval '1 day'`
      await here.close()

      const dsn = await databaseOn(`restored_${way}`)
      await carryOver(dsn)

      const there = openOn(dsn)
      const after = openBroker(there.sql, dsn, way)
      await after.start()
      const seen = read(after, topic)
      await publish(after, there.sql, topic, textsOf('fresh'))
      await until(() => seen.length >= 40)
      expect([...seen].sort()).toEqual([...textsOf('waiting'), ...textsOf('fresh')].sort())
      await until(async () => (await after.backlog(topic, 'g')).depth === 0)
      expect(await after.checks?.()).toMatchObject([{ status: 'ok' }])
      await after.stop()
      await there.close()
      const cleared = openOn(source.dsn)
      await cleared.sql`delete from broker_queue where id > 0`
      await cleared.close()
    },
    60_000,
  )

  test('a prepared transaction holds nothing back, in this database or another', async () => {
    const names = ['prepared_here', 'prepared_there']
    const [dsn = '', other = ''] = await Promise.all(names.map(databaseOn))
    await migrate(dsn, migrations, logger)
    const [here, there] = [openOn(dsn), openOn(other)]
    const connections = [await here.sql.reserve(), await there.sql.reserve()]
    for (const [index, connection] of connections.entries()) {
      await connection`begin`
      await connection`create table forgotten ()`
      await connection.unsafe(`prepare transaction 'forgotten ${index}'`)
    }
    const broker = openBroker(here.sql, dsn, 'itself')
    const seen = read(broker, 'prepared')
    await publish(broker, here.sql, 'prepared', ['1'])
    await until(() => seen.length === 1)
    await broker.stop()
    for (const [index, connection] of connections.entries()) {
      await connection.unsafe(`rollback prepared 'forgotten ${index}'`)
      connection.release()
    }
    await Promise.all([here.close(), there.close()])
  }, 60_000)

  test('a sequence that a replica left behind is told of, with the remedy', async () => {
    const dsn = await databaseOn('replica')
    await migrate(dsn, migrations, logger)
    const { sql, close } = openOn(dsn)
    const broker = openBroker(sql, dsn, 'itself')
    await publish(broker, sql, 'replicated', ['1', '2'])
    for (const isCalled of [true, false]) {
      await sql`select setval('broker_queue_order', ${isCalled ? 1 : 2}, ${isCalled})`
      expect(await broker.checks?.()).toMatchObject([
        { status: 'failed', fix: "run: select setval('broker_queue_order', 2)" },
      ])
    }
    await broker.stop()
    await close()
  }, 60_000)
})
