import { afterEach, describe, expect, test } from 'bun:test'
import {
  type Broker,
  BrokerUnavailableError,
  type Delivery,
  valueBytesMax,
} from '#src/platform/broker/index.ts'
import { waitingBytesMax } from '#src/platform/broker/kafka/publisher.ts'
import { until } from '../../../contract/broker.contract.ts'
import { freePort, isKafkaHere, startTestKafka } from '../../../support/kafka.ts'
import { freshTopic, openKafkaBroker } from './support.ts'

const textOf = ({ value }: Delivery): string => Buffer.from(value).toString()

describe('a Kafka that is away', () => {
  const opened: Broker[] = []
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((broker) => broker.stop()))
  })
  const open = async (options: Parameters<typeof openKafkaBroker>[0]): Promise<Broker> => {
    const broker = await openKafkaBroker(options)
    opened.push(broker)
    return broker
  }

  test('does not keep the process from starting; publishing fails in time, and stopping works', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const broker = await open({ address, publishTimeoutMs: 300 })
    broker.consume({ topic: 't', group: 'g', batchSizeMax: 1, handler: async () => {} })
    await expect(broker.ping()).rejects.toThrow()
    expect(await broker.checks?.()).toEqual([
      expect.objectContaining({ status: 'failed', detail: expect.stringContaining(address) }),
    ])
    const startedMs = performance.now()
    await expect(broker.publish([{ topic: 't', value: Buffer.from('1') }])).rejects.toThrow(
      BrokerUnavailableError,
    )
    expect(performance.now() - startedMs).toBeLessThan(2_000)
    await broker.stop()
  })

  test('takes connections and says nothing: the same', async () => {
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
    const address = `127.0.0.1:${silent.port}`
    const broker = await open({ address, publishTimeoutMs: 300 })
    broker.consume({ topic: 't', group: 'g', batchSizeMax: 1, handler: async () => {} })
    const startedMs = performance.now()
    await expect(broker.ping()).rejects.toThrow()
    await expect(broker.publish([{ topic: 't', value: Buffer.from('1') }])).rejects.toThrow(
      BrokerUnavailableError,
    )
    await broker.stop()
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    silent.stop(true)
  })

  test('does not fill the memory: what is over the limit is refused at once', async () => {
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
    const address = `127.0.0.1:${silent.port}`
    const broker = await open({ address, publishTimeoutMs: 1_500 })
    const value = new Uint8Array(valueBytesMax)
    const outcomes: string[] = []
    // One is on its way, twelve wait.
    const count = Math.floor(waitingBytesMax / valueBytesMax) + 2
    const publications = Array.from({ length: count }, async () => {
      const error = await broker.publish([{ topic: 't', value }]).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(BrokerUnavailableError)
      outcomes.push(String(error))
    })
    await Bun.sleep(100)
    expect(outcomes.map((outcome) => outcome.includes('no room'))).toEqual([true])
    await Promise.all(publications)
    // All is forgotten when its time is over.
    await expect(broker.publish([{ topic: 't', value }])).rejects.toThrow('has not taken')
    await broker.stop()
    silent.stop(true)
  })

  test.skipIf(!isKafkaHere)(
    'is killed and comes back: everything published arrives, in order, and work goes on',
    async () => {
      const kafka = await startTestKafka()
      const { address } = kafka
      const broker = await open({ address })
      const topic = freshTopic('restart')
      const keys = ['a', 'b', 'c', 'd', 'e']
      const seen = new Map<string, string[]>()
      let handled = 0
      broker.consume({
        topic,
        group: 'g',
        batchSizeMax: 10,
        handler: async (batch) => {
          for (const delivery of batch) {
            const key = delivery.key ?? ''
            seen.set(key, [...(seen.get(key) ?? []), textOf(delivery)])
            handled++
          }
        },
      })
      let round = 0
      let isLoaded = true
      const load = (async () => {
        while (isLoaded) {
          const value = Buffer.from(String(round++).padStart(6, '0'))
          const messages = keys.map((key) => ({ topic, key, value }))
          // As every caller does: what is not known to be there is published again.
          while (!(await isTaken(broker, messages))) await Bun.sleep(20)
          await Bun.sleep(5)
        }
      })()
      await until(() => handled > 100)
      for (let restart = 0; restart < 2; restart++) {
        await kafka.kill()
        await kafka.start()
        const before = handled
        await until(() => handled > before + 100, 20_000)
      }
      isLoaded = false
      await load
      const expected = Array.from({ length: round }, (_, at) => String(at).padStart(6, '0'))
      await until(() => keys.every((key) => seen.get(key)?.at(-1) === expected.at(-1)), 20_000)
      for (const key of keys) {
        // Repetition is allowed, a gap or a swap is not.
        expect([...new Set(seen.get(key))]).toEqual(expected)
      }
      expect(handled).toBeLessThan(expected.length * keys.length + 200)
      await broker.stop()
      const later = await open({ address })
      expect((await later.backlog(topic, 'g')).depth).toBe(0)
      await kafka.close()
    },
    60_000,
  )
})

const isTaken = async (broker: Broker, messages: Parameters<Broker['publish']>[0]) => {
  try {
    await broker.publish(messages)
    return true
  } catch (error) {
    if (!(error instanceof BrokerUnavailableError)) throw error
    return false
  }
}
