import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archiveLines, archiveTable } from '#src/platform/database/archive.ts'
import { openDatabase } from '#src/platform/database/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase(2)
const { sql, dsn } = database
const directory = mkdtempSync(join(tmpdir(), 'trilho-archive-'))
afterAll(async () => {
  await database.close()
  rmSync(directory, { recursive: true })
})

const statementTimeoutMs = 700
/** To compress so many takes longer than a statement may. */
const rowCount = 100_000

test('a table that takes longer than a statement may is archived as it was, each row once', async () => {
  await sql`
    create table large as
    select id, state, (select string_agg(md5(random()::text || n), '')
      from generate_series(1, 24) n) as text
    from generate_series(1, ${rowCount}) id, (values ('old')) given(state)`
  const pool = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs, logger: quietLogger })
  let advanced = 0
  const round = {
    signal: new AbortController().signal,
    advance: () => {
      // What is written anew meanwhile goes to other places of the table.
      if (++advanced % 500 === 0)
        void sql`update large set state = 'new' where id % 7 = 0`.execute()
    },
  }
  const beganMs = performance.now()
  await archiveTable({ sql: pool.sql, logger: quietLogger }, { name: 'large', directory }, round)
  expect(performance.now() - beganMs).toBeGreaterThan(statementTimeoutMs)
  const file = readFileSync(join(directory, 'large.jsonl.gz'))
  const lines = Buffer.from(Bun.gunzipSync(new Uint8Array(file)))
    .toString()
    .trimEnd()
    .split('\n')
  const rows = lines.map(
    (line) => JSON.parse(line) as { readonly id: number; readonly state: string },
  )
  expect(rows).toHaveLength(rowCount)
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rowCount)
  expect(rows.every(({ state }) => state === 'old')).toBe(true)
  await pool.close()
}, 60_000)

test('an empty table becomes an empty file', async () => {
  await sql`create table bare (id int)`
  await archiveTable({ sql, logger: quietLogger }, { name: 'bare', directory }, undefined)
  const file = readFileSync(join(directory, 'bare.jsonl.gz'))
  expect(Bun.gunzipSync(new Uint8Array(file))).toHaveLength(0)
})

const textIn = (file: string): string =>
  Buffer.from(Bun.gunzipSync(new Uint8Array(readFileSync(file)))).toString()

test('of two that write one file the later has it whole, and the earlier fails', async () => {
  const place = mkdtempSync(join(directory, 'two-'))
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  /** More than the streams keep to themselves. */
  const piece = () =>
    `${Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('hex')}\n`
  async function* slow() {
    for (let count = 0; count < 20; count++) yield piece()
    begun.resolve()
    await goOn.promise
    yield piece()
  }
  const whole = Array.from({ length: 40 }, piece)
  async function* fast() {
    yield* whole
  }
  const earlier = archiveLines(slow(), place, 'part', undefined).then(
    () => 'whole',
    () => 'failed',
  )
  await begun.promise
  await archiveLines(fast(), place, 'part', undefined)
  goOn.resolve()
  expect(await earlier).toBe('failed')
  expect(textIn(join(place, 'part.jsonl.gz'))).toBe(whole.join(''))
  expect(readdirSync(place)).toEqual(['part.jsonl.gz'])
})

test('what was left of an archive goes: of the same file at once, of another once it is old', async () => {
  const place = mkdtempSync(join(directory, 'left-'))
  const [same, other, old] = [
    'part.jsonl.gz.partial',
    'two.jsonl.gz.a.partial',
    'three.jsonl.gz.a.partial',
  ]
  for (const name of [same, other, old, 'notes.partial']) writeFileSync(join(place, name), '')
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000)
  for (const name of [old, 'notes.partial']) utimesSync(join(place, name), twoDaysAgo, twoDaysAgo)
  async function* lines() {
    yield 'line\n'
  }
  await archiveLines(lines(), place, 'part', undefined)
  expect(readdirSync(place).toSorted()).toEqual(['notes.partial', 'part.jsonl.gz', other])
})
