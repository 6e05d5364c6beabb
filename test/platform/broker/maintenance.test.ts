import { afterAll, expect, test } from 'bun:test'
import { dropOldLetters } from '#src/platform/broker/postgresql/maintenance.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

test('dead letters past their retention go, however many, and no message that waits', async () => {
  await sql`
    insert into broker_dead_letters (value, published_at)
    select '', now() - make_interval(days => 7, mins => age) from generate_series(-1, 2499) age`
  await sql`
    insert into broker_queue (id, topic, value, published_at)
    select (lane::bigint << 44) | 1, topic, '', now() - interval '1 year' from broker_lanes`
  const waiting = async () => (await sql`select from broker_queue where id > 0`).count
  const before = await waiting()
  await dropOldLetters({ sql, retentionDays: 7, logger: quietLogger })
  const rows =
    await sql`select published_at > now() - interval '7 days' as young from broker_dead_letters`
  expect([...rows]).toEqual([{ young: true }])
  expect(await waiting()).toBe(before)
})
