import { afterAll, expect, test } from 'bun:test'
import { deletedMax } from '#src/platform/database/index.ts'
import { forgetEvents, forgetSequences } from '../../src/webhooks/retention.ts'
import { createTestDatabase } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

const dayMs = 86_400_000

type Over = { readonly published?: boolean; readonly status?: string; readonly endpoint?: string }

const eventMade = async (daysAgo: number, over: Over = {}) => {
  const at = new Date(Date.now() - daysAgo * dayMs)
  const id = `evt_${Bun.randomUUIDv7('hex', at)}`
  const { published = true, status = 'delivered', endpoint = 'whk_1' } = over
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, created_at, published_at)
    values (${id}, 'pacs.008', '{}', 's', 1, '{}', ${at}, ${published ? at : null})`
  await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, status)
    values (${`dlv_${id}`}, ${id}, ${endpoint}, ${status})`
  await sql`
    insert into webhook_attempts (delivery_id, at, duration_ms) values (${`dlv_${id}`}, ${at}, 1)`
  return id
}

test('events go with their deliveries and attempts; what is open stays', async () => {
  await sql`
    insert into webhook_endpoints (id, url, events, active)
    values ('whk_1', 'https://a.example', '{}', true), ('whk_2', 'https://b.example', '{}', false)`
  const gone = [
    await eventMade(31),
    await eventMade(400, { status: 'exhausted' }),
    // Nobody waits for these: their endpoint is disabled or removed, or no schedule lasts so long.
    await eventMade(31, { status: 'pending', endpoint: 'whk_2' }),
    await eventMade(31, { status: 'pending', endpoint: 'whk_3' }),
    await eventMade(30 + 15, { status: 'pending' }),
  ]
  const kept = [
    await eventMade(29),
    await eventMade(31, { status: 'pending' }),
    await eventMade(30 + 13, { status: 'pending' }),
    await eventMade(31, { published: false }),
  ]
  expect(await forgetEvents(sql, 30)).toBe(gone.length)
  const left = await sql<{ id: string }[]>`select id from webhook_events order by id`
  expect(left.map(({ id }) => id)).toEqual(kept.toSorted())
  expect(await sql`select from webhook_deliveries`).toHaveLength(kept.length)
  expect(await sql`select from webhook_attempts`).toHaveLength(kept.length)
})

test('the numbers of a subject go when it had no event for long', async () => {
  await sql`
    insert into webhook_sequences (subject, last, updated_at)
    select 's' || n, 1, now() - make_interval(days => n % 10) from generate_series(1, 12_000) n`
  expect(await forgetSequences(sql, 8)).toBe(2_400)
  const [row] =
    await sql`select min(updated_at) > now() - interval '8 days' as kept from webhook_sequences`
  expect(row?.['kept']).toBe(true)
})

test('more than one statement deletes go in several, unless the round is to end', async () => {
  const old = new Date(Date.now() - 60 * dayMs)
  const rows = Array.from({ length: deletedMax + 1 }, () => ({
    id: `evt_${Bun.randomUUIDv7('hex', old)}`,
  }))
  const store = () => sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
    select id, 'pacs.008', '{}', 's', 1, '{}', now()
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(id text)`
  await store()
  let advanced = 0
  const round = { advance: () => advanced++, end: () => {}, signal: new AbortController().signal }
  expect(await forgetEvents(sql, 30, round)).toBe(rows.length)
  expect(advanced).toBe(2)
  await store()
  expect(await forgetEvents(sql, 30, { ...round, signal: AbortSignal.abort() })).toBe(0)
})

test('what is kept is looked at once, not again with each statement', async () => {
  await sql`delete from webhook_events`
  const old = new Date(Date.now() - 60 * dayMs)
  const ids = Array.from({ length: 3 * deletedMax }, () => Bun.randomUUIDv7('hex', old))
  // The oldest third is not published yet.
  const rows = ids.toSorted().map((id, n) => ({ id: `evt_${id}`, at: n < deletedMax ? null : old }))
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
    select id, 'pacs.008', '{}', 's', 1, '{}', at
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r(id text, at timestamptz)`
  let statements = 0
  const round = { advance: () => statements++, end: () => {}, signal: new AbortController().signal }
  expect(await forgetEvents(sql, 30, round)).toBe(2 * deletedMax)
  expect(statements).toBe(4)
})
