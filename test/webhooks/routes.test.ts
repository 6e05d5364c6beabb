import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cursorOf } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createSealer, type KeyMaterial } from '#src/platform/security/index.ts'
import { createWebhooks } from '#src/webhooks/index.ts'
import { ownedMax } from '../../src/webhooks/documents.ts'
import { attemptsToldMax } from '../../src/webhooks/domain.ts'
import { expectOwnedByAccount, testApp, testKey } from '../support/app.ts'
import { quietLogger, type TestDatabase } from '../support/database.ts'
import { emit, openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

const database = await openTestDatabase()
const hooks = await startWebhooks(database, { allowedTargets: ['127.0.0.0/8'] })
afterAll(async () => {
  await hooks.stop()
  await database.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json()

const url = 'https://example.com/hook'

describe('endpoints', () => {
  test('are created, shown without their secret, changed and removed', async () => {
    const body = {
      url,
      events: ['pacs.008', 'camt.*'],
      secret: 'never shown to anybody at all',
      active: true,
    }
    const response = await hooks.call('POST', '', body)
    expect(response.status).toBe(201)
    const created = await json(response)
    expect(created).toMatchObject({ url, events: ['pacs.008', 'camt.*'], active: true })
    expect(created.include).toBe('thin')
    const { id } = created
    const shown = await json(hooks.call('GET', `/${id}`))
    const health = { pending: 0, exhausted: 0 }
    expect(shown).toEqual({ ...created, health })
    const { webhooks } = await json(hooks.call('GET', ''))
    expect(webhooks).toEqual([{ ...created, health }])
    expect(JSON.stringify([created, shown, webhooks])).not.toContain('never shown')
    const changed = await json(hooks.call('PATCH', `/${id}`, { active: false, events: ['*'] }))
    expect(changed).toMatchObject({ active: false, disabled_reason: 'request', events: ['*'], url })
    expect((await hooks.call('DELETE', `/${id}`)).status).toBe(204)
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/test`],
      ['GET', `/${id}/deliveries`],
      ['GET', '/deliveries/none'],
    ] as const) {
      expect((await hooks.call(method, path)).status).toBe(404)
    }
  })

  test.each([
    [{ url: 'http://8.8.8.8/' }, '/url', 'scheme'],
    [{ url: 'https://10.0.0.1/' }, '/url', 'address'],
    [{ url: 'https://169.254.169.254/' }, '/url', 'address'],
    [{ url: 'nonsense' }, '/url', 'url'],
    [{ events: [] }, '/events', 'count'],
    [{ events: ['pacs.999'] }, '/events/0', 'enum'],
    [{ include: 'all' }, '/include', 'enum'],
    [{ secret: '' }, '/secret', 'length'],
    [{ secret: 'whsec_' }, '/secret', 'base64'],
    [{ secret: `whsec_${btoa('c'.repeat(65))}` }, '/secret', 'bytes'],
    [{ secret: 'whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!' }, '/secret', 'base64'],
    [{ secret: `whsec_${btoa('c'.repeat(32))}=` }, '/secret', 'base64'],
    [{ surprise: 1 }, '/surprise', 'unknown'],
  ])('%j is refused', async (change, pointer, rule) => {
    const response = await hooks.call('POST', '', { url, events: ['*'], ...change })
    expect(response.status).toBe(400)
    const problem = await json(response)
    expect(problem.errors[0]).toMatchObject({ pointer, rule })
    if (pointer === '/events/0') expect(problem.errors[0].message).toContain('card.transaction.*')
  })

  test('sign with any secret in trials; in production with none that may be found by trying', async () => {
    const own = await startWebhooks(database, { delivers: false, isProduction: true })
    for (const secret of ['a'.repeat(23), `whsec_${btoa('a'.repeat(23))}`]) {
      const body = { url, events: ['*'], secret }
      const { id } = await json(hooks.call('POST', '', body))
      for (const path of ['', `/${id}/rotate`]) {
        const response = await own.call('POST', path, path === '' ? body : { secret })
        expect(response.status).toBe(400)
        expect((await json(response)).errors).toMatchObject([{ pointer: '/secret', rule: 'bytes' }])
      }
    }
    const long = { url, events: ['*'], secret: 'a'.repeat(24) }
    expect((await own.call('POST', '', long)).status).toBe(201)
    await own.stop()
  })

  test('are created and rotated once under an Idempotency-Key; the table holds no secret in clear', async () => {
    const sealer = createSealer(Uint8Array.from({ length: 32 }, (_, at) => at))
    const own = await startWebhooks(database, { sealer })
    const body = { url, events: ['*'], secret: 'given by the caller, and long' }
    await expectOwnedByAccount((headers) => own.call('POST', '', body, headers))
    const { id } = await json(own.call('POST', '', body))
    const key = { 'Idempotency-Key': 'rotation' }
    const first = await own.call('POST', `/${id}/rotate`, { overlap_seconds: 60 }, key)
    const text = await first.text()
    const { secret } = JSON.parse(text) as { secret: string }
    expect(secret).toMatch(/^whsec_/)
    const again = await own.call('POST', `/${id}/rotate`, { overlap_seconds: 60.0 }, key)
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(await again.text()).toBe(text)
    expect((await own.call('POST', `/${id}/rotate`, { overlap_seconds: 61 }, key)).status).toBe(422)
    const rows = await database.sql<{ body: string }[]>`
      select convert_from(body, 'UTF8') as body from idempotency_keys`
    for (const row of rows) {
      expect(row.body).not.toContain(secret)
      expect(row.body).not.toContain(btoa(secret))
    }
    await own.stop()
  })

  test('the change of a URL is checked too', async () => {
    const id = await hooks.subscribe(url)
    expect((await hooks.call('PATCH', `/${id}`, { url: 'http://10.0.0.1/' })).status).toBe(400)
  })

  test('a test event tells what the receiver answered', async () => {
    const target = startReceiver(() => new Response('thanks', { status: 202 }))
    const id = await hooks.subscribe(target.url)
    expect(await json(hooks.call('POST', `/${id}/test`))).toMatchObject({
      delivered: true,
      status_code: 202,
      answer: 'thanks',
      error_class: null,
    })
    expect(JSON.parse(target.received[0]?.body ?? '')).toMatchObject({ type: 'webhook.test' })
    await target.stop()
  })

  test('replaying to an endpoint that is not active is a conflict', async () => {
    const id = await hooks.subscribe(url, { active: false })
    const since = '2026-01-01T00:00:00Z'
    const response = await hooks.call('POST', `/${id}/replay`, { since })
    expect(response.status).toBe(409)
    expect((await json(response)).code).toBe('webhook_endpoint_disabled')
  })
})

describe('deliveries', () => {
  test('are walked once each, however many were made in the same moment', async () => {
    const { sql } = database
    const { id } = await json(
      hooks.call('POST', '', { url, events: ['*'], secret: 'twenty-four bytes, no less' }),
    )
    await sql`
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      select 'evt_page_' || n, 'pacs.008', '{*}', 's', n, '{}', now() from generate_series(1, 180) n`
    // Four to a microsecond, all within one millisecond.
    await sql`
      insert into webhook_deliveries (id, event_id, endpoint_id, status, created_at)
      select 'dlv_' || gen_random_uuid(), 'evt_page_' || n, ${id}, 'delivered',
        timestamptz '2026-01-01 00:00:00.5Z' + (n / 4) * interval '1 microsecond'
      from generate_series(1, 180) n`
    for (const [parameter, member] of [
      ['before', 'next_before'],
      ['cursor', 'next_cursor'],
    ] as const) {
      const seen: string[] = []
      for (const limit of [50, 60]) {
        seen.length = 0
        for (let next: string | null = ''; next !== null; ) {
          const from = next === '' ? '' : `&${parameter}=${next}`
          const page = await json(hooks.call('GET', `/${id}/deliveries?limit=${limit}${from}`))
          expect(page.deliveries.length).toBeGreaterThan(0)
          seen.push(...page.deliveries.map((one: { event_id: string }) => one.event_id))
          next = page[member]
        }
        expect([seen.length, new Set(seen).size]).toEqual([180, 180])
      }
    }
    const of = async (before: string) =>
      (await json(hooks.call('GET', `/${id}/deliveries?limit=500&before=${before}`))).deliveries
    expect(await of('2026-01-01T00:00:00.5Z')).toEqual([])
    expect(await of('2026-01-01T00:00:00.501Z')).toHaveLength(180)
    expect((await hooks.call('GET', `/${id}/deliveries?before=yesterday`)).status).toBe(400)
  })
})

describe('what an operator asks of an endpoint', () => {
  const personal = { secret: 'the common secret of them all', include: 'full' }
  let endpoint = ''
  let receiver: ReturnType<typeof startReceiver>
  beforeAll(async () => {
    // Another process of this file has sealed the secrets of its own under its own key.
    await database.sql`delete from webhook_endpoints`
    receiver = startReceiver(() => new Response('come <b>later</b>', { status: 500 }))
    endpoint = await hooks.subscribe(receiver.url, personal)
    const event = { type: 'pacs.008', data: { id: 'thin' }, full: { id: 'full', name: 'Ana' } }
    await emit(database, event)
    await until(() => receiver.received.length > 0)
    await until(async () => {
      // The attempt counts from its beginning, and is logged at its end.
      const [one] = await listed()
      const path = `/deliveries/${one?.id}`
      return one !== undefined && (await json(hooks.call('GET', path))).attempt_log.length === 1
    })
  })
  afterAll(() => receiver.stop())

  const listed = async (): Promise<{ id: string; attempts: number; status: string }[]> =>
    (await json(hooks.call('GET', `/${endpoint}/deliveries`))).deliveries

  test('its health counts what waits and what nobody took', async () => {
    expect((await json(hooks.call('GET', `/${endpoint}`))).health).toEqual({
      pending: 1,
      exhausted: 0,
    })
    await database.sql`update webhook_deliveries set status = 'exhausted' where endpoint_id = ${endpoint}`
    const { webhooks } = await json(hooks.call('GET', ''))
    expect(webhooks.find(({ id }: { id: string }) => id === endpoint).health).toEqual({
      pending: 0,
      exhausted: 1,
    })
  })

  test('it is listed among those that need attention, as one that is gone is', async () => {
    const gone = await hooks.subscribe(receiver.url)
    const paused = await hooks.subscribe(receiver.url, { active: false })
    await database.sql`
      update webhook_endpoints set active = false, disabled_reason = 'gone' where id = ${gone}`
    const { webhooks } = await json(hooks.call('GET', '?needs_attention=true'))
    expect(webhooks.map(({ id }: { id: string }) => id)).toEqual([endpoint, gone])
    for (const id of [gone, paused]) await hooks.call('DELETE', `/${id}`)
  })

  test('endpoints are listed in pages, the oldest first, each once', async () => {
    const more = [await hooks.subscribe(receiver.url), await hooks.subscribe(receiver.url)]
    await database.sql`update webhook_endpoints set created_at = '2026-01-02T03:04:05.000006Z'`
    const all = await json(hooks.call('GET', ''))
    expect(all.next_cursor).toBeNull()
    const seen: unknown[] = []
    for (let cursor = ''; ; ) {
      const page = await json(hooks.call('GET', `?limit=1${cursor}`))
      seen.push(...page.webhooks)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(seen).toEqual(all.webhooks)
    expect(seen.length).toBeGreaterThan(more.length)
    expect((await hooks.call('GET', '?cursor=bm9uZQ')).status).toBe(400)
    for (const id of more) await hooks.call('DELETE', `/${id}`)
  })

  test('a delivery shows the very body that is sent, and where', async () => {
    const [one] = await listed()
    const { request, attempt_log } = await json(hooks.call('GET', `/deliveries/${one?.id}`))
    expect(request).toEqual({ url: receiver.url, body: receiver.received[0]?.body })
    expect(request.body).toContain('"name":"Ana"')
    expect(attempt_log[0]).toMatchObject({ status_code: 500, answer: 'come <b>later</b>' })
  })

  test('the newest attempts are told, however many were made', async () => {
    const [one] = await listed()
    await database.sql`
      insert into webhook_attempts (delivery_id, at, duration_ms, status_code)
      select ${one?.id ?? ''}, '2026-01-01', n, 500 from generate_series(1, ${attemptsToldMax + 2}) n`
    const { attempt_log } = await json(hooks.call('GET', `/deliveries/${one?.id}`))
    expect(attempt_log.map((each: { duration_ms: number }) => each.duration_ms)).toEqual(
      Array.from({ length: attemptsToldMax }, (_, index) => index + 3),
    )
    await database.sql`delete from webhook_attempts where at = '2026-01-01'`
  })

  test('personal data of a full delivery is not for keys that could not subscribe to it', async () => {
    const [one] = await listed()
    const { key, record } = testKey('webhooks:read')
    const { call } = testApp(hooks.feature.routes ?? [], { keys: [record] })
    const path = `/v1/webhook-deliveries/${one?.id}`
    const { request, attempt_log } = await json(call('GET', path, { key }))
    expect(request).toEqual({ url: receiver.url, body: null })
    // A receiver may say again what it was sent.
    expect(attempt_log).toMatchObject([{ status_code: 500, answer: null }])
    // What was sent in full stays so, whatever is sent from now on.
    expect((await hooks.call('PATCH', `/${endpoint}`, { include: 'thin' })).status).toBe(200)
    const later = await json(call('GET', path, { key }))
    expect(later.request.body).toBeString()
    expect(later.attempt_log).toMatchObject([{ status_code: 500, answer: null }])
    expect((await hooks.call('PATCH', `/${endpoint}`, { include: 'full' })).status).toBe(200)
  })

  test('what was delivered of one payment is found by its subject, and only where the account is told', async () => {
    const [one] = await listed()
    const routes = hooks.feature.routes ?? []
    const told = async (of: string, more: object = {}) => {
      const { key, record } = testKey('webhooks:read')
      const { call } = testApp(routes, { keys: [{ ...record, ...more }] })
      const answer = await call('GET', `/v1/webhook-deliveries?${of}`, { key })
      return { status: answer.status, ...(await json(answer)) }
    }
    const { deliveries, next_cursor } = await told('subject=msg_1')
    expect(next_cursor).toBeNull()
    expect(deliveries.map(({ id }: { id: string }) => id)).toEqual([one?.id])
    expect(deliveries[0]).toMatchObject({ endpoint_id: endpoint, event_type: 'pacs.008' })
    expect((await told('subject=msg_2')).deliveries).toEqual([])
    expect((await told('subject=msg_1', { account: 'other' })).deliveries).toEqual([])
    const own = { restrictions: { own_webhooks: true } } as const
    expect((await told('subject=msg_1', own)).deliveries).toEqual([])
    for (const restrictions of [{ merchant_ids: ['M1'] }, { wallets: [`0x${'a'.repeat(40)}`] }]) {
      expect((await told('subject=msg_1', { restrictions })).status).toBe(403)
    }
    for (const bad of ['', 'subject=', 'subject=msg_1&limit=501', 'subject=msg_1&cursor=x']) {
      expect([bad, (await told(bad)).status]).toEqual([bad, 400])
    }
    await emit(database, { type: 'pacs.008' })
    await until(async () => (await told('subject=msg_1')).deliveries.length === 2)
    const first = await told('subject=msg_1&limit=1')
    const second = await told(`subject=msg_1&limit=1&cursor=${first.next_cursor}`)
    expect(second.deliveries.map(({ id }: { id: string }) => id)).toEqual([one?.id])
    expect(second.next_cursor).toBeNull()
    // A cursor of a release before tells time and id of a delivery.
    const former = async (id: string) => {
      const cursor = cursorOf(`2026-01-01T00:00:00.000000Z ${id}`)
      const answer = await told(`subject=msg_1&cursor=${cursor}`)
      return answer.deliveries?.map((each: { id: string }) => each.id) ?? answer.status
    }
    const [newest, oldest] = [first.deliveries[0].id, one?.id ?? '']
    expect(await former(newest)).toEqual([newest, oldest])
    expect(await former(oldest)).toEqual([oldest])
    expect(await former(`dlv_${crypto.randomUUID()}`)).toBe(400)
    // Who is told of none is shown no more events at once, either.
    await emit(database, { type: 'pacs.008' })
    const none = await told('subject=msg_1&limit=1', { account: 'other' })
    expect([none.deliveries, typeof none.next_cursor]).toEqual([[], 'string'])
    const rest = await told(`subject=msg_1&limit=1&cursor=${none.next_cursor}`, {
      account: 'other',
    })
    expect(rest).toMatchObject({ deliveries: [], next_cursor: null })
    await database.sql`
      delete from webhook_events where subject = 'msg_1' and id >= ${first.deliveries[0].event_id}`
  })

  test('a range is replayed: from a moment, to another, which is exclusive', async () => {
    const replayed = async (body: object): Promise<number> =>
      (await json(hooks.call('POST', `/${endpoint}/replay`, body))).replayed
    await database.sql`update webhook_deliveries set status = 'exhausted',
      created_at = '2026-01-02T00:00:00Z' where endpoint_id = ${endpoint}`
    const since = '2026-01-01T00:00:00Z'
    expect(await replayed({ since, until: '2026-01-02T00:00:00Z' })).toBe(0)
    expect(await replayed({ since, until: '2026-01-02T00:00:01Z' })).toBe(1)
    const backwards = await hooks.call('POST', `/${endpoint}/replay`, { since, until: since })
    expect(backwards.status).toBe(400)
  })
})

test('an account has no more than it may, however many are asked for at once', async () => {
  const elsewhere = await openTestDatabase()
  const own = await startWebhooks(elsewhere, { delivers: false })
  const body = { url, events: ['pacs.008'] }
  await elsewhere.sql`
    insert into webhook_endpoints (id, account, url, topic, events, active)
    select 'whk_' || n, 'default', ${url}, case when n > ${ownedMax} then 'topic ' || n end, '{pacs.008}', false
    from generate_series(3, ${ownedMax + 10}) n`
  const asked = await Promise.all(Array.from({ length: 4 }, () => own.call('POST', '', body)))
  const statuses = asked.map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([201, 201, 409, 409])
  const refused = asked.find(({ status }) => status === 409)
  expect(await json(refused ?? new Response('{}'))).toMatchObject({ code: 'webhooks_full' })
  expect((await own.call('DELETE', '/whk_3')).status).toBe(204)
  expect((await own.call('POST', '', body)).status).toBe(201)
  await own.stop()
  await elsewhere.close()
})

describe('without', () => {
  const bare = (sql: TestDatabase['sql'] | undefined) =>
    createWebhooks({
      sql,
      broker: undefined,
      sealer: undefined,
      version: 'test',
      settings: {
        secret: undefined,
        allowedTargets: undefined,
        timeoutSeconds: 2,
        concurrencyMax: 8,
        retentionDays: 1,
        sequenceDays: 400,
        certificate: undefined,
        key: undefined,
        ca: undefined,
      },
      logger: quietLogger,
      metrics: createMetrics({ version: 'test', withProcess: false }),
    })

  test('a database every endpoint answers 503 and names the setting', async () => {
    const { key, record } = testKey('webhooks:*')
    const routes = bare(undefined).routes ?? []
    const { call } = testApp(routes, { keys: [record] })
    // Deliveries have two paths, see `formerly`.
    expect(routes.length).toBe(14)
    for (const { method, path } of routes) {
      const response = await call(method, path.replace('{id}', 'x'), {
        key,
        ...(method === 'POST' || method === 'PATCH' ? { body: {} } : {}),
      })
      expect(response.status).toBe(503)
      expect(await json(response)).toMatchObject({
        code: 'not_configured',
        settings: ['DATABASE_DSN'],
      })
    }
  })

  test('any secret one is made, and shown once', async () => {
    const { key, record } = testKey('webhooks:*')
    const { call } = testApp(bare(database.sql).routes ?? [], { keys: [record] })
    const body = { url, events: ['*'] }
    const headers = { 'Idempotency-Key': 'made' }
    const made = await json(call('POST', '/v1/webhooks', { key, body, headers }))
    expect(Buffer.from(made.secret.replace('whsec_', ''), 'base64')).toHaveLength(32)
    expect(await json(call('POST', '/v1/webhooks', { key, body, headers }))).toEqual(made)
    const shown = await json(call('GET', `/v1/webhooks/${made.id}`, { key }))
    expect(shown).not.toHaveProperty('secret')
  })

  test('the scope nothing is read or changed', async () => {
    const { key, record } = testKey('webhooks:read')
    const { call } = testApp(bare(database.sql).routes ?? [], { keys: [record] })
    expect((await call('GET', '/v1/webhooks', { key })).status).toBe(200)
    const response = await call('POST', '/v1/webhooks', { key, body: { url, events: ['*'] } })
    expect(response.status).toBe(403)
  })
})

test('the certificate is followed where nothing is delivered: endpoints are tested with it', async () => {
  let isWatched = false
  const tls: KeyMaterial = {
    current: () => ({}),
    onChange: () => () => {},
    reload: async () => false,
    watch: () => {
      isWatched = true
    },
    stop: () => {
      isWatched = false
    },
  }
  const own = await startWebhooks(database, { tls, delivers: false })
  expect(isWatched).toBe(true)
  await own.stop()
  expect(isWatched).toBe(false)
})
