import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { migrate } from '#src/platform/database/index.ts'
import { callerOf, readBytes, replayOf, respond } from '#src/platform/http/index.ts'
import { migrations } from '../../../../drizzle/index.ts'
import { type TestApp, testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../../support/database.ts'

let database: TestDatabase
let harness: TestApp
const { key, record } = testKey('*')

beforeAll(async () => {
  database = await createTestDatabase()
  harness = testApp(
    [
      {
        method: 'POST',
        path: '/v1/things',
        scope: 'spi:send',
        document: {
          operation: 'x',
          summary: 'x',
          idempotent: true,
          responses: {},
        },
        handle: async (c) => {
          await readBytes(c)
          const { idempotencyKey } = callerOf(c)
          const kept = await replayOf(database.sql, idempotencyKey)
          return respond(kept ?? { status: 404, body: '{}', isReplay: false })
        },
      },
    ],
    { keys: [record] },
  )
})

afterAll(() => database.close())

const send = (idempotencyKey: string, body: string) =>
  harness.call('POST', '/v1/things', { key, body, headers: { 'Idempotency-Key': idempotencyKey } })

test('rows of before accounts are those of the default account', async () => {
  const { sql, dsn } = database
  await sql`drop schema public cascade`
  await sql`create schema public`
  const before = migrations.findIndex(({ name }) => name.endsWith('_accounts'))
  await migrate(dsn, migrations.slice(0, before), quietLogger)
  const body = '{ "n": 1 }'
  const digest = (of: string) => createHash('sha256').update(`POST /v1/things\n${of}`).digest()
  const keep = async (
    owner: string,
    name: string,
    of: string,
    answer: string | null,
    at: string,
  ) => {
    await sql`
      insert into idempotency_keys (owner, key, fingerprint, status, content_type, body, created_at)
      values (${owner}, ${name}, ${digest(of)}, ${answer === null ? null : 201}, 'application/json',
        ${answer === null ? null : Buffer.from(answer)}, ${at})`
  }
  await keep('oldKey', 'order-1', body, '{"id":1}', '2026-01-01')
  // Two API keys used one Idempotency-Key: the one with an answer stays, of two the older.
  await keep('oldKey', 'order-2', body, '{"id":2}', '2026-01-02')
  await keep('newKey', 'order-2', '{ "n": 2 }', '{"id":3}', '2026-01-03')
  await keep('oldKey', 'order-3', body, null, '2026-01-01')
  await keep('newKey', 'order-3', body, '{"id":4}', '2026-01-03')
  await keep('oldKey', 'under-way', body, null, '2026-01-01')
  const card = async (id: string, owner: string, name: string) => {
    await sql`
      insert into card_transactions (id, status, network, brand, card_token, amount_cents, currency, merchant_id,
        installments, stan, rrn, transmission, claim_owner, claim_key, created_by, created_at, updated_at)
      values (${id}, 'pending', 'neta', 'visa', 't', 1, 'BRL', 'm', 1, '1', ${id}, '1', ${owner}, ${name}, 'k', now(),
        now())`
  }
  await card('c1', 'oldKey', 'under-way')
  await card('c2', 'oldKey', 'order-3')
  await migrate(dsn, migrations, quietLogger)

  expect(await (await send('order-1', body)).text()).toBe('{"id":1}')
  expect((await send('order-1', '{"n":1}')).status).toBe(422)
  expect(await (await send('order-2', body)).text()).toBe('{"id":2}')
  expect((await send('order-2', '{ "n": 2 }')).status).toBe(422)
  expect(await (await send('order-3', body)).text()).toBe('{"id":4}')
  expect((await send('under-way', body)).status).toBe(409)
  expect((await send('order-9', body)).status).toBe(404)
  const claims = await sql`select id, claim_key in (select key from idempotency_keys) as known
    from card_transactions order by id`
  expect([...claims]).toEqual([
    { id: 'c1', known: true },
    { id: 'c2', known: null },
  ])
})
