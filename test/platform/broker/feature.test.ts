import { afterAll, describe, expect, test } from 'bun:test'
import {
  createBrokerFeature,
  createPostgresBroker,
  type Delivery,
} from '#src/platform/broker/index.ts'
import { createStallWatch } from '#src/platform/jobs/index.ts'
import { createHealthReporter } from '#src/platform/lifecycle/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

const openBroker = () => createPostgresBroker({ ...database, logger: quietLogger })

test('health says what kind it is', async () => {
  const broker = openBroker()
  const up = createBrokerFeature(broker, undefined)
  await up.start?.()
  expect(await up.health?.()).toEqual({
    status: 'ok',
    ready: true,
    detail: { kind: 'postgresql' },
  })
  await up.stop?.()
})

test('a broker that is away is reported and does not fail readiness', async () => {
  const broker = openBroker()
  const away = {
    ...broker,
    ping: async () => {
      throw new Error('away')
    },
  }
  expect(await createBrokerFeature(away, undefined).health?.()).toMatchObject({
    status: 'down',
    ready: true,
  })
})

test('a broker that is slow, or whose queues are, is reported and does not fail readiness', async () => {
  const broker = openBroker()
  const never = () => new Promise<never>(() => {})
  for (const slow of [
    { ...broker, ping: never },
    { ...broker, queues: never },
  ]) {
    const ask = createHealthReporter([createBrokerFeature(slow, undefined)], () => false)
    expect((await ask()).checks).toMatchObject({ broker: { status: 'down', ready: true } })
  }
})

describe('a consumer in the eyes of the stall watch', () => {
  /** Far longer than the machine itself may stand still. */
  const longMs = 1_200
  /** The loops of a consumer of one topic, and what its handler waits for. */
  const consuming = async (
    handler: (batch: readonly Delivery[]) => Promise<void>,
    stallMs: number,
  ) => {
    const broker = openBroker()
    const feature = createBrokerFeature(broker, undefined)
    broker.consume({ topic: 't', group: 'g', batchSizeMax: 10, handler })
    const watch = createStallWatch({
      loops: () => feature.loops?.() ?? [],
      stallMs,
      logger: quietLogger,
      metrics: createMetrics({ version: 'test', withProcess: false }),
    })
    const send = (count: number) =>
      broker.publish(
        Array.from({ length: count }, () => ({ topic: 't', key: 'k', value: new Uint8Array(1) })),
      )
    const until = async (wanted: boolean): Promise<void> => {
      while (watch.stalled().length > 0 !== wanted) await Bun.sleep(5)
    }
    return { watch, send, until, stop: () => broker.stop() }
  }

  test('is stalled while a handler does not come back, and no longer than that', async () => {
    const stuck = Promise.withResolvers<void>()
    const { watch, send, until, stop } = await consuming(() => stuck.promise, longMs)
    await Bun.sleep(longMs + 100)
    expect(watch.stalled()).toEqual([])
    await send(1)
    await until(true)
    expect(watch.stalled()).toMatchObject([{ loop: 'consumer of t (g)' }])
    stuck.resolve()
    await until(false)
    await stop()
  })

  test('is stalled by a message that is tried again and again', async () => {
    let isAway = true
    const { send, until, stop } = await consuming(async () => {
      if (isAway) throw new Error('away')
    }, 150)
    await send(1)
    await until(true)
    isAway = false
    await until(false)
    await stop()
  })

  test('is not stalled by work that takes long and goes on', async () => {
    let handled = 0
    const { watch, send, stop } = await consuming(async (batch) => {
      // Each message by itself: a batch of several is refused.
      if (batch.length > 1) throw new Error('one by one')
      await Bun.sleep(longMs / 4)
      handled++
    }, longMs)
    await send(6)
    while (handled < 6) {
      expect(watch.stalled()).toEqual([])
      await Bun.sleep(5)
    }
    await stop()
  })
})
