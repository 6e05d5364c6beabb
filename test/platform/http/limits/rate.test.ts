import { afterAll, describe, expect, test } from 'bun:test'
import { createRateLimits, type Route, sharedBuckets } from '#src/platform/http/index.ts'
import type { Principal } from '#src/platform/security/index.ts'
import { ownBuckets, ownBucketsMax } from '../../../../src/platform/http/limits/store.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger as logger } from '../../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

const principal = (keyId: string, owner = 'default', requestsPerSecond?: number): Principal => ({
  keyId,
  owner,
  name: 'test',
  environment: 'test',
  scopes: new Set(),
  isInstitution: owner === 'default',
  restrictions: requestsPerSecond === undefined ? {} : { requestsPerSecond },
})

/** A clock that stands still, and limits of one process. */
const alone = (settings: { readonly key?: number; readonly account?: number }) => {
  const clock = { nowMs: 1_000_000 }
  const nowMs = () => clock.nowMs
  const { key, account } = settings
  const limits = createRateLimits({
    settings: { key, account },
    draw: () => undefined,
    logger,
    nowMs,
  })
  const passes = async (by: Principal, count: number): Promise<number> => {
    const taken = await Promise.all(Array.from({ length: count }, () => limits.take(by)))
    return taken.filter((one) => one?.waitMs === undefined).length
  }
  return { clock, limits, passes }
}

describe('a key', () => {
  test('may ask twice its rate at once, then its rate', async () => {
    const { clock, passes } = alone({ key: 10 })
    const shop = principal('shop')
    expect(await passes(shop, 100)).toBe(20)
    expect(await passes(shop, 100)).toBe(0)
    clock.nowMs += 99
    expect(await passes(shop, 100)).toBe(0)
    clock.nowMs += 1
    expect(await passes(shop, 100)).toBe(1)
    clock.nowMs += 60_000
    expect(await passes(shop, 100)).toBe(20)
    expect(await passes(principal('other'), 1)).toBe(1)
  })

  test('may have a rate of its own, above or below that of all', async () => {
    const { clock, passes } = alone({ key: 10 })
    expect(await passes(principal('fast', 'a', 100), 1_000)).toBe(200)
    expect(await passes(principal('slow', 'a', 1), 1_000)).toBe(2)
    // A change counts with the next request, and gives nothing back that was used.
    expect(await passes(principal('slow', 'a', 2), 1_000)).toBe(0)
    clock.nowMs += 60_000
    expect(await passes(principal('slow', 'a', 2), 1_000)).toBe(4)
  })

  test('without a limit is not counted', () => {
    expect(alone({}).limits.take(principal('shop'))).toBeUndefined()
  })
})

test('the keys of an account share its rate, and what it refuses costs the key nothing', async () => {
  const { clock, passes, limits } = alone({ key: 10, account: 5 })
  expect(await passes(principal('one', 'shop'), 7)).toBe(7)
  expect(await passes(principal('two', 'shop'), 7)).toBe(3)
  expect(await limits.take(principal('two', 'shop'))).toMatchObject({
    name: 'account',
    perSecond: 5,
    left: 0,
    waitMs: 200,
  })
  expect(await passes(principal('three', 'another'), 7)).toBe(7)
  clock.nowMs += 2_000
  expect(await passes(principal('two', 'shop'), 20)).toBe(10)
})

test('processes share a bucket, at far less than a draw a request', async () => {
  let draws = 0
  // It answers at once: of a database that is slow, processes do not wait.
  const nowMs = () => 0
  const shared = ownBuckets(nowMs)
  const process = () =>
    createRateLimits({
      settings: { key: 400, account: undefined },
      draw: () => (subject, rate, wanted) => {
        draws++
        return shared(subject, rate, wanted)
      },
      logger,
      nowMs,
    })
  const processes = [process(), process(), process()]
  let passed = 0
  for (let round = 0; round < 20; round++) {
    const taken = await Promise.all(
      processes.flatMap(({ take }) => Array.from({ length: 40 }, () => take(principal('shared')))),
    )
    passed += taken.filter((one) => one?.waitMs === undefined).length
  }
  expect(passed).toBe(800)
  // Lots of a hundred, and one look of each at the empty bucket.
  expect(draws).toBe(passed / 100 + processes.length)
})

test('while the database is away each process counts alone', async () => {
  const limits = createRateLimits({
    settings: { key: 10, account: undefined },
    draw: () => () => Promise.reject(new Error('away')),
    logger: { ...logger, warn: () => {} },
    nowMs: () => 0,
  })
  const taken = await Promise.all(Array.from({ length: 50 }, () => limits.take(principal('shop'))))
  expect(taken.filter((one) => one?.waitMs === undefined).length).toBe(20)
})

test('a frozen database holds nobody up, and is asked again by one for all some seconds later', async () => {
  let [nowMs, asked] = [0, 0]
  const limits = createRateLimits({
    settings: { key: 10, account: undefined },
    draw: () => () => {
      asked++
      return Promise.withResolvers<never>().promise
    },
    logger: { ...logger, warn: () => {} },
    nowMs: () => nowMs,
  })
  const take = (keyId: string) => limits.take(principal(keyId))
  const startedMs = performance.now()
  expect(await take('first')).toMatchObject({ waitMs: undefined })
  for (let key = 0; key < 50; key++) await take(`other ${key}`)
  // The first waits for a quarter of a second; if each did, it would be thirteen.
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  expect(asked).toBe(1)
  nowMs += 5_000
  await Promise.all([take('one'), take('two'), take('three')])
  expect(asked).toBe(2)
})

test('a bucket that all drew from at once gave no token twice', async () => {
  const draw = sharedBuckets(database.sql)
  const rate = { perSecond: 1, burst: 50 }
  const startedMs = performance.now()
  const drawn = await Promise.all(Array.from({ length: 30 }, () => draw('key:race', rate, 7)))
  const granted = drawn.reduce((sum, one) => sum + one.granted, 0)
  expect(granted).toBeGreaterThanOrEqual(50)
  expect(granted).toBeLessThanOrEqual(50 + (performance.now() - startedMs) / 1_000)
})

test('a process keeps so many buckets of its own, those that were drawn from last', async () => {
  const draw = ownBuckets(() => 0)
  const rate = { perSecond: 1, burst: 2 }
  const left = async (subject: string) => (await draw(subject, rate, 1)).left
  expect(await left('first')).toBe(1)
  expect(await left('used')).toBe(1)
  for (let i = 0; i < ownBucketsMax - 2; i++) await left(`other ${i}`)
  expect(await left('used')).toBe(0)
  await left('one more')
  expect(await left('used')).toBe(0)
  // It was not drawn from for longest: it begins anew.
  expect(await left('first')).toBe(1)
})

test('time that goes back fills no bucket', async () => {
  let now = 1_000
  const draw = ownBuckets(() => now)
  const rate = { perSecond: 1, burst: 5 }
  expect(await draw('a', rate, 5)).toEqual({ granted: 5, left: 0 })
  now = 0
  expect((await draw('a', rate, 5)).granted).toBe(0)
})

describe('over HTTP', () => {
  const routes: readonly Route[] = [
    {
      method: 'GET',
      path: '/v1/things',
      scope: 'cards:read',
      document: { operation: 'x', summary: 'x', responses: {} },
      handle: (c) => c.json({}),
    },
  ]
  const harness = () => {
    const { clock, limits } = alone({ key: 1 })
    const shop = testKey('cards:read')
    const stranger = testKey('drex:read')
    const app = testApp(routes, { keys: [shop.record, stranger.record], rates: limits })
    return { clock, get: (key: string) => app.call('GET', '/v1/things', { key }), shop, stranger }
  }

  test('what is too much is 429, with when to come again', async () => {
    const { clock, get, shop } = harness()
    const first = await get(shop.key)
    expect(first.status).toBe(200)
    expect(first.headers.get('RateLimit-Policy')).toBe('"key";q=2;w=2')
    expect(first.headers.get('RateLimit')).toBe('"key";r=1;t=1')
    expect((await get(shop.key)).status).toBe(200)
    const refused = await get(shop.key)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('Content-Type')).toBe('application/problem+json')
    expect(refused.headers.get('Retry-After')).toBe('1')
    expect(refused.headers.get('RateLimit')).toBe('"key";r=0;t=1')
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', retryable: true })
    clock.nowMs += 1_000
    expect((await get(shop.key)).status).toBe(200)
  })

  test('what a key has no right to counts too', async () => {
    const { get, stranger } = harness()
    const statuses = [await get(stranger.key), await get(stranger.key), await get(stranger.key)]
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 429])
  })
})
