import { afterAll, expect, test } from 'bun:test'
import { deletedMax } from '#src/platform/database/index.ts'
import { forgetEvents, forgetSequences } from '../../src/webhooks/retention.ts'
import { createTestDatabase } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

const dayMs = 86_400_000

const eventMade = async (daysAgo: number, over: { published?: boolean; status?: string } = {}) => {
  const at = new Date(Date.now() - daysAgo * dayMs)
  const id = `evt_${Bun.randomUUIDv7('hex', at)}`
  const { published = true, status = 'delivered' } = over
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, created_at, published_at)
    values (${id}, 'pacs.008', '{}', 's', 1, '{}', ${at}, ${published ? at : null})`
  await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, status)
    values (${`dlv_${id}`}, ${id}, 'whk_1', ${status})`
  await sql`
    insert into webhook_attempts (delivery_id, at, duration_ms) values (${`dlv_${id}`}, ${at}, 1)`
  return id
}

test('events go with their deliveries and attempts; what is open stays', async () => {
  await sql`insert into webhook_endpoints (id, url, events) values ('whk_1', 'https://a.example', '{}')`
  const gone = [await eventMade(31), await eventMade(400, { status: 'exhausted' })]
  const kept = [
    await eventMade(29),
    await eventMade(31, { status: 'pending' }),
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
