import { expect, test } from 'bun:test'
import { createRooms, type Rail, type Route } from '#src/platform/http/index.ts'
import { testApp, testKey } from '../../../support/app.ts'

const shop = testKey('*')
const sustained = 50

/** A slow stage: every request of `cards` waits until it is let go. */
const harness = () => {
  const gate = Promise.withResolvers<void>()
  const shed: Rail[] = []
  const cards = createRooms('cards', sustained, (rail) => shed.push(rail))
  const drex = createRooms('drex', sustained, (rail) => shed.push(rail))
  const route = (path: string, tag: 'Cards' | 'Wallets', handle: Route['handle']): Route => ({
    ...{ method: 'GET', path, scope: 'cards:read', handle },
    document: { operation: path, summary: 'x', tag, responses: {} },
  })
  const routes = [
    route('/slow', 'Cards', async (c) => {
      await gate.promise
      return c.json({})
    }),
    route('/fails', 'Cards', () => {
      throw new Error('on purpose')
    }),
    route('/other', 'Wallets', (c) => c.json({})),
  ]
  const app = testApp(routes, {
    keys: [shop.record],
    roomsFor: ({ document: { tag } }) => (tag === 'Cards' ? cards : drex),
  })
  const get = (path: string) => app.call('GET', path, { key: shop.key })
  return { get, gate, shed, app }
}

test('at twice what a rail can do, half is refused at once, and the other half is served', async () => {
  const { get, gate, shed, app } = harness()
  const asked = Array.from({ length: 2 * sustained }, () => get('/slow'))
  // Those that are refused have their answer while the stage has not moved.
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

test('a room is free again, however the request ended', async () => {
  const { get, gate } = harness()
  for (let at = 0; at < 2 * sustained; at++) expect((await get('/fails')).status).toBe(500)
  gate.resolve()
  expect((await get('/slow')).status).toBe(200)
})
