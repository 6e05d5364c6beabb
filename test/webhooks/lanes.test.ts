/** Receivers that do not answer hold no more than their part of the requests that a process makes at once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLanes, failingRunningMax, notePace, runningMax } from '../../src/webhooks/lanes.ts'
import { testsMax } from '../../src/webhooks/service.ts'
import type { TestDatabase } from '../support/database.ts'
import { emit, openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

const concurrencyMax = 64

const wide = (lanes: ReturnType<typeof createLanes>, id: string) => {
  for (let success = 0; success < 3; success++) notePace(lanes.of(id), true, concurrencyMax)
  return lanes.of(id)
}

describe('rooms', () => {
  test('an endpoint has at most twice what it leaves to others', () => {
    const lanes = createLanes(256)
    const one = wide(lanes, 'one')
    notePace(one, true, 256)
    const { rooms, free } = lanes.free(new Set(['one']), false)
    expect([rooms.get('one'), free]).toEqual([64, runningMax])
    one.running = 64
    expect(lanes.free(new Set(['one']), false).rooms.size).toBe(0)
    expect(lanes.free(new Set(['one', 'two']), false).rooms).toEqual(new Map([['two', 8]]))
  })

  test('whoever has none comes first, and may begin one until all are taken', () => {
    const lanes = createLanes(concurrencyMax)
    wide(lanes, 'one').running = 2
    wide(lanes, 'two').running = runningMax - 3
    const all = new Set(['one', 'two', 'three'])
    expect(lanes.free(all, false)).toEqual({ rooms: new Map([['three', 1]]), free: 1 })
    lanes.of('three').running = 1
    expect(lanes.free(new Set([...all, 'four']), false)).toEqual({ rooms: new Map(), free: 0 })
  })

  test('those that fail have half of all together', () => {
    const lanes = createLanes(concurrencyMax)
    const failing = Array.from({ length: runningMax }, (_, n) => `failing ${n}`)
    for (const id of failing) notePace(lanes.of(id), false, concurrencyMax)
    const all = new Set([...failing, 'one'])
    expect(lanes.free(all, true).free).toBe(failingRunningMax)
    for (const id of failing.slice(0, failingRunningMax)) lanes.of(id).running = 1
    expect(lanes.free(all, true)).toEqual({ rooms: new Map(), free: 0 })
    expect(lanes.free(all, false)).toEqual({
      rooms: new Map([['one', 8]]),
      free: failingRunningMax,
    })
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
    const answer = await fetch(healthy.url, { method: 'POST', signal: AbortSignal.timeout(2_000) })
    expect(answer.status).toBe(200)

    most = 0
    fail()
    await until(() => waiting.length > 0)
    for (let one = 0; one < 100; one++) await emit(database, { type: 'pacs.002' })
    await until(() => healthy.received.length === 101)
  }, 30_000)

  test('are tested so many at once', async () => {
    fail()
    const id = await hooks.subscribe(hanging.url, { active: false })
    const tests = Array.from({ length: testsMax + 1 }, () => hooks.call('POST', `/${id}/test`))
    const refused = await Promise.race(tests)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    const answered = Promise.all(tests)
    const isAnswered = answered.then(() => true)
    while (!(await Promise.race([isAnswered, Bun.sleep(20).then(() => false)]))) fail()
    const statuses = (await answered).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(testsMax)
  }, 30_000)
})
