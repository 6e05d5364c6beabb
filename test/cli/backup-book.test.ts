import { afterAll, expect, test } from 'bun:test'
import { createBrokerFeature, createPostgresBroker, topics } from '#src/platform/broker/index.ts'
import { type BookLine, bookCountedMax } from '#src/platform/lifecycle/index.ts'
import { bookOf as bookOfCards } from '../../src/cards/book.ts'
import { bookOf as bookOfDrex } from '../../src/drex/book.ts'
import { createLanes } from '../../src/platform/broker/postgresql/lanes.ts'
import { bookOf as bookOfWebhooks } from '../../src/webhooks/book.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'

const database = await createTestDatabase()
const { sql, dsn } = database
afterAll(() => database.close())

const oldest = new Date('2026-03-02T10:00:00.000Z')
const young = new Date('2026-03-03T10:00:00.000Z')
const stored = bookCountedMax + 5_000
/** Which of them is the oldest: whoever takes them as they lie has counted enough before. */
const place = bookCountedMax + 2_500
const at = sql`case when n = ${place} then ${oldest}::timestamptz else ${young}::timestamptz end`

const lineOf = (lines: readonly BookLine[], wanted: string) => {
  const line = lines.find(({ what }) => what === wanted)
  return [line?.open, line?.oldestOpen?.toISOString()]
}

const theOldest = [bookCountedMax, oldest.toISOString()]

test('of more than are counted the oldest is told: webhook deliveries', async () => {
  await sql`insert into webhook_endpoints (id, url, events) values ('e', 'https://a.example', '{}')`
  await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data)
    select 'evt_' || n, 't', '{}', 's', n, '{}' from generate_series(1, ${stored}) n`
  await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, created_at, next_attempt_at)
    select 'dlv_' || n, 'evt_' || n, 'e', ${at}, ${at} from generate_series(1, ${stored}) n`
  expect(lineOf(await bookOfWebhooks(sql), 'webhook deliveries')).toEqual(theOldest)
})

test('of more than are counted the oldest is told: card transactions', async () => {
  await sql`
    insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency,
      merchant_id, installments, stan, rrn, transmission, created_by, created_at, updated_at, touched_at)
    select 'txn_' || n, 'pending', 'a', 'a', 't', 1, 'BRL', 'm', 1, n, n, n, 'k', ${at}, ${at}, ${at}
    from generate_series(1, ${stored}) n`
  expect(lineOf(await bookOfCards(sql), 'card transactions')).toEqual(theOldest)
})

test('of more than are counted the oldest is told, on whichever network: digital currency', async () => {
  await sql`
    insert into drex_transactions (id, network, sender, kind, subject, status, data, created_by,
      created_at, expires_at)
    select 'txn_' || n, case when n = ${place} then 'z' else 'a' end, 's', 'gas', n,
      case when n = ${place} then 'signed' else 'mined' end, '0x', 'k', ${at}, ${at}
    from generate_series(1, ${stored}) n`
  expect(lineOf(await bookOfDrex(sql), 'digital currency transactions')).toEqual(theOldest)
})

test('of more than are counted the oldest is told: dead letters, and messages of every topic', async () => {
  const lanes = await createLanes().of(Object.values(topics), sql)
  const [first = 0, ...rest] = [...lanes.values()].flat().sort((a, b) => a - b)
  const last = rest.at(-1) ?? 0
  await sql`
    insert into broker_queue (id, topic, value, published_at)
    select (case when n = ${place} then ${last}::bigint else ${first}::bigint end << 44) + n,
      (select topic from broker_lanes
        where lane = case when n = ${place} then ${last}::int else ${first}::int end), '', ${at}
    from generate_series(1, ${stored}) n`
  await sql`
    insert into broker_dead_letters (value, published_at)
    select '', ${at} from generate_series(1, ${stored}) n`
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
  const book = (await createBrokerFeature(broker, sql).book?.()) ?? []
  const [of] = await sql<{ topic: string }[]>`select topic from broker_lanes where lane = ${last}`
  expect(lineOf(book, 'dead letters')).toEqual(theOldest)
  expect(lineOf(book, `messages of ${of?.topic}`)).toEqual([1, oldest.toISOString()])
  await broker.stop()
})
