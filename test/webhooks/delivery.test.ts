import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import type { Client } from '#src/platform/database/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import { type AttemptOutcome, attemptsMax } from '../../src/webhooks/domain.ts'
import { emitEvents } from '../../src/webhooks/events.ts'
import { claimDue, writeOutcomes } from '../../src/webhooks/queue.ts'
import type { AttemptResult } from '../../src/webhooks/sender.ts'
import { createEndpointStore, replayedMax } from '../../src/webhooks/store.ts'
import {
  emit,
  openTestDatabase,
  type Receiver,
  startReceiver,
  startWebhooks,
  until,
} from './support.ts'

const receivers: Receiver[] = []

const receiver = (...args: Parameters<typeof startReceiver>): Receiver => {
  const one = startReceiver(...args)
  receivers.push(one)
  return one
}

const database = await openTestDatabase()
const hooks = await startWebhooks(database)
beforeEach(async () => {
  await database.sql`delete from webhook_endpoints`
})
afterAll(async () => {
  await hooks.stop()
  await Promise.all(receivers.map((one) => one.stop()))
  await database.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json()

/** Under another master key. */
const sealedElsewhere = createSealer(new Uint8Array(32).fill(1)).seal(Buffer.from('a'), 'elsewhere')

const rawKey = (secret: string) => new Webhook(Buffer.from(secret).toString('base64'))
const headersOf = (headers: Headers) => Object.fromEntries(headers)

/** Makes what waits for its next attempt due now. */
const hurry = () =>
  database.sql`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`

const deliveriesOf = async (id: string) =>
  (await json(hooks.call('GET', `/${id}/deliveries`))).deliveries

describe('a delivery', () => {
  test('is signed so that an independent verifier takes it, and refuses it altered', async () => {
    const target = receiver()
    const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
    await hooks.subscribe(target.url, { secret })
    await emit(database, { data: { id: 'msg_é' } })
    await until(() => target.received.length === 1)
    const [one] = target.received
    if (one === undefined) throw new Error('nothing came')
    const [{ id } = { id: '' }] = await database.sql<{ id: string }[]>`
      select id from webhook_events where data like '%msg_é%'`
    expect(one.headers.get('webhook-id')).toBe(id)
    const headers = headersOf(one.headers)
    const event = new Webhook(secret).verify(one.body, headers)
    expect(event).toMatchObject({ id, type: 'pacs.008', data: { id: 'msg_é' } })
    expect(() => new Webhook(secret).verify(one.body.replace('é', 'e'), headers)).toThrow()
    expect(() => rawKey('another secret').verify(one.body, headers)).toThrow()
  })

  test('is signed with WEBHOOK_SECRET where the endpoint has no secret', async () => {
    const target = receiver()
    await hooks.subscribe(target.url)
    await emit(database)
    await until(() => target.received.length === 1)
    const [one] = target.received
    rawKey('common secret of all').verify(one?.body ?? '', headersOf(one?.headers ?? new Headers()))
  })

  test.each([
    ['there is no master key', {}, sealedElsewhere],
    [
      'it is sealed under another key',
      { sealer: createSealer(new Uint8Array(32).fill(7)) },
      sealedElsewhere,
    ],
    ['it has none and WEBHOOK_SECRET is no longer set', { secret: undefined }, null],
  ])('waits where nothing can sign, since %s, and no other does', async (_, overrides, secret) => {
    const lines: string[] = []
    const sink = { write: (line: string) => lines.push(line) > 0 }
    const logger = createLogger({ level: 'error', format: 'json', sink })
    const elsewhere = await openTestDatabase()
    const own = await startWebhooks(elsewhere, { logger, ...overrides })
    const shut = receiver()
    const open = receiver()
    const id = await own.subscribe(shut.url)
    await own.subscribe(open.url)
    await elsewhere.sql`
      update webhook_endpoints set sealed = ${secret !== null}, secret = ${secret} where id = ${id}`
    // The list of endpoints is kept for a second.
    await Bun.sleep(1_100)
    await emit(elsewhere)
    await until(() => open.received.length === 1)
    await Bun.sleep(1_100)
    await emit(elsewhere)
    await until(() => open.received.length === 2)
    const { deliveries } = await json(own.call('GET', `/${id}/deliveries`))
    expect(deliveries).toMatchObject([
      { status: 'pending', attempts: 0 },
      { status: 'pending', attempts: 0 },
    ])
    expect(shut.received).toEqual([])
    expect(lines.length).toBe(1)
    expect(lines[0]).toContain(id)
    const tested = await own.call('POST', `/${id}/test`)
    expect([tested.status, (await json(tested)).code]).toEqual([409, 'webhook_secret_shut'])
    // A new secret ends the wait.
    const rotated = await json(own.call('POST', `/${id}/rotate`, { overlap_seconds: 60 }))
    await until(() => shut.received.length === 2)
    const [one] = shut.received
    new Webhook(rotated.secret).verify(one?.body ?? '', headersOf(one?.headers ?? new Headers()))
    await own.stop()
    await elsewhere.close()
  })

  test('carries a sequence that grows per subject, thin or full data as asked', async () => {
    const thin = receiver()
    const full = receiver()
    await hooks.subscribe(thin.url, { events: ['card.*'] })
    await hooks.subscribe(full.url, { events: ['*'], include: 'full' })
    const type = 'card.transaction.voided'
    for (const subject of ['a', 'b', 'a']) {
      await emit(database, { type, subject, data: { id: subject }, full: { id: subject, more: 1 } })
    }
    await until(() => thin.received.length === 3 && full.received.length === 3)
    const read = (one: Receiver) =>
      one.received.map(({ body }) => JSON.parse(body)).toSorted((a, b) => a.id.localeCompare(b.id))
    expect(read(thin).map(({ data, sequence }) => [data, sequence])).toEqual([
      [{ id: 'a' }, 1],
      [{ id: 'b' }, 1],
      [{ id: 'a' }, 2],
    ])
    expect(read(full)[0].data).toEqual({ id: 'a', more: 1 })
  })

  test('goes only to who subscribed, and is rolled back with its transaction', async () => {
    const target = receiver()
    await hooks.subscribe(target.url, { events: ['pacs.002'] })
    await emit(database, { type: 'pacs.008' })
    const boom = database.sql.begin(async (tx) => {
      await emitEvents(tx, [{ type: 'pacs.002', subject: 'x', data: {} }])
      throw new Error('rolled back')
    })
    await expect(boom).rejects.toThrow('rolled back')
    await emit(database, { type: 'pacs.002', data: { id: 'last' } })
    await until(() => target.received.length === 1)
    expect(JSON.parse(target.received[0]?.body ?? '').data).toEqual({ id: 'last' })
  })
})

describe('failures', () => {
  test('are retried with the same id and a new timestamp, and logged', async () => {
    const target = receiver((index) =>
      index === 0 ? new Response('x'.repeat(9000), { status: 500 }) : new Response('ok'),
    )
    const endpoint = await hooks.subscribe(target.url)
    await emit(database)
    let waiting: readonly { id: string; inMs: number }[] = []
    await until(async () => {
      waiting = await database.sql<{ id: string; inMs: number }[]>`
        select d.id, extract(epoch from d.next_attempt_at - d.updated_at)::float8 * 1000 as "inMs"
        from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
        where d.endpoint_id = ${endpoint}`
      return waiting.length > 0
    })
    // Five seconds, a fifth more or less.
    expect(waiting[0]?.inMs).toBeWithin(3_999, 6_001)
    await hurry()
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === 'delivered')
    const ids = target.received.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(1)
    const shown = await json(hooks.call('GET', `/deliveries/${waiting[0]?.id}`))
    expect(shown.attempt_log).toMatchObject([
      { status_code: 500, error_class: 'status' },
      { status_code: 200, error_class: null, answer: 'ok', next_attempt_at: null },
    ])
    expect(shown.attempt_log[0].answer).toBe('x'.repeat(4096))
    expect(shown.attempt_log[0].next_attempt_at).not.toBeNull()
    const { text } = await hooks.metrics.render()
    expect(text).toContain('spigw_webhook_deliveries_total{event_type="pacs.008",status="failed"}')
  })

  test('Retry-After is honoured; a redirect is never followed', async () => {
    const other = receiver()
    const busy = receiver(
      () => new Response('', { status: 429, headers: { 'Retry-After': '3600' } }),
    )
    const moved = receiver(() => Response.redirect(other.url, 302))
    const busyId = await hooks.subscribe(busy.url)
    const movedId = await hooks.subscribe(moved.url)
    await emit(database)
    const logged = async () =>
      (
        await database.sql`select 1 from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id where d.endpoint_id in (${busyId}, ${movedId})`
      ).count
    await until(async () => (await logged()) === 2)
    const [late] = await deliveriesOf(busyId)
    expect(Date.parse(late.next_attempt_at) - Date.now()).toBeGreaterThan(3_500_000)
    const [redirected] = await deliveriesOf(movedId)
    const shown = await json(hooks.call('GET', `/deliveries/${redirected.id}`))
    expect(shown.attempt_log[0]).toMatchObject({ status_code: 302, error_class: 'redirect' })
    expect(other.received).toEqual([])
  })

  test('410 disables the endpoint and says so to who listens', async () => {
    const gone = receiver(() => new Response('', { status: 410 }))
    const watcher = receiver()
    const id = await hooks.subscribe(gone.url)
    await hooks.subscribe(watcher.url, { events: ['webhook.*'] })
    await emit(database)
    await until(() => watcher.received.length === 2)
    expect(await json(hooks.call('GET', `/${id}`))).toMatchObject({
      active: false,
      disabled_reason: 'gone',
    })
    const types = watcher.received.map(({ body }) => JSON.parse(body).type).toSorted()
    expect(types).toEqual(['webhook.delivery.exhausted', 'webhook.endpoint.disabled'])
    const { text } = await hooks.metrics.render()
    expect(text).toContain(
      'spigw_webhook_deliveries_total{event_type="pacs.008",status="gone"} 1\n',
    )
  })

  test.each([410, 500])('a late %i of the old URL says nothing of the new one', async (status) => {
    const answers = Promise.withResolvers<Response>()
    const old = receiver(() => answers.promise)
    const present = receiver()
    const id = await hooks.subscribe(old.url)
    const ends = async () => {
      const { text } = await hooks.metrics.render()
      return text.match(/spigw_webhook_deliveries_total.*status="(gone|exhausted)".*/g)
    }
    const ended = await ends()
    await emit(database)
    await until(() => old.received.length === 1)
    await database.sql`
      update webhook_endpoints set failing_since = now() - '6 days'::interval where id = ${id}`
    await hooks.call('PATCH', `/${id}`, { url: present.url })
    answers.resolve(new Response('', { status }))
    await until(async () => (await deliveriesOf(id))[0]?.status === 'delivered')
    const [delivery] = await deliveriesOf(id)
    expect(delivery.attempts).toBe(1)
    expect(present.received.map(({ headers }) => headers.get('webhook-id'))).toEqual([
      old.received[0]?.headers.get('webhook-id') ?? '',
    ])
    expect(await json(hooks.call('GET', `/${id}`))).toMatchObject({
      active: true,
      disabled_reason: null,
      failing_since: null,
    })
    await emit(database)
    await until(() => present.received.length === 2)
    expect(await ends()).toEqual(ended)
  })

  test('what the old URL did not take goes to the new one at once, with a full schedule', async () => {
    const old = receiver(() => new Response('', { status: 500 }))
    const present = receiver()
    const id = await hooks.subscribe(old.url)
    const failedAll = async (count: number) => {
      const rows = await database.sql`
        select from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id
        where d.endpoint_id = ${id} and a.next_attempt_at = d.next_attempt_at`
      return rows.count === count
    }
    for (let one = 0; one < 3; one++) await emit(database)
    await until(() => failedAll(3))
    await database.sql`update webhook_deliveries set attempts = 9 where endpoint_id = ${id}`
    const waits = async () =>
      (await deliveriesOf(id)).map((one: { attempts: number }) => one.attempts)
    await hooks.call('PATCH', `/${id}`, { url: old.url })
    expect(await waits()).toEqual([9, 9, 9])
    await hooks.call('PATCH', `/${id}`, { url: present.url })
    await until(() => present.received.length === 3)
    await until(async () =>
      (await deliveriesOf(id)).every((one: { status: string }) => one.status === 'delivered'),
    )
    expect(await waits()).toEqual([1, 1, 1])
  })

  test('the answer of an attempt that another has overtaken disables nothing', async () => {
    const answers = Promise.withResolvers<Response>()
    const slow = receiver((index) => (index === 0 ? answers.promise : new Response('ok')))
    const id = await hooks.subscribe(slow.url)
    await emit(database)
    await until(() => slow.received.length === 1)
    await hurry()
    await until(async () => (await deliveriesOf(id))[0]?.status === 'delivered')
    answers.resolve(new Response('', { status: 410 }))
    const [{ id: delivery }] = await deliveriesOf(id)
    await until(
      async () =>
        (await json(hooks.call('GET', `/deliveries/${delivery}`))).attempt_log.length === 2,
    )
    expect(await json(hooks.call('GET', `/${id}`))).toMatchObject({ active: true })
  })

  test('an endpoint that has failed for five days is disabled, not a moment earlier', async () => {
    const down = receiver(() => new Response('', { status: 503 }))
    const id = await hooks.subscribe(down.url)
    const failingFor = async (age: string, lastAge = '0') => {
      await database.sql`
        update webhook_endpoints set failing_since = now() - ${age}::interval,
          last_failed_at = now() - ${lastAge}::interval
        where id = ${id}`
      const before = down.received.length
      await emit(database)
      await until(() => down.received.length > before)
      await until(async () => {
        const [row] =
          await database.sql`select count(*)::int as n from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id where d.endpoint_id = ${id}`
        return row?.['n'] === down.received.length
      })
      return json(hooks.call('GET', `/${id}`))
    }
    expect((await failingFor('4 days 23 hours')).active).toBe(true)
    // Nothing was sent for longer than a delivery waits for its next attempt: its failures begin anew.
    const quiet = await failingFor('9 days', '58 hours')
    expect(quiet.active).toBe(true)
    expect(Date.now() - Date.parse(quiet.failing_since)).toBeLessThan(60_000)
    expect(await failingFor('5 days', '57 hours')).toMatchObject({
      active: false,
      disabled_reason: 'failing',
    })
    const again = await json(hooks.call('PATCH', `/${id}`, { active: true }))
    expect(again).toMatchObject({ active: true, disabled_reason: null, failing_since: null })
  })

  test('a compressed answer is not asked for, not decompressed and not shown; its status counts', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    const target = receiver(() => new Response(gzipSync('ok'), { headers }))
    const id = await hooks.subscribe(target.url)
    const told = await json(hooks.call('POST', `/${id}/test`))
    expect(told).toMatchObject({ delivered: true, status_code: 200, answer: '', error_class: null })
    expect(target.received[0]?.headers.get('accept-encoding')).toBe('identity')
  })

  test('a receiver that does not answer in time is a failure', async () => {
    const hanging = receiver(() => new Promise(() => {}))
    const id = await hooks.subscribe(hanging.url)
    const result = await json(hooks.call('POST', `/${id}/test`))
    expect(result).toMatchObject({ delivered: false, status_code: null, error_class: 'timeout' })
    expect(result.duration_ms).toBeGreaterThan(3_900)
  })
})

test('an endpoint that hangs does not delay a thousand deliveries to another', async () => {
  const hanging = receiver(() => new Promise(() => {}))
  const healthy = receiver()
  await hooks.subscribe(hanging.url)
  await hooks.subscribe(healthy.url)
  const startedMs = performance.now()
  await database.sql.begin(async (tx) => {
    const events = Array.from({ length: 1000 }, (_, i) => ({ subject: `m${i}`, data: { i } }))
    await emitEvents(
      tx,
      events.map((event) => ({ type: 'pacs.008', ...event })),
    )
  })
  await until(() => healthy.received.length >= 1000)
  const tookMs = performance.now() - startedMs
  // The hanging endpoint holds each of its attempts for 4000 ms: serial or shared work would take minutes.
  expect(tookMs).toBeLessThan(40_000)
  const events = new Set(healthy.received.map(({ body }) => JSON.parse(body).data.i))
  expect(events.size).toBe(1000)

  expect(hanging.received.length).toBeLessThan(30)
}, 60_000)

describe('rotation', () => {
  test('both secrets sign while they overlap, the new one alone after', async () => {
    const target = receiver()
    const id = await hooks.subscribe(target.url, { secret: 'the first secret of the two' })
    const rotated = await json(hooks.call('POST', `/${id}/rotate`, { overlap_seconds: 60 }))
    expect(rotated.secret).toMatch(/^whsec_/)
    await emit(database)
    await until(() => target.received.length === 1)
    const [both] = target.received
    const headers = headersOf(both?.headers ?? new Headers())
    rawKey('the first secret of the two').verify(both?.body ?? '', headers)
    new Webhook(rotated.secret).verify(both?.body ?? '', headers)
    // What has been claimed is sent with the keys of that moment.
    await until(async () => (await deliveriesOf(id))[0]?.status === 'delivered')
    await database.sql`update webhook_endpoints set previous_until = now() where id = ${id}`
    await hooks.call('PATCH', `/${id}`, {})
    await emit(database)
    await until(() => target.received.length === 2)
    const after = target.received[1]
    const late = headersOf(after?.headers ?? new Headers())
    new Webhook(rotated.secret).verify(after?.body ?? '', late)
    expect(() => rawKey('the first secret of the two').verify(after?.body ?? '', late)).toThrow()
  })

  test('of two at once gives out no secret that does not sign', async () => {
    const { sql } = database
    const target = receiver()
    const id = await hooks.subscribe(target.url)
    const rotate = () => json(hooks.call('POST', `/${id}/rotate`, { overlap_seconds: 60 }))
    const rotated = await sql.begin(async (tx) => {
      await tx`select from webhook_endpoints where id = ${id} for update`
      const both = [rotate(), rotate()]
      await until(async () => {
        const waiting = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
        return waiting.length === 2
      })
      // In an object: the driver waits for promises in an array before it commits.
      return { both }
    })
    const secrets = (await Promise.all(rotated.both)).map(({ secret }) => secret)
    await emit(database)
    await until(() => target.received.length === 1)
    const [one] = target.received
    const headers = headersOf(one?.headers ?? new Headers())
    for (const secret of secrets) new Webhook(secret).verify(one?.body ?? '', headers)
  })
})

/** A delivery that is due at an endpoint to which nobody sends. */
const storedDelivery = async () => {
  const endpoint = `whk_${Bun.randomUUIDv7()}`
  const id = `dlv_${endpoint}`
  await database.sql`
    with endpoint as (
      insert into webhook_endpoints (id, url, events, active)
      values (${endpoint}, 'https://example.org/', '{}', false)
    ), event as (
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      values (${endpoint}, 'webhook.test', '{}', 's', 1, '{}', now())
      returning id
    )
    insert into webhook_deliveries (id, event_id, endpoint_id) select ${id}, id, ${endpoint} from event`
  return { endpoint, id }
}

/** Takes one for an attempt; the dispatcher never sees the endpoint active. */
const claimOf = (endpoint: string) =>
  database.sql.begin(async (tx) => {
    await tx`update webhook_endpoints set active = true where id = ${endpoint}`
    const rooms = new Map([[endpoint, 1]])
    const [claimed] = await claimDue(tx as unknown as Client, { rooms, free: 1 }, 30)
    await tx`update webhook_endpoints set active = false where id = ${endpoint}`
    return claimed
  })

const resultOf = (outcome: AttemptOutcome): AttemptResult => ({
  at: new Date(),
  durationMs: 1,
  outcome,
  statusCode: undefined,
  answer: undefined,
  errorClass: undefined,
})

const exhausted = { state: 'exhausted', disable: 'gone' } as const

describe('replay', () => {
  test('of one delivery, delivered before or not', async () => {
    const target = receiver()
    const id = await hooks.subscribe(target.url)
    await emit(database)
    await until(async () => (await deliveriesOf(id))[0]?.status === 'delivered')
    const [delivery] = await deliveriesOf(id)
    const response = await hooks.call('POST', `/deliveries/${delivery.id}/replay`)
    expect(response.status).toBe(202)
    await until(() => target.received.length === 2)
    const [first, second] = target.received
    expect(second?.headers.get('webhook-id')).toBe(first?.headers.get('webhook-id') ?? '')
    expect(second?.body).toBe(first?.body ?? '')
  })

  test.each([
    ['the last attempt runs, which ends nothing before', attemptsMax, [1, 2]],
    ['the last attempt runs, which ends nothing after', attemptsMax, [2, 1]],
    ['the first attempt runs, which ends nothing before', 1, [1, 2]],
    ['the first attempt runs, which ends nothing after', 1, [2, 1]],
  ] as const)('while %s the new one', async (_, attempt, order) => {
    const answers = [1, 2].map(() => Promise.withResolvers<Response>())
    const target = receiver((index) => answers[index - 1]?.promise ?? new Response('ok'))
    const id = await hooks.subscribe(target.url, { events: ['pacs.008', 'webhook.*'] })
    await emit(database)
    await until(async () => (await deliveriesOf(id))[0]?.status === 'delivered')
    const path = `/deliveries/${(await deliveriesOf(id))[0].id}`
    const one = () => json(hooks.call('GET', path))
    await database.sql`
      update webhook_deliveries
      set status = 'pending', attempts = ${attempt - 1}, next_attempt_at = now()
      where endpoint_id = ${id}`
    await until(() => target.received.length === 2)
    expect((await hooks.call('POST', `${path}/replay`)).status).toBe(202)
    await until(() => target.received.length === 3)
    for (const [count, index] of order.entries()) {
      answers[index - 1]?.resolve(new Response('', { status: index === 1 ? 410 : 200 }))
      await until(async () => (await one()).attempt_log.length === count + 2)
    }
    expect(await one()).toMatchObject({ status: 'delivered', attempts: 1 })
    expect(
      await database.sql`
        select from webhook_events
        where type = 'webhook.delivery.exhausted' and subject = ${id}`,
    ).toHaveLength(0)
  })

  test.each([
    ['written before it', (old: number, present: number) => [[old], [present]]],
    ['written after it', (old: number, present: number) => [[present], [old]]],
    ['written with it', (old: number, present: number) => [[old, present]]],
    ['written with it, behind', (old: number, present: number) => [[present, old]]],
  ] as const)('of an attempt that runs: its outcome decides nothing, %s', async (_, batchesOf) => {
    const { sql } = database
    const { endpoint, id } = await storedDelivery()
    const claim = async () => {
      const claimed = await claimOf(endpoint)
      if (claimed === undefined) throw new Error('nothing is due')
      return claimed
    }
    const url = 'https://example.org/'
    const result = resultOf({ kind: 'gone' })
    const old = { delivery: await claim(), url, result, step: exhausted }
    expect(await createEndpointStore(sql).replay(id)).toBe(true)
    const present = { delivery: await claim(), url, result, step: { state: 'delivered' } as const }
    expect(old.delivery.attempt).toBe(present.delivery.attempt)
    const all = [old, present]
    const decided = []
    for (const places of batchesOf(0, 1)) {
      const batch = places.flatMap((place) => all[place] ?? [])
      decided.push(...(await sql.begin((tx) => writeOutcomes(tx, batch))))
    }
    expect(decided).toEqual([present])
    const rows = await sql`select status from webhook_deliveries where id = ${id}`
    expect([...rows]).toEqual([{ status: 'delivered' }])
    expect(await sql`select from webhook_attempts where delivery_id = ${id}`).toHaveLength(2)
  })

  test('of what failed leaves what is under way to its attempt', async () => {
    const { sql } = database
    const { endpoint, id } = await storedDelivery()
    const store = createEndpointStore(sql)
    const replayed = async () => {
      const [{ until } = { until: new Date() }] = await sql<{ until: Date }[]>`
        select now() + interval '1 second' as until`
      return (await store.replayFailed(endpoint, { since: new Date(0), before: until, until }))
        .count
    }
    const claim = () => claimOf(endpoint)
    const delivery = await claim()
    if (delivery === undefined) throw new Error('nothing is due')
    expect(await replayed()).toBe(0)
    const result = resultOf({ kind: 'failed', retryAfterMs: undefined })
    const step = { state: 'pending', nextInMs: 60_000 } as const
    const failed = { delivery, url: 'https://example.org/', result, step }
    await sql.begin((tx) => writeOutcomes(tx, [failed]))
    expect(await replayed()).toBe(1)
    // Due again at once, it is under way, and an earlier failure says nothing of it.
    expect(await claim()).toBeDefined()
    expect(await replayed()).toBe(0)
    const [row] = await sql`select status, attempts from webhook_deliveries where id = ${id}`
    expect(row).toEqual({ status: 'pending', attempts: 1 })
  })

  test('of everything that failed since a time, not of what was delivered', async () => {
    let isDown = true
    const target = receiver(() => new Response('', { status: isDown ? 500 : 200 }))
    const id = await hooks.subscribe(target.url)
    for (let i = 0; i < 3; i++) await emit(database, { subject: `s${i}` })
    await until(() => target.received.length === 3)
    await until(async () => {
      const logged = await database.sql`
        select from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
        where d.endpoint_id = ${id}`
      return logged.count === 3
    })
    isDown = false
    const since = new Date(Date.now() - 60_000).toISOString()
    expect(await json(hooks.call('POST', `/${id}/replay`, { since }))).toEqual({ replayed: 3 })
    await until(() => target.received.length === 6)
    await until(async () =>
      (await deliveriesOf(id)).every((one: { status: string }) => one.status === 'delivered'),
    )
    expect(await json(hooks.call('POST', `/${id}/replay`, { since }))).toEqual({ replayed: 0 })
  })

  test('of very many goes in batches, and leaves what fails again meanwhile', async () => {
    const { sql } = database
    const endpoint = `whk_${Bun.randomUUIDv7()}`
    await sql`
      insert into webhook_endpoints (id, url, events, active)
      values (${endpoint}, 'https://example.org/', '{}', false)`
    const count = 2 * replayedMax + 1
    await sql`
      with events as (
        insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
        select ${endpoint} || place, 'webhook.test', '{}', 's', place, '{}', now()
        from generate_series(1, ${count}) place returning id
      )
      insert into webhook_deliveries (id, event_id, endpoint_id, status, attempts, created_at)
      select id, id, ${endpoint}, 'exhausted', 10,
        now() - make_interval(secs => row_number() over (order by id))
      from events`
    const store = createEndpointStore(sql)
    const until = await store.now()
    const span = { since: new Date(0), before: until, until }
    const first = await store.replayFailed(endpoint, span)
    expect(first.count).toBe(replayedMax)
    await sql`
      update webhook_deliveries set status = 'exhausted', updated_at = now()
      where endpoint_id = ${endpoint} and status = 'pending'`
    const second = await store.replayFailed(endpoint, {
      ...span,
      since: first.last ?? span.since,
    })
    const third = await store.replayFailed(endpoint, {
      ...span,
      since: second.last ?? span.since,
    })
    expect([second.count, third.count]).toEqual([replayedMax, 1])
  })
})

test('what a stopped process leaves is delivered by the next one', async () => {
  const own = await openTestDatabase()
  const target = startReceiver()
  try {
    const first = await startWebhooks(own)
    await first.subscribe(target.url)
    await first.stop()
    for (let i = 0; i < 20; i++) await emit(own, { subject: `s${i}` })
    // One of them as if a process had died during its attempt.
    await own.sql`
      insert into webhook_deliveries (id, event_id, endpoint_id, attempts, next_attempt_at)
      select 'dlv_lost', (select min(id) from webhook_events), id, 1, now() - interval '1 second' from webhook_endpoints`
    const second = await startWebhooks(own)
    await until(() => target.received.length >= 20)
    await second.stop()
    const ids = new Set(target.received.map(({ headers }) => headers.get('webhook-id')))
    expect([ids.size, target.received.length]).toEqual([20, 20])
    const [left] =
      await own.sql`select count(*)::int as n from webhook_deliveries where status <> 'delivered'`
    expect(left?.['n']).toBe(0)
  } finally {
    await target.stop()
    await own.close()
  }
}, 60_000)
