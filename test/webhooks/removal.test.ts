import { afterAll, beforeEach, expect, test } from 'bun:test'
import { deletedMax } from '#src/platform/database/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { bookOf } from '../../src/webhooks/book.ts'
import { createOutcomeWriter } from '../../src/webhooks/outcomes.ts'
import {
  type ClaimedDelivery,
  claimDue,
  judgeEndpoints,
  writeOutcomes,
} from '../../src/webhooks/queue.ts'
import { forgetRemoved } from '../../src/webhooks/retention.ts'
import { createEndpointStore } from '../../src/webhooks/store.ts'
import { quietLogger } from '../support/database.ts'
import { openTestDatabase } from './support.ts'

const database = await openTestDatabase()
beforeEach(async () => {
  await database.sql`truncate webhook_endpoints, webhook_events cascade`
})
afterAll(async () => {
  await database.close()
})

const url = 'https://a.example'
const lease = '2026-01-02T03:04:05.678901Z'

/** An endpoint with that many deliveries, each tried once. */
const endpointWith = async (id: string, deliveries: number, status = 'pending') => {
  const { sql } = database
  await sql`
    insert into webhook_endpoints (id, account, url, events) values (${id}, 'a', ${url}, '{*}')`
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
    select ${`evt_${id}_`} || n, 'pacs.008', '{*}', 's', n, '{}', now()
    from generate_series(1, ${deliveries}::int) n`
  await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, status, attempts, next_attempt_at)
    select ${`dlv_${id}_`} || n, ${`evt_${id}_`} || n, ${id}, ${status}, 1, ${lease}::text::timestamptz
    from generate_series(1, ${deliveries}::int) n`
  await sql`
    insert into webhook_attempts (delivery_id, at, duration_ms)
    select ${`dlv_${id}_`} || n, now(), 1 from generate_series(1, ${deliveries}::int) n`
}

/** The first delivery of the endpoint, tried now and failed for good. */
const failed = (endpointId: string) => {
  const delivery: ClaimedDelivery = {
    id: `dlv_${endpointId}_1`,
    endpointId,
    attempt: 1,
    dueAt: new Date(),
    lease,
    eventId: `evt_${endpointId}_1`,
    type: 'pacs.008',
    sequence: 1n,
    data: '{}',
    dataFull: null,
    traceparent: null,
    createdAt: new Date(),
  }
  const result = {
    outcome: { kind: 'failed', retryAfterMs: undefined },
    at: new Date(),
    durationMs: 1,
    statusCode: 500,
    answer: undefined,
    errorClass: 'status',
  } as const
  return { delivery, url, result, step: { state: 'exhausted', disable: undefined } } as const
}

test('an endpoint goes while an attempt of its is being written, and neither waits in vain', async () => {
  await endpointWith('whk_1', 1)
  const store = createEndpointStore(database.sql)
  let removed: Promise<boolean> | undefined
  await database.sql.begin(async (tx) => {
    await writeOutcomes(tx, [failed('whk_1')])
    removed = store.remove('whk_1')
    await Promise.race([removed, Bun.sleep(100)])
    await judgeEndpoints(tx, [{ id: 'whk_1', url, succeeded: false, gone: false }], 60, 60)
  })
  expect(await removed).toBe(true)
  expect(await store.find('whk_1')).toBeUndefined()
})

test('what a removed endpoint leaves goes in several statements; of another nothing does', async () => {
  await endpointWith('whk_1', deletedMax + 1)
  await endpointWith('whk_2', 2)
  await endpointWith('whk_3', 3, 'delivered')
  const store = createEndpointStore(database.sql)
  for (const id of ['whk_1', 'whk_3']) await store.remove(id)
  const open = (await bookOf(database.sql)).find(({ what }) => what === 'webhook deliveries')?.open
  expect(open).toBe(2)
  expect(await forgetRemoved(database.sql)).toBe(deletedMax + 1 + 3)
  const left = await database.sql`
    select d.endpoint_id as id from webhook_deliveries d
    join webhook_attempts a on a.delivery_id = d.id`
  expect(left.map(({ id }) => id)).toEqual(['whk_2', 'whk_2'])
  expect(await database.sql`select from webhook_attempts`).toHaveLength(2)
  expect(await forgetRemoved(database.sql)).toBe(0)
})

test('nobody is told that a delivery of a removed endpoint failed', async () => {
  await endpointWith('whk_1', 1)
  await endpointWith('whk_2', 1)
  await createEndpointStore(database.sql).remove('whk_1')
  await database.sql`
    insert into webhook_endpoints (id, account, url, events)
    values ('whk_all', 'institution', 'https://b.example', '{webhook.*}')`
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const deliveries = metrics.counter('deliveries_total', 'Deliveries.', ['event_type', 'status'])
  const writer = createOutcomeWriter(database.sql, deliveries, quietLogger)
  writer.add(failed('whk_1'))
  writer.add(failed('whk_2'))
  await writer.settled()
  const told = await database.sql`
    select subject, account from webhook_events where type = 'webhook.delivery.exhausted'`
  expect(told.map((one) => ({ ...one }))).toEqual([{ subject: 'whk_2', account: 'a' }])
})

test('of two that find an endpoint gone at once, one disables it', async () => {
  await endpointWith('whk_1', 1)
  const { sql } = database
  const gone = [{ id: 'whk_1', url, succeeded: false, gone: true }]
  const judge = () =>
    sql.begin(async (tx) => ({ disabled: await judgeEndpoints(tx, gone, 60, 60) }))
  const both = await sql.begin(async (tx) => {
    const first = await judgeEndpoints(tx, gone, 60, 60)
    const second = judge()
    await Promise.race([second, Bun.sleep(100)])
    return { first, second }
  })
  expect([...both.first]).toEqual([{ id: 'whk_1', reason: 'gone' }])
  expect([...(await both.second).disabled]).toEqual([])
  expect(await createEndpointStore(sql).find('whk_1')).toMatchObject({
    active: false,
    disabledReason: 'gone',
  })
})

test('a success of an endpoint that does not fail waits for nobody who writes to the endpoint', async () => {
  await endpointWith('whk_1', 1)
  await endpointWith('whk_2', 1)
  const { sql } = database
  const verdicts = [
    { id: 'whk_1', url, succeeded: true, gone: false },
    { id: 'whk_2', url, succeeded: false, gone: true },
  ]
  const judged = sql.begin(async (tx) => {
    await tx`select from webhook_endpoints where id = 'whk_1' for update`
    const judging = sql.begin(async (other) => {
      await other`set local lock_timeout = '1s'`
      return { disabled: await judgeEndpoints(other, verdicts, 60, 60) }
    })
    return { disabled: (await judging).disabled }
  })
  expect([...(await judged).disabled]).toEqual([{ id: 'whk_2', reason: 'gone' }])
})

test('no attempt begins of an endpoint that another process has disabled or removed', async () => {
  const { sql } = database
  const store = createEndpointStore(sql)
  for (const id of ['whk_1', 'whk_2', 'whk_3']) await endpointWith(id, 2)
  await store.change('whk_1', { active: false })
  await store.remove('whk_2')
  const rooms = new Map(['whk_1', 'whk_2', 'whk_3'].map((id) => [id, 2]))
  const claimed = await claimDue(sql, { rooms, free: 6 }, 30)
  expect(claimed.map(({ endpointId }) => endpointId)).toEqual(['whk_3', 'whk_3'])
})
