import { expect, test } from 'bun:test'
import { createBrokerFeature, createMemoryBroker } from '#src/platform/broker/index.ts'
import { quietLogger } from '../../support/database.ts'

test('health says what kind it is and whether messages outlive the process', async () => {
  const broker = createMemoryBroker({ logger: quietLogger })
  const up = createBrokerFeature(broker, quietLogger)
  await up.start?.()
  expect(await up.health?.()).toEqual({
    status: 'ok',
    ready: true,
    detail: { kind: 'memory', durable: false },
  })
  await up.stop?.()
})

test('a broker that is away is reported and does not fail readiness', async () => {
  const broker = createMemoryBroker({ logger: quietLogger })
  const away = {
    ...broker,
    ping: async () => {
      throw new Error('away')
    },
  }
  expect(await createBrokerFeature(away, quietLogger).health?.()).toMatchObject({
    status: 'down',
    ready: true,
  })
})
