import { afterAll, expect, test } from 'bun:test'
import { openDeadLetters } from '#src/platform/broker/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createTestDatabase } from '../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

const dayMinutes = 24 * 60

/** Letters of every minute of `minutes`, the youngest `days` and a minute old; `key` tells the minute. */
const age = (days: number, minutes: number) => sql`
  insert into broker_dead_letters (key, headers, value, published_at)
  select age, jsonb_build_object('n', age::text), '', now() - make_interval(days => ${days}, mins => age)
  from generate_series(1, ${minutes}::int) age`

test('dead letters past their retention go, however many, and no message that waits', async () => {
  await age(7, 2_500)
  await age(6, dayMinutes - 1)
  await sql`
    insert into broker_queue (id, topic, value, published_at)
    select (lane::bigint << 44) | 1, topic, '', now() - interval '1 year' from broker_lanes`
  const waiting = async () => (await sql`select from broker_queue where id > 0`).count
  const before = await waiting()
  expect(await openDeadLetters(sql).dropOld(7)).toEqual({ dropped: 2_500, held: 0 })
  const rows = await sql`
    select bool_and(published_at > now() - interval '7 days') as young, count(*)::int
    from broker_dead_letters`
  expect([...rows]).toEqual([{ young: true, count: dayMinutes - 1 }])
  expect(await waiting()).toBe(before)
})

test('those that somebody has to decide on stay, and hide no others from the clock', async () => {
  await sql`truncate broker_dead_letters`
  // More of the oldest than are looked at together stay; many are of one moment, as of one transaction.
  await age(7, 3_000)
  await sql`update broker_dead_letters set published_at = now() - interval '9 days' where id % 3 = 0`
  const isHeld = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
    Number(headers['n']) > 1_500
  const letters = openDeadLetters(sql, false, {
    reopen: async () => {},
    end: async () => {},
    held: async (_, page) => page.filter(isHeld),
  })
  expect(await letters.dropOld(7)).toEqual({ dropped: 1_500, held: 1_500 })
  expect(await letters.dropOld(7)).toEqual({ dropped: 0, held: 1_500 })
  const left = await sql<{ key: string }[]>`select key from broker_dead_letters`
  expect(left.every(({ key }) => Number(key) > 1_500)).toBe(true)
  expect([await letters.countHeld(7), await letters.countHeld(10)]).toEqual([1_000, 0])
})

test('one without any header is shown, judged and dropped as any other', async () => {
  await sql`truncate broker_dead_letters`
  await sql`
    insert into broker_dead_letters (value, published_at)
    select '', now() - interval '8 days' from generate_series(1, 3)`
  const letters = openDeadLetters(sql, false, {
    reopen: async () => {},
    end: async (_, { headers }) => expect(headers).toEqual({}),
    held: async (_, page) => page.filter(({ headers }) => headers['n'] !== undefined),
  })
  const [newest] = await letters.list(1)
  const id = newest?.id ?? 0n
  expect([newest?.headers, (await letters.find(id))?.headers]).toEqual([{}, {}])
  await expect(letters.retry(id, commandActor())).rejects.toThrow('which topic it came from')
  expect(await letters.drop(id, commandActor())).toBe(true)
  expect(await letters.dropOld(7)).toEqual({ dropped: 2, held: 0 })
})

test('what did not get out of the outbox goes to its topic once there is no broker outside', async () => {
  await sql`truncate broker_dead_letters`
  await sql`delete from broker_queue where id > 0`
  await sql`
    insert into broker_dead_letters (key, headers, value)
    values
      ('k', '{"dlq-topic": "outbox", "outbox-topic": "spi.outbound", "own": "h"}', 'x'),
      ('k', '{"dlq-topic": "outbox"}', 'x')`
  const letters = openDeadLetters(sql)
  const [id = 0n, ...others] = await letters.ids(10)
  expect(others).toEqual([])
  expect(await letters.retry(id, commandActor())).toBe(true)
  const queued = await sql`
    select topic, headers - array['dlq-retried', 'kept-as'] as headers
    from broker_queue where key = 'k'`
  expect([...queued]).toEqual([{ topic: 'spi.outbound', headers: { own: 'h' } }])
  // What does not say its topic has none in either case.
  const [left] = await letters.list(1)
  expect(left).toMatchObject({ stays: 'no_topic' })
  for (const isRelayed of [false, true]) {
    const retried = openDeadLetters(sql, isRelayed).retry(left?.id ?? 0n, commandActor())
    await expect(retried).rejects.toThrow('which topic it came from')
  }
})
