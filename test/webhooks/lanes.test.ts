/** Receivers that do not answer hold no more than their part of the requests that a process makes at once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLanes, failingRunningMax, notePace, runningMax } from '../../src/webhooks/lanes.ts'
import { testsMax } from '../../src/webhooks/service.ts'
import type { TestDatabase } from '../support/database.ts'
import { emit, openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

const concurrencyMax = 64

const receiver = (id: string, account = 'default', url = 'https://a.example') => ({
  id,
  account,
  url,
})
const receivers = (...ids: readonly string[]) => ids.map((id) => receiver(id))

const wide = (lanes: ReturnType<typeof createLanes>, id: string) => {
  const lane = lanes.of(receiver(id))
  for (let success = 0; success < 3; success++) notePace(lane, true, concurrencyMax)
  return lane
}

describe('rooms', () => {
  test('an endpoint has at most twice what it leaves to others', () => {
    const lanes = createLanes(256)
    const one = wide(lanes, 'one')
    notePace(one, true, 256)
    const { rooms, free } = lanes.free(receivers('one'), false)
    expect([rooms.get('one'), free]).toEqual([64, runningMax])
    one.running = 64
    expect(lanes.free(receivers('one'), false).rooms.size).toBe(0)
    expect(lanes.free(receivers('one', 'two'), false).rooms).toEqual(new Map([['two', 8]]))
  })

  test('whoever has none comes first, and may begin one until all are taken', () => {
    const lanes = createLanes(concurrencyMax)
    wide(lanes, 'one').running = 2
    wide(lanes, 'two').running = runningMax - 3
    const all = receivers('one', 'two', 'three')
    expect(lanes.free(all, false)).toEqual({ rooms: new Map([['three', 1]]), free: 1 })
    lanes.begin(receiver('three'))
    const more = [...all, receiver('four')]
    expect(lanes.free(more, false)).toEqual({ rooms: new Map(), free: 0 })
  })

  test('those that fail have half of all together', () => {
    const lanes = createLanes(concurrencyMax)
    const failing = receivers(...Array.from({ length: runningMax }, (_, n) => `failing ${n}`))
    for (const one of failing) notePace(lanes.of(one), false, concurrencyMax)
    const all = [...failing, receiver('one')]
    expect(lanes.free(all, true).free).toBe(failingRunningMax)
    for (const one of failing.slice(0, failingRunningMax)) lanes.begin(one)
    expect(lanes.free(all, true)).toEqual({ rooms: new Map(), free: 0 })
    expect(lanes.free(all, false)).toEqual({
      rooms: new Map([['one', 8]]),
      free: failingRunningMax,
    })
  })
})

test('what is learned of one URL says nothing of another', () => {
  const lanes = createLanes(concurrencyMax)
  const old = lanes.begin(receiver('one'))
  for (let failure = 0; failure < 10; failure++) notePace(old, false, concurrencyMax)
  const moved = receiver('one', 'default', 'https://b.example')
  expect(lanes.free([moved], false).rooms).toEqual(new Map([['one', 8]]))
  notePace(old, false, concurrencyMax)
  expect(lanes.free([moved], false).rooms).toEqual(new Map([['one', 8]]))
})

describe('turns', () => {
  /** Where all have a backlog: who begins an attempt, in their order. */
  const begin = (lanes: ReturnType<typeof createLanes>, all: ReturnType<typeof receivers>) => {
    const { rooms, free } = lanes.free(all, false)
    const ids = [...rooms].flatMap(([id, room]) => Array.from({ length: room }, () => id))
    return ids.slice(0, free).map((id) => {
      const one = all.find((each) => each.id === id) ?? receiver(id)
      return { one, lane: lanes.begin(one) }
    })
  }

  test('each has one, however many have a backlog', () => {
    const lanes = createLanes(1)
    const all = receivers(...Array.from({ length: runningMax + 1 }, (_, n) => `${n}`))
    for (const { lane } of begin(lanes, all)) lane.running--
    const second = begin(lanes, all).map(({ one }) => one.id)
    expect(second.slice(0, 2)).toEqual([`${runningMax}`, '0'])
  })

  test('many slow endpoints of an account leave their part to those of another', () => {
    const lanes = createLanes(concurrencyMax)
    const slow = Array.from({ length: 98 }, (_, n) => receiver(`slow ${n}`, 'slow'))
    const fast = Array.from({ length: 5 }, (_, n) => receiver(`fast ${n}`, 'fast'))
    const served = new Map<string, number>()
    const running: (ReturnType<typeof begin>[number] & { readonly endMs: number })[] = []
    const look = (nowMs: number) => {
      for (const begun of begin(lanes, [...slow, ...fast])) {
        const lastsMs = begun.one.account === 'slow' ? 14_000 : 100
        running.push({ ...begun, endMs: nowMs + lastsMs })
      }
      running.sort((a, b) => a.endMs - b.endMs)
    }
    for (let nowMs = 0; nowMs < 60_000; ) {
      look(nowMs)
      const ended = running.shift()
      if (ended === undefined) throw new Error('nobody has a turn')
      const { one, lane, endMs } = ended
      nowMs = endMs
      lane.running--
      notePace(lane, true, concurrencyMax)
      served.set(one.id, (served.get(one.id) ?? 0) + 1)
    }
    expect(slow.filter(({ id }) => !served.has(id))).toEqual([])
    expect(Math.min(...fast.map(({ id }) => served.get(id) ?? 0))).toBeGreaterThan(100)
  })
})

describe('forty endpoints that hang', () => {
  let database: TestDatabase
  let hooks: Awaited<ReturnType<typeof startWebhooks>>
  const waiting: (() => void)[] = []
  let most = 0
  let isOver = false
  const hanging = startReceiver(() => {
    if (isOver) return new Response('', { status: 500 })
    const { promise, resolve } = Promise.withResolvers<Response>()
    most = Math.max(
      most,
      waiting.push(() => resolve(new Response('', { status: 500 }))),
    )
    return promise
  })
  const healthy = startReceiver()
  /** Their answers come before their time is over. */
  const fail = () => {
    for (const answer of waiting.splice(0)) answer()
  }

  beforeAll(async () => {
    database = await openTestDatabase()
    hooks = await startWebhooks(database, { timeoutSeconds: 60 })
  })
  afterAll(async () => {
    isOver = true
    fail()
    await hooks.stop()
    await Promise.all([hanging.stop(), healthy.stop(), database.close()])
  })

  test('hold no request of others, and once they failed no other endpoint', async () => {
    for (let one = 0; one < 40; one++) await hooks.subscribe(`${hanging.url}?${one}`)
    await hooks.subscribe(healthy.url, { events: ['pacs.002'] })
    for (let one = 0; one < 10; one++) await emit(database)
    await until(() => waiting.length === runningMax)
    await Bun.sleep(1_000)
    expect(most).toBe(runningMax)
    const answer = await fetch(healthy.url, { method: 'POST', signal: AbortSignal.timeout(30_000) })
    expect(answer.status).toBe(200)

    most = 0
    fail()
    await until(() => waiting.length > 0)
    for (let one = 0; one < 100; one++) await emit(database, { type: 'pacs.002' })
    await until(() => healthy.received.length === 101)
  }, 60_000)

  test('are tested so many at once, of one account two thirds of them', async () => {
    const most = Math.ceil((testsMax * 2) / 3)
    fail()
    const id = await hooks.subscribe(hanging.url, { active: false })
    const tests = Array.from({ length: most + 1 }, () => hooks.call('POST', `/${id}/test`))
    const refused = await Promise.race(tests)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    const answered = Promise.all(tests)
    const isAnswered = answered.then(() => true)
    while (!(await Promise.race([isAnswered, Bun.sleep(20).then(() => false)]))) fail()
    const statuses = (await answered).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(most)
  }, 60_000)
})

test('one that has failed has its turn beside endpoints that always have a backlog', async () => {
  const database = await openTestDatabase()
  const hooks = await startWebhooks(database, { timeoutSeconds: 60 })
  const waiting: (() => void)[] = []
  let isOver = false
  const slow = startReceiver(() => {
    if (isOver) return new Response('ok')
    const { promise, resolve } = Promise.withResolvers<Response>()
    waiting.push(() => resolve(new Response('ok')))
    return promise
  })
  const failed = startReceiver((index) => new Response('', { status: index === 0 ? 500 : 200 }))
  try {
    const id = await hooks.subscribe(failed.url, { events: ['pacs.002'] })
    await emit(database, { type: 'pacs.002' })
    await until(async () => {
      const logged = await database.sql`select from webhook_attempts`
      return logged.count === 1
    })
    await database.sql`
      insert into webhook_endpoints (id, url, events)
      select 'whk_' || n, ${slow.url}, '{pacs.008}' from generate_series(1, ${runningMax + 2}::int) n`
    for (let one = 0; one < 5; one++) await emit(database)
    await until(() => waiting.length === runningMax)
    await database.sql`update webhook_deliveries set next_attempt_at = now() where endpoint_id = ${id}`
    for (let answered = 0; answered < 20 && failed.received.length === 1; answered++) {
      waiting.shift()?.()
      await until(() => waiting.length === runningMax || failed.received.length === 2)
    }
    expect(failed.received).toHaveLength(2)
  } finally {
    isOver = true
    for (const answer of waiting) answer()
    await hooks.stop()
    await Promise.all([slow.stop(), failed.stop(), database.close()])
  }
}, 60_000)
