/** Whether an endpoint is told of an event is decided by the moment of the event, however late deliveries are made. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { emitEvents, type WebhookEvent } from '../../src/webhooks/events.ts'
import { bringEvents, fanOut } from '../../src/webhooks/outbox.ts'
import { judgeEndpoints } from '../../src/webhooks/queue.ts'
import { createEndpointStore } from '../../src/webhooks/store.ts'
import { createTestDatabase } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database
const store = createEndpointStore(sql)
beforeEach(async () => {
  await sql`truncate webhook_endpoints, webhook_events cascade`
})

const url = 'https://receiver.example/hook'
const topic = 'api-pix/pix/7'
const make = async (
  id: string,
  more: { readonly active?: boolean; readonly topic?: string } = {},
) => {
  const { active = true } = more
  await sql`
    insert into webhook_endpoints (id, url, events, active, topic)
    values (${id}, ${url}, ${[more.topic ?? 'pacs.008']}::text[], ${active}, ${more.topic ?? null})`
}
const event = { type: 'pacs.008', subject: 's', data: {} }
const emit = (more: Partial<WebhookEvent> = {}) => emitEvents(sql, [{ ...event, ...more }])

/** The endpoints that are told of what was written. */
const told = async (): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`select id from webhook_events order by created_at`
  const ids = rows.map(({ id }) => id)
  await sql.begin((tx) => fanOut(tx, ids, ['default']))
  const deliveries = await sql<{ id: string }[]>`
    select endpoint_id as id from webhook_deliveries order by endpoint_id`
  return deliveries.map(({ id }) => id)
}

const disableGone = (id: string) =>
  sql.begin(async (tx) => {
    await judgeEndpoints(tx, [{ id, url, succeeded: false, gone: true }], 60, 60)
  })
const disablings: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
  ['request', (id) => store.change(id, { active: false })],
  ['a 410', disableGone],
]

test.each(disablings)('who is disabled by %s after an event is told of it', async (_, disable) => {
  await make('whk_1')
  await make('whk_2', { topic })
  await emit({ topic })
  for (const id of ['whk_1', 'whk_2']) await disable(id)
  expect(await told()).toEqual(['whk_1', 'whk_2'])
})

test.each(disablings)('who was disabled by %s before an event is not', async (_, disable) => {
  await make('whk_1')
  await make('whk_2')
  await make('whk_3', { active: false })
  await make('whk_4', { topic })
  for (const id of ['whk_2', 'whk_3', 'whk_4']) await disable(id)
  await emit({ topic })
  // Once more changes nothing.
  for (const id of ['whk_2', 'whk_3', 'whk_4']) await disable(id)
  expect(await told()).toEqual(['whk_1'])
})

test('one that was made after an event is not told of it', async () => {
  await make('whk_1')
  await emit({ topic })
  await make('whk_2')
  await make('whk_3', { topic })
  expect(await told()).toEqual(['whk_1'])
})

test('one that was made while the transaction of an event was open is told of it', async () => {
  await sql.begin(async (tx) => {
    await tx`select now()`
    await Bun.sleep(20)
    await make('whk_1')
    await emitEvents(tx, [event])
  })
  expect(await told()).toEqual(['whk_1'])
})

test('what waits in another database goes by the moment of its making there', async () => {
  const own = await createTestDatabase()
  const isMadeThere = async (id: string, ageSeconds: number) => {
    await own.sql`
      insert into webhook_events (id, type, patterns, subject, sequence, data, created_at)
      values (${id}, 'pacs.008', '{pacs.008}', 's', 1, '{}',
        now() - make_interval(secs => ${ageSeconds}))`
  }
  await make('whk_1')
  await sql`update webhook_endpoints set created_at = now() - interval '1 hour'`
  await store.change('whk_1', { active: false })
  await sql`update webhook_endpoints set disabled_at = now() - interval '1 minute'`
  await make('whk_2')
  await isMadeThere('evt_1', 90)
  await isMadeThere('evt_2', 30)
  await isMadeThere('evt_3', 7_200)
  await bringEvents(own.sql, sql, 10)
  await told()
  const rows = await sql<{ pair: string }[]>`
    select event_id || ' ' || endpoint_id as pair from webhook_deliveries order by event_id`
  expect(rows.map(({ pair }) => pair)).toEqual(['evt_1 whk_1'])
  await own.close()
})
