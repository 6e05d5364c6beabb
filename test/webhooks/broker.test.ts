import { expect, test } from 'bun:test'
import { type ConsumeOptions, createPostgresBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { runningJobs } from '#src/platform/jobs/index.ts'
import { createRelay } from '../../src/webhooks/relay.ts'
import { quietLogger } from '../support/database.ts'
import { emit, openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

test('events pass through webhook.events of the broker, each once', async () => {
  const database = await openTestDatabase()
  const { sql, dsn } = database
  // Nobody searches: what is not told of is not found.
  const times = { searchEveryMs: 3_600_000, deafSearchEveryMs: 3_600_000 }
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger, times })
  await broker.start()
  const hooks = await startWebhooks(database, { broker })
  const target = startReceiver()
  await hooks.subscribe(target.url)
  for (let i = 0; i < 50; i++) await emit(database, { subject: `s${i % 5}` })
  await until(() => target.received.length >= 50)
  await hooks.stop()
  await broker.stop()
  await target.stop()
  const ids = new Set(target.received.map(({ headers }) => headers.get('webhook-id')))
  expect([ids.size, target.received.length]).toEqual([50, 50])
  await database.close()
}, 60_000)

test('an event waits while the database is away: only what is wrong with it makes it a dead letter', async () => {
  const database = await openTestDatabase()
  let options: Pick<ConsumeOptions, 'isTransient'> | undefined
  const relay = createRelay({
    sql: database.sql,
    broker: {
      publishIn: async () => {},
      settleIn: async () => {},
      consume: (given) => {
        options = given
        return { drain: async () => {}, stop: async () => {} }
      },
    },
    institution: ['default'],
    onDeliveries: () => {},
    logger: quietLogger,
  })
  await relay.start()
  const isTransient = options?.isTransient
  expect(isTransient?.(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))).toBe(true)
  expect(isTransient?.(new Error('a message of webhook.events names no event'))).toBe(false)
  await relay.drain()
  await database.close()
})

test('a round that takes many events tells of each part of them: it is no round that hangs', async () => {
  const [database, cards] = [await openTestDatabase(), await openTestDatabase()]
  for (const { sql } of [database, cards]) {
    await sql`
      insert into webhook_events (id, type, patterns, subject, sequence, data)
      select 'evt_' || n, 'a.b', '{a.b}', 's', n, '{}' from generate_series(1, 1200) n`
  }
  const begun: Record<string, Set<number | undefined>> = {}
  const note = (name: string): void => {
    const job = runningJobs().find((one) => one.name === name)
    begun[name] = (begun[name] ?? new Set()).add(job?.stuckSinceMs())
  }
  const relay = createRelay({
    sql: database.sql,
    broker: {
      publishIn: async () => note('outbox of webhook events'),
      settleIn: async () => {},
      consume: () => ({ drain: async () => {}, stop: async () => {} }),
    },
    elsewhere: [
      new Proxy(cards.sql, {
        get: (sql, name) => {
          if (name === 'begin') note('webhook events of another database')
          return Reflect.get(sql, name)
        },
      }) as Client,
    ],
    institution: ['default'],
    onDeliveries: () => {},
    logger: quietLogger,
  })
  await relay.start()
  const leftOf = async ({ sql }: typeof database) =>
    (await sql`select from webhook_events where published_at is null`).count
  await until(async () => (await leftOf(database)) + (await leftOf(cards)) === 0)
  await relay.drain()
  // A sweep may have begun meanwhile, too.
  expect(Object.values(begun).every((times) => times.size >= 3)).toBe(true)
  expect(Object.keys(begun)).toHaveLength(2)
  await database.close()
  await cards.close()
})
