import { afterAll, beforeAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import {
  daysAgo,
  dropExpired,
  ensurePartitions,
  partitionNames,
  textArray,
  uuidBound,
} from '#src/platform/database/index.ts'
import { sealEntries } from '#src/platform/http/audit/chain/seal.ts'
import { forgetAudit } from '#src/platform/http/audit/feature.ts'
import { insertMessages, type NewMessage } from '#src/spi/messages/index.ts'
import { forgetMessages, messageTables } from '#src/spi/messages/retention.ts'
import { message } from '../../spi/messages/support.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
const directory = mkdtempSync(join(tmpdir(), 'trilho-archive-'))
afterAll(async () => {
  await database.close()
  rmSync(directory, { recursive: true })
})

const logger = { ...quietLogger, warn: () => {} }
const old = new Date('2021-03-15T12:00:00Z')
const older = new Date('2021-02-15T12:00:00Z')
const ancient = new Date('2019-01-15T12:00:00Z')
const now = new Date()
const deps = { sql, days: 365, archiveDirectory: undefined, logger }

beforeAll(async () => {
  for (const at of [older, old, now]) {
    for (const table of messageTables) await ensurePartitions(sql, table, 0, at)
  }
})

const stored = async (at: Date, over: Partial<NewMessage> = {}) => {
  const one = message(over, at)
  await insertMessages(sql, [one])
  return one
}

const count = async (table: string): Promise<number> =>
  (await sql`select from ${sql(table)}`).length

const keysOf = async ({ id }: NewMessage): Promise<number> =>
  (await sql`select from spi_message_keys where message_id = ${id}`).length

const linesIn = (file: string): readonly Record<string, unknown>[] =>
  Buffer.from(Bun.gunzipSync(new Uint8Array(readFileSync(join(directory, file)))))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('a month past its retention goes with its keys, is archived before, and an open one stays', async () => {
  const gone = await stored(older)
  const open = await stored(old, { direction: 'OUTBOUND', status: 'UNKNOWN' })
  const beside = await stored(old)
  const young = await stored(now)
  const dropped = await forgetMessages({ ...deps, archiveDirectory: directory })
  expect(dropped.toSorted()).toEqual(
    ['202101', '202102']
      .flatMap((month) =>
        ['history', 'messages', 'sendings', 'transactions'].map(
          (table) => `spi_${table}_p${month}`,
        ),
      )
      .toSorted(),
  )
  expect(await Promise.all([gone, open, beside, young].map(keysOf))).toEqual([0, 3, 2, 2])
  expect(await count('spi_messages')).toBe(3)
  expect(await count('spi_history')).toBe(3)
  expect(linesIn('spi_messages_p202102.jsonl.gz')).toMatchObject([
    { id: gone.id, biz_msg_idr: gone.bizMsgIdr },
  ])
  expect(linesIn('spi_transactions_p202102.jsonl.gz')).toMatchObject([{ message_id: gone.id }])
  expect(readdirSync(directory).filter((name) => name.endsWith('.partial'))).toEqual([])
})

test('the month goes once nothing in it is open', async () => {
  await sql`update spi_messages set status = 'ACCEPTED' where status = 'UNKNOWN'`
  expect(await forgetMessages(deps)).toContain('spi_messages_p202103')
  expect(await count('spi_messages')).toBe(1)
  expect(await sql`select from spi_message_keys where kind = 'pacs.008'`).toHaveLength(0)
})

test('a month stays when something in it becomes open while it is archived', async () => {
  for (const table of messageTables) await ensurePartitions(sql, table, 0, old)
  const { id } = await stored(old)
  const file = 'spi_messages_p202103.jsonl.gz'
  const forgotten: string[] = []
  const dropped = await dropExpired(
    { ...deps, archiveDirectory: directory },
    {
      tables: messageTables,
      keys: {
        spi_messages: 'id',
        spi_sendings: 'message_id',
        spi_transactions: 'message_id',
        spi_history: 'message_id',
      },
      isOpen: (sql) => (readdirSync(directory).includes(file) ? sql`true` : sql`false`),
      beforeGone: async (_, ids) => void forgotten.push(...ids),
    },
    await daysAgo(sql, deps.days),
  )
  expect(dropped.filter((name) => name.endsWith('_p202103'))).toEqual([])
  expect(linesIn(file)).toMatchObject([{ id }])
  expect(await sql`select from spi_messages where id = ${id}`).toHaveLength(1)
  expect(forgotten).toEqual([])
  await forgetMessages(deps)
})

test('rows without a partition of their own go one by one, but for the open ones', async () => {
  const gone = await stored(ancient)
  const open = await stored(ancient, { direction: 'OUTBOUND', status: 'QUEUED' })
  await forgetMessages({ ...deps, archiveDirectory: directory })
  const left = await sql<{ id: string }[]>`select id from spi_messages_default`
  expect(left.map(({ id }) => id)).toEqual([open.id])
  expect(await sql`select from spi_transactions_default`).toHaveLength(1)
  const [file] = readdirSync(directory).filter((name) => name.startsWith('spi_messages_default'))
  expect(linesIn(file ?? '').map(({ id }) => id)).toEqual([gone.id, open.id])
})

describe('a range of which only some tables have a partition', () => {
  const table = (name: string) => ({ name, unit: 'month', bound: uuidBound }) as const
  const [letters, pages] = [table('letters'), table('pages')]
  const tables = [letters, pages] as const
  const id = (at: Date) => Bun.randomUUIDv7('hex', at)
  const write = async (ids: readonly string[], isOpen = false) => {
    const given = textArray(ids)
    await sql`insert into letters select id, ${isOpen} from unnest(${given}::text::uuid[]) id`
    await sql`
      insert into pages
      select id, number from unnest(${given}::text::uuid[]) id, generate_series(1, 3) number`
  }
  const forget = async (archiveDirectory?: string) =>
    dropExpired(
      { ...deps, archiveDirectory },
      { tables, keys: { letters: 'id', pages: 'letter_id' }, isOpen: (on) => on`is_open` },
      await daysAgo(sql, deps.days),
    )
  const left = async () => [await count('letters'), await count('pages')]

  beforeEach(async () => {
    await sql.unsafe(`
      drop table if exists letters, pages;
      create table letters (id uuid primary key, is_open boolean not null) partition by range (id);
      create table letters_default partition of letters default;
      create table pages (letter_id uuid, number int, primary key (letter_id, number))
        partition by range (letter_id);
      create table pages_default partition of pages default`)
  })

  test('later ones: their rows go with those of the first, and so does the partition', async () => {
    const open = id(old)
    await write([open], true)
    await sql`delete from pages`
    for (const each of tables) await ensurePartitions(sql, each, 0, old)
    expect(await partitionNames(sql, letters)).not.toContain('letters_p202103')
    await sql`insert into pages values (${open}::text::uuid, 1)`
    await write([id(old)])
    const place = mkdtempSync(join(directory, 'later-'))
    await forget(place)
    expect(await left()).toEqual([1, 1])
    const file = readdirSync(place).find((name) => name.startsWith('pages_p202103'))
    expect(linesIn(join(basename(place), file ?? ''))).toHaveLength(4)
    await sql`update letters set is_open = false`
    expect(await forget()).toEqual(['pages_p202103'])
    expect(await left()).toEqual([0, 0])
    expect(await partitionNames(sql, pages)).toEqual([])
  })

  test('the first: the rows of the others go once its partition is gone', async () => {
    await ensurePartitions(sql, letters, 0, old)
    await write([id(old), id(old), id(now)])
    const place = mkdtempSync(join(directory, 'first-'))
    expect(await forget(place)).toContain('letters_p202103')
    expect(await left()).toEqual([1, 3])
    const file = readdirSync(place).find((name) => name.startsWith('pages_default'))
    expect(linesIn(join(basename(place), file ?? ''))).toHaveLength(9)
    await forget(place)
    expect(readdirSync(place).filter((name) => name.startsWith('pages_default'))).toHaveLength(1)
  })

  test('days of one and months of another: nothing outlives what it is of', async () => {
    await ensurePartitions(sql, { ...letters, unit: 'day' }, 0, old)
    await ensurePartitions(sql, pages, 0, old)
    await write(Array.from({ length: 1_100 }, () => id(old)))
    await write([id(old)], true)
    await forget()
    expect(await left()).toEqual([1_101, 3_303])
    await sql`update letters set is_open = false`
    expect((await forget()).toSorted()).toEqual(['letters_p20210315', 'pages_p202103'])
    expect(await left()).toEqual([0, 0])
  })
})

test('nothing goes before its time', async () => {
  await sql`truncate spi_messages, spi_transactions, spi_history, spi_sendings`
  const young = await stored(now)
  expect(await forgetMessages({ ...deps, days: 90 })).toEqual([])
  expect(await keysOf(young)).toBe(2)
  // However wrong the clock of one process is.
  setSystemTime(new Date(now.getTime() + 3_650 * 86_400_000))
  try {
    expect(await forgetMessages({ ...deps, days: 90 })).toEqual([])
  } finally {
    setSystemTime()
  }
  expect(await keysOf(young)).toBe(2)
  expect(await count('spi_messages')).toBe(1)
})

test('the audit log keeps its months as long as it is told', async () => {
  const table = { name: 'audit_log', unit: 'month', bound: messageTables[0].bound } as const
  await ensurePartitions(sql, table, 0, old)
  const entry = (at: Date) => sql`
    insert into audit_log (id, actor, action, object, outcome)
    values (${Bun.randomUUIDv7('hex', at)}, 'key', 'spi.send', 'x', 'queued')`
  await entry(old)
  await entry(ancient)
  await entry(now)
  expect(await forgetAudit(deps)).toEqual(['audit_log_p202102', 'audit_log_p202103'])
  expect(await count('audit_log')).toBe(1)
})

test('an archive advances its round by the piece; a round that ends leaves the month and no file', async () => {
  const table = { name: 'audit_log', unit: 'month', bound: messageTables[0].bound } as const
  await ensurePartitions(sql, table, 0, old)
  await sql`
    insert into audit_log (id, actor, action, object, outcome)
    select id::uuid, 'key', 'spi.send', 'x', 'queued'
    from unnest(${Array.from({ length: 1_000 }, () => Bun.randomUUIDv7('hex', old))}::text[]) id`
  await sealEntries({ sql, logger })
  const place = mkdtempSync(join(directory, 'audit-'))
  const archived = { ...deps, archiveDirectory: place }
  const ending = new AbortController()
  let advanced = 0
  const roundUntil = (last: number) => ({
    signal: ending.signal,
    advance: () => {
      if (++advanced === last) ending.abort()
    },
    end: () => undefined,
  })
  // A piece is the one link.
  await expect(forgetAudit(archived, roundUntil(2))).rejects.toThrow('not whole')
  const left = (await sql`select from audit_log_p202103`).count
  expect([advanced, left]).toEqual([2, 1_000])
  // An earlier test left an empty month before it.
  expect(readdirSync(place).sort()).toEqual([
    'audit_chain_000000000001-000000000001.jsonl.gz',
    'audit_log_p202102.jsonl.gz',
  ])
})

test('days go one by one, and a month that ends after them stays', async () => {
  const dayMs = 86_400_000
  const at = (days: number): Date => new Date(now.getTime() - days * dayMs)
  const days = messageTables.map((table) => ({ ...table, unit: 'day' }) as const)
  // Two months back no month has a partition in these tests.
  for (const table of days) await ensurePartitions(sql, table, 0, at(70))
  const gone = await stored(at(70))
  const digits = at(70).toISOString().slice(0, 10).replaceAll('-', '')
  const names = (await forgetMessages({ ...deps, days: 69 })).filter((name) =>
    name.endsWith(digits),
  )
  expect(names.toSorted()).toEqual(messageTables.map(({ name }) => `${name}_p${digits}`).toSorted())
  expect(await keysOf(gone)).toBe(0)
  // The month of three days ago is not over yet, or was three days ago: what is younger than that stays.
  const young = await stored(now)
  expect(await forgetMessages({ ...deps, days: 3 })).not.toContain(
    `spi_messages_p${now.toISOString().slice(0, 7).replace('-', '')}`,
  )
  expect(await keysOf(young)).not.toBe(0)
})
