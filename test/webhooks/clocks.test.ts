/** A process whose clock is wrong keeps the database's times. */
import { afterAll, afterEach, expect, setSystemTime, test } from 'bun:test'
import { claimDue, writeOutcomes } from '../../src/webhooks/queue.ts'
import { createSecrets } from '../../src/webhooks/secrets.ts'
import { createEndpointStore } from '../../src/webhooks/store.ts'
import { createTestDatabase } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
afterEach(() => {
  setSystemTime()
})
const { sql } = database
const store = createEndpointStore(sql)

const url = 'https://example.org/'
const endpointMade = async (): Promise<string> => {
  const id = `whk_${Bun.randomUUIDv7()}`
  const secret = new TextEncoder().encode('the first secret of the two')
  await sql`
    insert into webhook_endpoints (id, url, events, secret) values (${id}, ${url}, '{}', ${secret})`
  return id
}

const setWrong = (hours: number): void => {
  setSystemTime(new Date(Date.now() + hours * 3_600_000))
}

test.each([-2, 2])('the next attempt is as far away as asked, at %d hours', async (hours) => {
  const endpoint = await endpointMade()
  await sql`
    with event as (
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      values (${endpoint}, 'webhook.test', '{}', 's', 1, '{}', now()) returning id)
    insert into webhook_deliveries (id, event_id, endpoint_id) select id, id, ${endpoint} from event`
  const [delivery] = await claimDue(sql, { rooms: new Map([[endpoint, 1]]), free: 1 }, 30)
  if (delivery === undefined) throw new Error('nothing is due')
  setWrong(hours)
  const outcome = { kind: 'failed', retryAfterMs: 600_000 } as const
  const nothing = { statusCode: undefined, answer: undefined, errorClass: undefined }
  const result = { at: new Date(), durationMs: 1, outcome, ...nothing }
  const step = { state: 'pending', nextInMs: 600_000 } as const
  await sql.begin((tx) => writeOutcomes(tx, [{ delivery, url, result, step }]))
  const [row] = await sql<{ seconds: number; same: boolean }[]>`
    select extract(epoch from d.next_attempt_at - now())::float8 as seconds,
      a.next_attempt_at = d.next_attempt_at as same
    from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id
    where d.endpoint_id = ${endpoint}`
  expect(row?.seconds).toBeGreaterThan(500)
  expect(row?.seconds).toBeLessThanOrEqual(600)
  expect(row?.same).toBe(true)
})

test('the previous secret signs until the database says that it is over', async () => {
  const id = await endpointMade()
  const { keysOf } = createSecrets(undefined, undefined)
  const keys = async (): Promise<number> => {
    const row = await store.find(id)
    return row === undefined ? 0 : keysOf(row).length
  }
  const [present, previous] = ['b', 'a'].map((one) => new TextEncoder().encode(one.repeat(24)))
  await store.rotate(id, present!, false, previous!, 3_600)
  setWrong(2)
  expect(await keys()).toBe(2)
  await sql`
    update webhook_endpoints set previous_until = now() - interval '1 second' where id = ${id}`
  setWrong(-4)
  expect(await keys()).toBe(1)
})
