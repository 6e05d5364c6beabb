/** A failure is written while its endpoint gets another URL: whoever commits first, it is due there at once. */
import { afterAll, expect, test } from 'bun:test'
import type { Transaction } from '#src/platform/database/index.ts'
import { claimDue, type FinishedAttempt, writeOutcomes } from '../../src/webhooks/queue.ts'
import { createEndpointStore, endpointStatements } from '../../src/webhooks/store.ts'
import { createTestDatabase } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

const url = 'https://a.example'
const changed = 'https://b.example'

const attemptMade = async (): Promise<FinishedAttempt> => {
  const endpoint = `whk_${Bun.randomUUIDv7()}`
  await sql`insert into webhook_endpoints (id, url, events) values (${endpoint}, ${url}, '{}')`
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
    values (${endpoint}, 'webhook.test', '{}', 's', 1, '{}', now())`
  await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id) values (${endpoint}, ${endpoint}, ${endpoint})`
  const [delivery] = await claimDue(sql, { rooms: new Map([[endpoint, 1]]), free: 1 }, 30)
  if (delivery === undefined) throw new Error('nothing is due')
  const nothing = { statusCode: undefined, answer: undefined, errorClass: undefined }
  const outcome = { kind: 'failed', retryAfterMs: undefined } as const
  const result = { at: new Date(), durationMs: 1, outcome, ...nothing }
  return { delivery, url, result, step: { state: 'pending', nextInMs: 600_000 } }
}

type Work = (tx: Transaction) => Promise<unknown>

/** The second begins while the first is not committed. */
const beside = async (first: Work, second: Work): Promise<void> => {
  let other: Promise<unknown> | undefined
  await sql.begin(async (tx) => {
    await first(tx)
    other = sql.begin(second)
    await Promise.race([other, Bun.sleep(200)])
  })
  await other
}

const writing =
  (one: FinishedAttempt): Work =>
  (tx) =>
    writeOutcomes(tx, [one])
const changing =
  ({ delivery }: FinishedAttempt): Work =>
  (tx) =>
    endpointStatements(tx).change(delivery.endpointId, { url: changed })

const isDue = async ({ delivery }: FinishedAttempt) => {
  const [row] = await sql<{ due: boolean; attempts: number }[]>`
    select next_attempt_at <= now() as due, attempts from webhook_deliveries where id = ${delivery.id}`
  return { ...row }
}

test('a failure that is written first', async () => {
  const one = await attemptMade()
  await beside(writing(one), changing(one))
  expect(await isDue(one)).toEqual({ due: true, attempts: 0 })
})

test('a URL that is changed first', async () => {
  const one = await attemptMade()
  await beside(changing(one), writing(one))
  expect(await isDue(one)).toEqual({ due: true, attempts: 0 })
})

test('a failure of which a late outcome is being logged', async () => {
  const late = await attemptMade()
  await createEndpointStore(sql).replay(late.delivery.id)
  const { endpointId, id } = late.delivery
  const [again] = await claimDue(sql, { rooms: new Map([[endpointId, 1]]), free: 1 }, 30)
  if (again === undefined) throw new Error('nothing is due')
  await sql.begin(writing({ ...late, delivery: again }))
  const delivered = { ...late, step: { state: 'delivered' } } as const
  await beside(writing(delivered), changing(late))
  expect(await isDue(late)).toEqual({ due: true, attempts: 0 })
  expect(await sql`select from webhook_attempts where delivery_id = ${id}`).toHaveLength(2)
})
