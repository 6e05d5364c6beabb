import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveTable } from '#src/platform/database/archive.ts'
import { type Database, inSnapshot, openDatabase } from '#src/platform/database/index.ts'
import { openSession } from '../../../src/platform/broker/postgresql/session.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

/** What somebody has set for a database, or a role, with other programs in mind. */
const preferred = {
  bytea_output: 'escape',
  datestyle: 'German',
  timezone: 'Asia/Kathmandu',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
}

const database = await createTestDatabase(2)
let own: Database

beforeAll(async () => {
  const name = new URL(database.dsn).pathname.slice(1)
  for (const [setting, value] of Object.entries(preferred)) {
    await database.sql.unsafe(`alter database ${name} set ${setting} = '${value}'`)
  }
  own = openDatabase({
    dsn: database.dsn,
    connectionsMax: 2,
    statementTimeoutMs: 30_000,
    logger: quietLogger,
  })
})

afterAll(async () => {
  await own.close()
  await database.close()
})

/** Every byte, what looks like the other form, and nothing. */
const samples: Uint8Array<ArrayBuffer>[] = [
  Uint8Array.from({ length: 256 }, (_, byte) => byte),
  Uint8Array.from(Buffer.from('\\x00 \\\\ \\101 " {,}')),
  new Uint8Array(),
]

test('bytes come as they were stored, alone and in lists', async () => {
  const { sql } = own
  await sql`create table kept (id int primary key, bytes bytea not null)`
  for (const [id, bytes] of samples.entries()) await sql`insert into kept values (${id}, ${bytes})`
  const rows = await sql<{ bytes: Uint8Array }[]>`select bytes from kept order by id`
  expect(rows.map(({ bytes }) => Uint8Array.from(bytes))).toEqual(samples)
  const [all] = await sql<{ list: Uint8Array[] }[]>`
    select array_agg(bytes order by id) as list from kept`
  expect(all?.list.map((bytes) => Uint8Array.from(bytes))).toEqual(samples)
})

test('an archive has bytes in hexadecimal', async () => {
  const directory = temporaryDirectory()
  await archiveTable({ sql: own.sql, logger: quietLogger }, { name: 'kept', directory }, undefined)
  const file = new Uint8Array(readFileSync(join(directory, 'kept.jsonl.gz')))
  const [first = ''] = new TextDecoder().decode(Bun.gunzipSync(file)).split('\n')
  expect(JSON.parse(first).bytes).toBe(`\\x${Buffer.from(samples[0] ?? []).toString('hex')}`)
})

test('moments and days are read as they are, in UTC', async () => {
  const [row] = await own.sql<{ at: Date; day: string; local: string; text: string }[]>`
    select '2026-03-02T21:30:00Z'::timestamptz as at, '2026-03-02'::date::text as day,
      ('2026-03-02T21:30:00Z'::timestamptz)::date::text as local, 'a\\d' as text`
  expect(row).toEqual({
    at: new Date('2026-03-02T21:30:00Z'),
    day: '2026-03-02',
    local: '2026-03-02',
    text: 'a\\d',
  })
})

test('a transaction sees what others commit after it has begun, unless it asks for a snapshot', async () => {
  const [usual] = await own.sql.begin((tx) => tx`show transaction_isolation`)
  expect(usual).toEqual({ transaction_isolation: 'read committed' })
  const [snapshot] = await inSnapshot(own.sql, (tx) => tx`show transaction_isolation`)
  expect(snapshot).toEqual({ transaction_isolation: 'repeatable read' })
})

test('the connections of consumers are alike', async () => {
  const session = openSession(database.dsn, 10_000)
  const [row] = await session.ask(
    (sql) => sql`
    select current_setting('datestyle') as style, bytes from kept where id = 0`,
  )
  expect(row).toEqual({ style: 'ISO, MDY', bytes: Buffer.from(samples[0] ?? '') })
  await session.close()
})
