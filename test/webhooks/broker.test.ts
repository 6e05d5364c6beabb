import { expect, test } from 'bun:test'
import { type ConsumeOptions, createPostgresBroker } from '#src/platform/broker/index.ts'
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
}, 30_000)

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
