import { expect, test } from 'bun:test'
import { away, createBound, createRooms, type Rail, type Route } from '#src/platform/http/index.ts'
import { requestsMin } from '#src/platform/http/limits/congestion.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { timedRooms } from '../../../support/timed-rooms.ts'

const shop = testKey('*')
const sustained = 50

/** A slow stage: every request of `cards` waits until it is let go. */
const harness = () => {
  const gate = Promise.withResolvers<void>()
  const shed: Rail[] = []
  const cards = createRooms('cards', sustained, (rail) => shed.push(rail))
  const drex = createRooms('drex', sustained, (rail) => shed.push(rail))
  const route = (path: string, handle: Route['handle']): Route => ({
    method: 'GET',
    path,
    scope: 'cards:read',
    handle,
    document: { operation: path, summary: 'x', responses: {} },
  })
  const routes = [
    route('/slow', async (c) => {
      await gate.promise
      return c.json({})
    }),
    route('/fails', () => {
      throw new Error('on purpose')
    }),
    route('/other', (c) => c.json({})),
  ]
  const app = testApp(routes, {
    keys: [shop.record],
    roomsFor: ({ path }) => (path === '/other' ? drex : cards),
  })
  const get = (path: string) => app.call('GET', path, { key: shop.key })
  return { get, gate, shed, app }
}

test('at twice what a rail can do, half is refused at once, and the other half is served', async () => {
  const { get, gate, shed, app } = harness()
  const asked = Array.from({ length: 2 * sustained }, () => get('/slow'))
  // The refused requests have their answers while the stage has not moved.
  const refused = await Promise.all(asked.slice(sustained))
  for (const answer of refused) {
    expect(answer.status).toBe(503)
    expect(answer.headers.get('Retry-After')).toBe('1')
  }
  expect(await refused[0]?.json()).toMatchObject({
    code: 'overloaded',
    retryable: true,
    sent: false,
  })
  expect(shed).toEqual(Array.from({ length: sustained }, () => 'cards'))
  // Another rail has rooms of its own.
  expect((await get('/other')).status).toBe(200)
  gate.resolve()
  const served = await Promise.all(asked.slice(0, sustained))
  expect(served.every(({ status }) => status === 200)).toBe(true)
  // Each refusal as an error would cost more than it saves.
  expect(app.lines.filter((line) => line.includes('request failed'))).toEqual([])
})

test('where more comes than is done, what is inside is answered and the rest is refused at once', async () => {
  let gate = Promise.withResolvers<void>()
  const { rooms: cards, pass } = timedRooms('cards')
  const work = (path: string, handle: Route['handle']): Route => ({
    method: 'POST',
    path,
    scope: 'cards:read',
    handle,
    document: { operation: path, summary: 'x', idempotent: true, responses: {} },
  })
  const routes = [
    work('/own', async (c) => {
      await gate.promise
      return c.json({})
    }),
    work('/others', async (c) => {
      await cards.away(gate.promise)
      return c.json({})
    }),
  ]
  const app = testApp(routes, { keys: [shop.record], roomsFor: () => cards })
  /** So many at once, which take so long; their statuses. */
  const round = async (path: string, count: number, tookMs: number) => {
    gate = Promise.withResolvers<void>()
    const asked = Array.from({ length: count }, () => app.call('POST', path, { key: shop.key }))
    await Bun.sleep(0)
    pass(tookMs)
    gate.resolve()
    return Promise.all(asked)
  }
  // A counterparty that takes five seconds makes nothing smaller.
  for (let at = 0; at < 3; at++) {
    const answers = await round('/others', 500, 5_000)
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  }
  for (let at = 0; at < 10; at++) await round('/own', 500, 5_000)
  const answers = await round('/own', 500, 5_000)
  const refused = answers.filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThan(400)
  expect(refused.every(({ headers }) => headers.get('Retry-After') === '1')).toBe(true)
  expect(await refused[0]?.json()).toMatchObject({ code: 'overloaded', sent: false })
  expect(answers.filter(({ status }) => status === 200).length).toBe(500 - refused.length)
  // Work that takes its time well lets more in again, as many as ever.
  for (let at = 0; at < 80; at++) await round('/own', 10, 50)
  const again = await round('/own', 500, 1)
  expect(again.every(({ status }) => status === 200)).toBe(true)
})

test('too many questions are refused, and leave what moves money its room; what others are asked is not judged', async () => {
  let gate = Promise.withResolvers<void>()
  const { rooms: cards, pass } = timedRooms('cards')
  const waits: Route['handle'] = async (c) => {
    await gate.promise
    return c.json({})
  }
  const route = (path: string, more: Partial<Route> = {}, idempotent?: true): Route => ({
    method: 'GET',
    path,
    scope: 'cards:read',
    handle: waits,
    ...more,
    document: {
      operation: path,
      summary: 'x',
      ...(idempotent && { idempotent }),
      responses: {},
    },
  })
  const routes = [
    route('/stored'),
    route('/computed', { method: 'POST', isPure: true }),
    route('/passed-on', { asksOthers: true }),
    route('/for-all', { scope: 'public' }),
    route('/act', { method: 'POST' }, true),
    route('/slow-body', {
      method: 'POST',
      isPure: true,
      handle: async (c) => {
        await away(c, gate.promise)
        return c.json({})
      },
    }),
  ]
  const app = testApp(routes, { keys: [shop.record], roomsFor: () => cards })
  const round = async (path: string, count: number, tookMs: number) => {
    gate = Promise.withResolvers<void>()
    const method = routes.find((one) => one.path === path)?.method ?? 'GET'
    const asked = Array.from({ length: count }, () => app.call(method, path, { key: shop.key }))
    await Bun.sleep(0)
    pass(tookMs)
    gate.resolve()
    const answers = await Promise.all(asked)
    return answers.filter(({ status }) => status === 503).length
  }
  for (const path of ['/passed-on', '/for-all', '/slow-body']) {
    for (let at = 0; at < 10; at++) expect(await round(path, 500, 5_000)).toBe(0)
  }
  for (let at = 0; at < 10; at++) await round('/stored', 500, 5_000)
  expect(await round('/stored', 500, 5_000)).toBe(500 - requestsMin)
  expect(await round('/computed', requestsMin + 1, 5_000)).toBe(1)
  expect(await round('/act', 500, 50)).toBe(0)
  expect(await round('/passed-on', 500, 50)).toBe(0)
})

test('a room is free again, however the request ended', async () => {
  const { get, gate } = harness()
  for (let at = 0; at < 2 * sustained; at++) expect((await get('/fails')).status).toBe(500)
  gate.resolve()
  expect((await get('/slow')).status).toBe(200)
})

test('of what one account asks for others are left room, and nobody has more than there is', async () => {
  const bound = createBound(12)
  let gate = Promise.withResolvers<void>()
  /** How many of so many run. */
  const begin = async (account: string, count: number) => {
    const begun = Array.from({ length: count }, () =>
      bound(account, () => gate.promise).catch(() => 'refused'),
    )
    const first = await Promise.all(begun.map((one) => Promise.race([one, Bun.sleep(0)])))
    return first.filter((one) => one !== 'refused').length
  }
  expect(await begin('greedy', 20)).toBe(8)
  expect(await begin('other', 20)).toBe(3)
  expect(await begin('third', 20)).toBe(1)
  expect(await begin('fourth', 20)).toBe(0)
  gate.resolve()
  await Bun.sleep(0)
  gate = Promise.withResolvers()
  expect(await begin('other', 20)).toBe(8)
  gate.resolve()
})
