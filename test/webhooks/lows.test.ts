/** Where looks begin, beside a transaction that sees all rows as they were, such as a backup's. */
import { expect, test } from 'bun:test'
import { emitEvents } from '../../src/webhooks/events.ts'
import { takeOutbox } from '../../src/webhooks/outbox.ts'
import { claimDue } from '../../src/webhooks/queue.ts'
import { costsOf, engines, startEngine } from '../support/engines.ts'
import { openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

const taken = 20_000
const pagesMax = 100

test.each(engines)(
  '$name: what was taken is not walked again, however long its rows are seen',
  async (engine) => {
    await using server = await startEngine(engine)
    const database = server.open(2)
    const { sql } = database
    await sql`
    insert into webhook_endpoints (id, url, events) values ('whk_1', 'https://a.example', '{pacs.008}')`
    await sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data, created_at)
    select 'evt_' || n, 'pacs.008', '{pacs.008}', 's', n, '{}', now() - make_interval(secs => ${taken} - n)
    from generate_series(1, ${taken}) n`
    await sql`
    insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at)
    select 'dlv_' || substr(id, 5), id, 'whk_1', created_at from webhook_events`
    const backup = await sql.reserve()
    try {
      await backup`begin isolation level repeatable read`
      await backup`select from webhook_events limit 1`
      const low = new Date(Date.now() - 5_000)
      await sql`update webhook_events set published_at = now() where created_at < ${low}`
      await sql`update webhook_deliveries set status = 'delivered' where next_attempt_at < ${low}`
      const rooms = new Map([['whk_1', 2]])
      const work = async () => {
        await sql.begin(async (tx) => {
          expect((await takeOutbox(tx, 2, low)).map(({ subject }) => subject)).toEqual(['s', 's'])
        })
        expect(await claimDue(sql, { rooms, free: 2 }, 30, new Map([['whk_1', low]]))).toHaveLength(
          2,
        )
      }
      const costs = await costsOf(sql, work)
      expect(costs.filter(({ pagesPerCall }) => pagesPerCall > pagesMax)).toEqual([])
    } finally {
      await backup`rollback`
      backup.release()
      await database.close()
    }
  },
  60_000,
)

test('what is visible late is told all the same, while others are', async () => {
  const database = await openTestDatabase()
  const { sql } = database
  const receiver = startReceiver()
  const hooks = await startWebhooks(database)
  const emit = (subject: string) => ({ type: 'pacs.008', subject, data: { subject } })
  const told = (subject: string): boolean =>
    receiver.received.some(({ body }) => JSON.parse(body).data.subject === subject)
  try {
    await hooks.subscribe(receiver.url)
    let count = 0
    const others = async (forMs: number): Promise<void> => {
      for (const endMs = performance.now() + forMs; performance.now() < endMs; count++) {
        await emitEvents(sql, [emit(`other ${count}`)])
        await Bun.sleep(20)
      }
    }
    await sql.begin(async (tx) => {
      await emitEvents(tx, [emit('late')])
      await others(2_500)
    })
    expect(told(`other ${count - 10}`)).toBe(true)
    await Promise.all([others(2_500), until(() => told('late'))])
    await until(() => receiver.received.length === count + 1)
  } finally {
    await hooks.stop()
    await receiver.stop()
    await database.close()
  }
}, 60_000)
