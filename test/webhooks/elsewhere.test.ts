import { expect, test } from 'bun:test'
import { emitElsewhere } from '#src/webhooks/index.ts'
import { bringEvents } from '../../src/webhooks/outbox.ts'
import { openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

const payload = {
  transaction_id: 'txn_1',
  status: 'captured' as const,
  amount: 1,
  requested_amount: null,
  captured_amount: 1,
  refunded_amount: null,
  reversed_amount: null,
  currency: 'BRL',
  network: 'neta',
  brand: 'visa',
  merchant_id: 'M1',
  terminal_id: null,
  auth_code: null,
  response_code: '00',
  stan: '000001',
  rrn: '1',
  reason: null,
}

test('what is emitted in a database without endpoints reaches the endpoints of another, once', async () => {
  const own = await openTestDatabase()
  const shared = await openTestDatabase()
  const receiver = startReceiver()
  const hooks = await startWebhooks(shared, { elsewhere: [own.sql] })
  try {
    await hooks.subscribe(receiver.url, { events: ['card.transaction.captured'] })
    const emit = (type: 'card.transaction.captured' | 'card.transaction.voided') => {
      const row = emitElsewhere.rowOf({ type, subject: 'txn_1', data: payload })
      const rows = JSON.stringify([row])
      return own.sql`
        with ${emitElsewhere.ctes(own.sql, own.sql`select value from json_array_elements(${rows}::text::json)`)}
        select from event_numbers`
    }
    await emit('card.transaction.captured')
    await emit('card.transaction.voided')
    await emit('card.transaction.captured')
    await until(() => receiver.received.length === 2)
    const bodies = receiver.received.map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ type, sequence, data }) => ({ type, sequence, data }))).toEqual(
      [1, 3].map((sequence) => ({ type: 'card.transaction.captured', sequence, data: payload })),
    )
    expect(await own.sql`select from webhook_events`).toHaveLength(0)
    expect(await shared.sql`select from webhook_events`).toHaveLength(2)
  } finally {
    await hooks.stop()
    await receiver.stop()
    await own.close()
    await shared.close()
  }
})

test('an event whose removal is not committed comes again and is known', async () => {
  const own = await openTestDatabase()
  const shared = await openTestDatabase()
  await shared.sql`
    insert into webhook_endpoints (id, url, events) values ('whk_1', 'https://a.example', '{*}')`
  await own.sql`
    insert into webhook_events (id, type, patterns, subject, sequence, data)
    values ('evt_1', 'card.transaction.voided', '{*}', 'txn_1', 1, '{}')`
  const failing = {
    begin: (work: Parameters<typeof own.sql.begin>[1]) =>
      own.sql.begin(async (tx) => {
        await work(tx)
        throw new Error('not committed')
      }),
  } as unknown as typeof own.sql
  await expect(bringEvents(failing, shared.sql, 10)).rejects.toThrow('not committed')
  expect(await bringEvents(own.sql, shared.sql, 10)).toBe(1)
  expect(await shared.sql`select from webhook_events`).toHaveLength(1)
  await own.close()
  await shared.close()
})
