import { afterAll, expect, test } from 'bun:test'
import { emitEvents, emitWithin } from '../../src/webhooks/events.ts'
import { createTestDatabase } from '../support/database.ts'
import { subscribe } from '../support/webhooks.ts'

const database = await createTestDatabase()
const { sql } = database
await subscribe(sql, ['pacs.*'])
afterAll(() => database.close())

const event = (subject: string, number: number, full?: object) => ({
  type: 'pacs.008',
  subject,
  data: { number, text: 'ação "é" \\ {}' },
  ...(full === undefined ? {} : { full: { ...full } }),
})

test('several events are numbered per subject, in their order and after those before', async () => {
  await emitEvents(sql, [event('a', 0)])
  await emitEvents(sql, [])
  await emitEvents(sql, [
    event('b', 1),
    event('a', 2),
    event('b', 3, { more: true }),
    event('a', 4),
  ])
  const rows = await sql<
    { subject: string; sequence: bigint; data: string; full: string | null }[]
  >`
    select subject, sequence, data, data_full as full from webhook_events order by subject, sequence`
  expect(rows.map(({ subject, sequence }) => `${subject}${sequence}`)).toEqual([
    ...['a1', 'a2', 'a3', 'b1', 'b2'],
  ])
  expect(rows.map(({ data }) => JSON.parse(data).number)).toEqual([0, 2, 4, 1, 3])
  expect(JSON.parse(rows[0]?.data ?? '')).toEqual(event('a', 0).data)
  expect(rows[4]?.full).toBe('{"more":true}')
  const [row] = await sql<{ patterns: string[] }[]>`select patterns from webhook_events limit 1`
  expect(row?.patterns).toEqual(['*', 'pacs.*', 'pacs.008'])
})

test('writers of the same subjects in different orders wait for one another', async () => {
  const subjects = Array.from({ length: 40 }, (_, index) => `s${index}`)
  const write = (order: readonly string[]) =>
    sql.begin((tx) =>
      emitEvents(
        tx,
        order.map((subject) => event(subject, 1)),
      ),
    )
  await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      write(index % 2 === 0 ? subjects : subjects.toReversed()),
    ),
  )
  const rows = await sql<{ last: bigint }[]>`
    select last from webhook_sequences where subject like 's%'`
  expect(rows.map(({ last }) => last)).toEqual(subjects.map(() => 6n))
})

test('only what an active endpoint takes is written', async () => {
  const own = await createTestDatabase()
  const of = (type: string) => ({ type, subject: type, data: {} })
  const emitted = async (...types: readonly string[]) => {
    await own.sql`truncate webhook_events cascade`
    await emitEvents(own.sql, types.map(of))
    const rows = await own.sql<{ type: string }[]>`select type from webhook_events order by type`
    return rows.map(({ type }) => type)
  }
  const all = ['message.status', 'pacs.004', 'pacs.008'] as const
  expect(await emitted(...all)).toEqual([])
  const sequences = await own.sql`select from webhook_sequences`
  expect(sequences).toHaveLength(0)
  await subscribe(own.sql, ['pacs.004', 'camt.*'])
  expect(await emitted(...all)).toEqual(['pacs.004'])
  await subscribe(own.sql, ['pacs.*'])
  expect(await emitted(...all)).toEqual(['pacs.004', 'pacs.008'])
  await subscribe(own.sql, ['*'])
  expect(await emitted(...all)).toEqual([...all])
  await own.sql`update webhook_endpoints set active = false`
  expect(await emitted(...all)).toEqual([])
  await own.close()
})

test('what the first few take is not asked of the index, which gathers all that take it', async () => {
  const own = await createTestDatabase()
  // The last of them by account take another type.
  await own.sql`
    insert into webhook_endpoints (id, account, url, events)
    select 'whk_' || n, 'account ' || lpad(n::text, 4, '0'), 'https://example.org',
      case when n <= 500 then '{pacs.008}'::text[] else '{pacs.002}' end
    from generate_series(1, 1000) n`
  const plan = async (type: string) => {
    const written = { type, patterns: ['*', type], subject: 's', data: '{}' }
    const rows = JSON.stringify(
      [0, 1, 2].map((place) => ({ ...written, place, id: `evt_${type}_${place}` })),
    )
    const lines = await own.sql<{ 'QUERY PLAN': string }[]>`
      explain (analyze, costs off, timing off)
      with ${emitWithin.ctes(own.sql, own.sql`select value from json_array_elements(${rows}::text::json)`)}
      select distinct type from event_rows`
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  }
  const theIndex = 'on webhook_endpoints_taking'
  expect(await plan('pacs.008')).toContain(`${theIndex} (never executed)`)
  // Once for all events of a type.
  expect(await plan('pacs.002')).toMatch(
    /on webhook_endpoints_taking \(actual rows=500\S* loops=1\)/,
  )
  const untaken = await plan('pacs.004')
  expect(untaken).toContain(`${theIndex} (actual rows=0`)
  expect(untaken).toMatch(
    /Index Scan using webhook_endpoints_of_types on webhook_endpoints \(actual rows=100/,
  )
  await own.close()
})
