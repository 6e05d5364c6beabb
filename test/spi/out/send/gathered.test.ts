import { afterAll, expect, test } from 'bun:test'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { transfer } from '../../../support/participant.ts'
import { accepting, ispb } from '../stage/support.ts'

const database = await createTestDatabase(10)
const { sql, dsn } = database
afterAll(() => database.close())

let stores = 0
/** Counts the statements that store messages, each in a transaction of its own. */
const counted = new Proxy(sql, {
  apply: (target, self, given: readonly unknown[]) => {
    const [strings] = given
    const isStore = (text: unknown) => String(text).includes('insert into spi_messages')
    if (Array.isArray(strings) && strings.some(isStore)) stores++
    return Reflect.apply(target as never, self, given)
  },
}) as Client

const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
const { key, record } = testKey('spi:send')
const send = createSend({ ispb, sql: counted, broker, revision: '5.11.1', logger: quietLogger })
const { call } = testApp(send.routes ?? [], { keys: [record] })

const pay = async (cents: number, idempotencyKey?: string) => {
  const body = {
    message_type: 'PACS008',
    params: { local_instrument: 'MANU', transactions: [transfer(ispb, accepting, cents)] },
  }
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
  const response = await call('POST', '/v1/spi/send', { key, body, headers })
  return {
    status: response.status,
    text: await response.text(),
    isReplay: response.headers.get('Idempotent-Replayed') === 'true',
  }
}

const counts = async () => {
  const [row] = await sql`
    select (select count(*)::int from spi_messages) as messages,
      (select count(*)::int from audit_log) as audited,
      (select count(*)::int from idempotency_keys) as keys`
  return row
}

test('payments that come together share transactions, each with its own answer', async () => {
  stores = 0
  const all = await Promise.all(
    Array.from({ length: 64 }, (_, cents) => pay(cents + 1, `k${cents}`)),
  )
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([202]))
  expect(new Set(all.map(({ text }) => text)).size).toBe(64)
  expect(stores).toBeGreaterThan(0)
  expect(stores).toBeLessThanOrEqual(8)
  expect(await counts()).toEqual({ messages: 64, audited: 64, keys: 64 })
})

test('a repetition beside its original, and after it, gets the same answer', async () => {
  const [one, other, third] = await Promise.all([pay(7, 'twice'), pay(8), pay(7, 'twice')])
  expect(one?.text).toBe(third?.text ?? '')
  expect([one?.isReplay, third?.isReplay].toSorted()).toEqual([false, true])
  expect(other?.isReplay).toBe(false)
  expect(await pay(7, 'twice')).toEqual({ ...one!, isReplay: true })
  expect((await pay(9, 'twice')).status).toBe(422)
  const [row] = await sql`
    select count(*)::int as count from spi_transactions where amount_cents in (7, 8)
      and message_id in (select id from spi_messages order by id desc limit 2)`
  expect(row?.['count']).toBe(2)
})

test.each([0, 15, 31])('the one at place %p that cannot be stored fails alone', async (place) => {
  await sql.unsafe(`
    create or replace function refuse() returns trigger language plpgsql as
      $$ begin if new.amount_cents = 66613 then raise check_violation; end if; return new; end $$;
    create or replace trigger refuse before insert on spi_transactions for each row execute function refuse()`)
  const before = await counts()
  const all = await Promise.all(
    Array.from({ length: 32 }, (_, at) => pay(at === place ? 66_613 : 100, `${place}-${at}`)),
  )
  expect(all.map(({ status }) => status).filter((status) => status !== 202)).toEqual([500])
  expect(all[place]?.status).toBe(500)
  const after = await counts()
  expect(after?.['messages'] - before?.['messages']).toBe(31)
  expect(after?.['keys'] - before?.['keys']).toBe(31)
  expect(after?.['audited'] - before?.['audited']).toBe(31)
})

test('a request whose key another process claims waits for that before it claims what it orders', async () => {
  const paid = { ...transfer(ispb, accepting, 7), end_to_end_id: paymentId() }
  const body = {
    message_type: 'PACS008',
    params: { local_instrument: 'MANU', transactions: [paid] },
  }
  const headers = { 'Idempotency-Key': 'of two processes' }
  const ask = () => call('POST', '/v1/spi/send', { key, body, headers })
  expect((await ask()).status).toBe(202)
  const [claim] = await sql`delete from idempotency_keys
    where created_at = (select max(created_at) from idempotency_keys) returning *`
  const order = { kind: 'pacs.008', key: paid.end_to_end_id }
  await sql`delete from spi_message_keys where kind = ${order.kind} and key = ${order.key}`
  const other = await sql.reserve()
  try {
    await other`begin`
    await other`insert into idempotency_keys (key, fingerprint)
      values (${claim?.['key']}, ${claim?.['fingerprint']})`
    const asked = ask()
    await untilWaiting()
    const { count } = await other`insert into spi_message_keys (kind, key, message_id)
      values (${order.kind}, ${order.key}, ${crypto.randomUUID()}) on conflict do nothing`
    expect(count).toBe(1)
    await other`rollback`
    expect((await asked).status).toBe(202)
  } finally {
    other.release()
  }
})

const paymentId = (): string => {
  const minute = new Date().toISOString().replace(/\D/g, '').slice(0, 12)
  return `E${ispb}${minute}${crypto.randomUUID().replaceAll('-', '').slice(0, 11)}`
}

/** Until a session of the database waits for another one's lock. */
const untilWaiting = async (): Promise<void> => {
  for (;;) {
    const [waiting] = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    if (waiting !== undefined) return
    await Bun.sleep(10)
  }
}
