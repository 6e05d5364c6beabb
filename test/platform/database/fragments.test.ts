import { expect, test } from 'bun:test'
import { joinedBytes, jsonArray, listed, textArray } from '#src/platform/database/index.ts'
import { createTestDatabase } from '../../support/database.ts'

const texts = ['', 'plain', 'a"b', 'back\\slash', '{1,2}', 'NULL', ' ç, \n', null]
const documents = [
  new Uint8Array(0),
  Uint8Array.from({ length: 256 }, (_, index) => index),
  Uint8Array.from([0]),
  new Uint8Array(0),
]

const { bytes, starts, lengths } = joinedBytes(documents)

test('arrays and documents arrive as they were, also in the first statements of a pool, many at once', async () => {
  const database = await createTestDatabase(8)
  const rows = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const [row] = await database.sql<{ texts: string[]; numbers: string; bytes: string[] }[]>`
        select to_json(${textArray(texts)}::text::text[]) as texts,
          array_to_string(${textArray([1, 2n, -3])}::text::int[], ';') as numbers,
          array(
            select encode(substring(${bytes}::bytea from start for length), 'hex')
            from unnest(${starts}::text::int[], ${lengths}::text::int[]) as document(start, length)
          ) as bytes`
      return row
    }),
  )
  for (const row of rows) {
    expect(row?.texts).toEqual(texts as string[])
    expect(row?.numbers).toBe('1;2;-3')
    expect(row?.bytes).toEqual(documents.map((bytes) => Buffer.from(bytes).toString('hex')))
  }
  await database.close()
})

test('an array of JSON arrives as it was', async () => {
  const database = await createTestDatabase(1)
  const values = ['', 'a"b\\c', '\n\t\u0000\u007f', 'ç\u2028', '\ud800', { '{': [null, 1] }, null]
  const texts = values.map((value) => JSON.stringify(value))
  const [row] = await database.sql<{ texts: (string | null)[] }[]>`
    select to_json(${jsonArray([...texts, undefined])}::text::text[]) as texts`
  expect(row?.texts).toEqual([...texts, null])
  await database.close()
})

test('a list is read once, also where all of a small table is passed through', async () => {
  const { sql, close } = await createTestDatabase(1)
  await sql`create table small (id uuid primary key)`
  await sql`insert into small select gen_random_uuid() from generate_series(1, 500)`
  await sql`analyze small`
  const ids = (await sql<{ id: string }[]>`select id from small`).map(({ id }) => id)
  const found = await sql`select from small where id = any(${listed(sql, ids, 'uuid')})`
  expect(found.count).toBe(500)
  const plan = await sql<Record<string, string>[]>`
    explain select from small where id = any(${listed(sql, ids, 'uuid')})`
  const conditions = plan.flatMap((row) => Object.values(row)).filter((line) => /ANY/.test(line))
  expect(conditions).not.toEqual([])
  for (const one of conditions) expect(one).not.toContain('cstring')
  await close()
})
