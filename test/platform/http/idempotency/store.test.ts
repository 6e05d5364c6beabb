import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  ApiError,
  answerKey,
  callerOf,
  claimKey,
  createIdempotencySweep,
  httpErrors,
  orReplay,
  readBytes,
  replayOf,
  respond,
  runOnce,
} from '#src/platform/http/index.ts'
import { type TestApp, testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../../../support/database.ts'
import { storedKey } from '../../../support/stored-key.ts'

let database: TestDatabase
let harness: TestApp
let hold: Promise<void> = Promise.resolve()
let entered: PromiseWithResolvers<void> = Promise.withResolvers()
const one = testKey('*')
const rotated = testKey('*')
const { key: otherText, record: otherRecord } = testKey('*')
const two = { key: otherText, record: { ...otherRecord, account: 'other' } }

beforeAll(async () => {
  database = await createTestDatabase(10)
  await database.sql`create table effects (id serial primary key, note text not null)`
  const document = {
    operation: 'x',
    summary: 'x',
    idempotent: true,
    responses: {},
  } as const
  harness = testApp(
    ['/v1/things', '/v1/others'].map((path) => ({
      method: 'POST',
      path,
      scope: 'cards:authorize',
      accepts: ['application/json'],
      document,
      handle: async (c) => {
        const body = await readBytes(c)
        const { idempotencyKey } = callerOf(c)
        const answered = await runOnce(database.sql, idempotencyKey, async (transaction) => {
          entered.resolve()
          await hold
          const note = Buffer.from(body).toString()
          const [row] = await transaction<{ id: number }[]>`
            insert into effects (note) values (${note}) returning id`
          if (note.includes('fail')) throw new Error('after the effect')
          return {
            status: 201,
            body: JSON.stringify({ id: row?.id, at: Bun.nanoseconds() }),
          }
        })
        return respond(answered)
      },
    })),
    { keys: [one.record, rotated.record, two.record] },
  )
})

afterAll(() => database.close())

const send = (key: string | undefined, body: unknown, from = one, path = '/v1/things') =>
  harness.call('POST', path, {
    key: from.key,
    body,
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  })

const effects = async (note: unknown): Promise<number> => {
  const rows = await database.sql`select 1 from effects where note = ${JSON.stringify(note)}`
  return rows.length
}

describe('an Idempotency-Key', () => {
  test('gives the first answer again, byte for byte, and one effect', async () => {
    const first = await send('key-1', { n: 1 })
    const second = await send('"key-1"', { n: 1 })
    expect(first.status).toBe(201)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(second.status).toBe(201)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await second.text()).toBe(await first.text())
    expect(await effects({ n: 1 })).toBe(1)
  })

  test('with another body or another operation is 422', async () => {
    await send('key-2', { n: 2 })
    for (const other of [
      await send('key-2', { n: 3 }),
      await send('key-2', { n: 2 }, one, '/v1/others'),
    ]) {
      expect(other.status).toBe(422)
      expect(await other.json()).toMatchObject({ code: 'idempotency_mismatch' })
    }
  })

  test('survives a rotation of the API key', async () => {
    const first = await send('key-r', { n: 'r' }, one)
    const second = await send('key-r', { n: 'r' }, rotated)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await second.text()).toBe(await first.text())
    expect(await effects({ n: 'r' })).toBe(1)
  })

  test('takes another spelling of the same JSON value for the same request', async () => {
    await send('key-s', '{"a": 1.0, "b": "\\u0041"}')
    const second = await send('key-s', '{"b":"A","a":1}')
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await send('key-s', '{"b":"A","a":"1"}')).status).toBe(422)
  })

  test('of one account is not that of another', async () => {
    await send('key-3', { n: 4 }, one)
    const other = await send('key-3', { n: 4 }, two)
    expect(other.headers.get('idempotent-replayed')).toBeNull()
    expect(await effects({ n: 4 })).toBe(2)
  })

  test('is 409 while the first request runs, and replays after', async () => {
    const gate = Promise.withResolvers<void>()
    hold = gate.promise
    entered = Promise.withResolvers()
    const first = send('key-4', { n: 5 })
    await entered.promise
    const meanwhile = await send('key-4', { n: 5 })
    expect(meanwhile.status).toBe(409)
    expect(meanwhile.headers.get('retry-after')).toBe('1')
    expect(await meanwhile.json()).toMatchObject({
      code: 'idempotency_in_progress',
      retryable: true,
    })
    gate.resolve()
    expect((await first).status).toBe(201)
    expect((await send('key-4', { n: 5 })).headers.get('idempotent-replayed')).toBe('true')
  })

  test('of work that failed leaves neither effect nor answer', async () => {
    expect((await send('key-5', { fail: 1 })).status).toBe(500)
    expect(await effects({ fail: 1 })).toBe(0)
    expect((await send('key-5', { fail: 1 })).status).toBe(500)
  })

  test('sent many times at once has one effect', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => send('key-6', { n: 6 })))
    const statuses = new Set(all.map((response) => response.status))
    expect(statuses.has(201)).toBe(true)
    for (const status of statuses) expect([201, 409]).toContain(status)
    expect(await effects({ n: 6 })).toBe(1)
  })

  test('is not asked for: without one each request counts', async () => {
    await send(undefined, { n: 7 })
    await send(undefined, { n: 7 })
    expect(await effects({ n: 7 })).toBe(2)
  })
})

test('work over two transactions counts as running between them', async () => {
  const key = { key: storedKey('long'), fingerprint: 'f', fingerprintOfBytes: () => 'g' }
  const { sql } = database
  const claim = () => sql.begin((transaction) => claimKey(transaction, key))
  expect(await claim()).toBeUndefined()
  await expect(claim()).rejects.toThrow('still running')
  await answerKey(sql, key, { status: 200, body: '{}' })
  expect(await claim()).toEqual({ status: 200, body: '{}', isReplay: true })
  // A row of a release that knew the bytes of bodies only.
  await sql`update idempotency_keys set fingerprint = 'g' where key = ${key.key}`
  expect(await replayOf(sql, key)).toMatchObject({ isReplay: true })
})

test('what refuses work now is told only to whom no answer is kept', async () => {
  const key = { key: storedKey('judged'), fingerprint: 'f', fingerprintOfBytes: () => 'g' }
  const { sql } = database
  const refused = async (): Promise<never> => {
    throw new ApiError(httpErrors.not_found, 'No such thing.')
  }
  const kept = { status: 200, body: '{}', isReplay: true }
  await expect(orReplay(sql, undefined, refused)).rejects.toThrow('No such thing.')
  await expect(orReplay(sql, key, refused)).rejects.toThrow('No such thing.')
  await sql.begin((transaction) => claimKey(transaction, key))
  await expect(orReplay(sql, key, refused)).rejects.toThrow('still running')
  await answerKey(sql, key, kept)
  expect(await orReplay(sql, key, refused)).toEqual(kept)
  await expect(orReplay(sql, { ...key, fingerprint: 'h' }, refused)).rejects.toThrow('used before')
  expect(await orReplay(sql, key, async () => 'done')).toBe('done')
  const broken = new Error('not a refusal')
  await expect(orReplay(sql, key, () => Promise.reject(broken))).rejects.toBe(broken)
})

test('a key whose request still runs is kept, however old', async () => {
  const { sql } = database
  const key = { key: storedKey('running'), fingerprint: 'f', fingerprintOfBytes: () => 'g' }
  await sql.begin((transaction) => claimKey(transaction, key))
  await sql`update idempotency_keys set created_at = now() - interval '9 days' where key = ${key.key}`
  const { sweep } = createIdempotencySweep({ sql, retentionHours: 2, logger: quietLogger })
  await sweep()
  expect(await sql`select from idempotency_keys where key = ${key.key}`).toHaveLength(1)
})

test('keys are forgotten after their retention, not before', async () => {
  const { sql } = database
  const { sweep } = createIdempotencySweep({ sql, retentionHours: 2, logger: quietLogger })
  await sweep()
  await send('old', { n: 8 })
  await send('young', { n: 9 })
  await sql`update idempotency_keys set created_at = now() - interval '121 minutes' where key = ${storedKey('old')}`
  await sql`update idempotency_keys set created_at = now() - interval '119 minutes' where key = ${storedKey('young')}`
  expect(await sweep()).toBe(1)
  expect((await send('young', { n: 9 })).headers.get('idempotent-replayed')).toBe('true')
  expect((await send('old', { n: 8 })).headers.get('idempotent-replayed')).toBeNull()
})

test('an answer is written where its key is, so that no index has to know', async () => {
  await using own = await createTestDatabase(1).then(({ sql, close }) => ({
    sql,
    [Symbol.asyncDispose]: close,
  }))
  const { sql } = own
  const keys = Array.from({ length: 500 }, (_, number) => ({
    key: storedKey(`room-${number}`),
    fingerprint: storedKey(`body-${number}`),
    fingerprintOfBytes: () => storedKey(`body-${number}`),
  }))
  const pages = async () => {
    const rows = await sql<{ key: string; page: number }[]>`
      select key, (ctid::text::point)[0]::int as page from idempotency_keys`
    return new Map(rows.map(({ key, page }) => [key, page]))
  }
  let moved = 0
  for (let at = 0; at < keys.length; at += 50) {
    const batch = keys.slice(at, at + 50)
    for (const key of batch) await sql.begin((tx) => claimKey(tx, key))
    const before = await pages()
    for (const key of batch) await answerKey(sql, key, { status: 201, body: 'x'.repeat(600) })
    const now = await pages()
    moved += batch.filter(({ key }) => now.get(key) !== before.get(key)).length
  }
  // A page that the server looks into at that moment keeps what is dead in it: nine of fifty move, of some batches more.
  expect(moved).toBeLessThanOrEqual(keys.length / 3)
})
