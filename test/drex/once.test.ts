/** What a network takes its time for makes no room smaller: whoever waits for a node or a block is refused nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { z } from 'zod'
import { route } from '#src/platform/http/index.ts'
import { requestsMin } from '#src/platform/http/limits/congestion.ts'
import { once } from '../../src/drex/routes/once.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { timedRooms } from '../support/timed-rooms.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase(connections)
})
afterAll(() => database.close())

const connections = 4
const many = requestsMin + 16
const schema = z.strictObject({})

for (const slow of ['prepare', 'write', 'settle'] as const) {
  const others = slow !== 'write'
  test(`those who wait in ${slow} ${others ? 'refuse nobody' : 'are as many as may'}`, async () => {
    let waiting = 0
    const gate = Promise.withResolvers<void>()
    const { rooms, pass } = timedRooms('drex')
    const waitIn = async (stage: typeof slow): Promise<void> => {
      if (stage !== slow) return
      waiting++
      await gate.promise
    }
    const contract = {
      at: 'POST /slow',
      scope: 'drex:transfer',
      operation: 'x',
      summary: 'x',
      idempotent: true,
      body: { 'application/json': schema },
      responses: {},
    } as const
    const creating = route(contract, (asked) =>
      once(database.sql, asked, {
        status: 200,
        allow: () => {},
        show: () => ({}),
        audit: () => undefined,
        prepare: async () => {
          await waitIn('prepare')
          return { write: () => waitIn('write'), settle: () => waitIn('settle') }
        },
      }),
    )
    const { key, record } = testKey('*')
    const app = testApp([creating], { keys: [record], roomsFor: () => rooms })
    const ask = () => app.call('POST', '/slow', { key, body: {} })
    const asked = Array.from({ length: many }, ask)
    // Only as many requests write at once as there are connections.
    while (waiting < (others ? many : connections)) await Bun.sleep(1)
    pass(5_000)
    const another = ask()
    if (others) expect(await Promise.race([another, Bun.sleep(50)])).toBeUndefined()
    else expect((await another).status).toBe(503)
    gate.resolve()
    const statuses = (await Promise.all([...asked, another])).map(({ status }) => status)
    expect(new Set(statuses.slice(0, many))).toEqual(new Set([200]))
    expect(statuses[many]).toBe(others ? 200 : 503)
  })
}
