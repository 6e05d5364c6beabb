import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Broker, BrokerUnavailableError, valueBytesMax } from '#src/platform/broker/index.ts'
import { waitingBytesMax } from '#src/platform/broker/kafka/publisher.ts'
import { backlogOf } from '../../../support/backlog.ts'
import { freePort } from '../../../support/free-port.ts'
import { isKafkaHere, startTestKafka } from '../../../support/kafka.ts'
import { until } from '../../../support/until.ts'
import { createReader, freshTopic, openKafkaBroker, startLoad } from './support.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

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
    const address = `127.0.0.1:${freePort()}`
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
    // Far from the 15 s of a broker that is told nothing.
    expect(performance.now() - startedMs).toBeLessThan(10_000)
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
    expect(performance.now() - startedMs).toBeLessThan(12_000)
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
    await Promise.all(publications)
    // The others are given up when their time is over.
    expect(outcomes.map((outcome) => outcome.includes('no room'))).toEqual([
      true,
      ...outcomes.slice(1).map(() => false),
    ])
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
      const reader = createReader()
      broker.consume({ topic, group: 'g', batchSizeMax: 10, handler: reader.handler })
      await broker.publish(keys.map((key) => ({ topic, key, value: Buffer.from('before') })))
      await until(async () => (await backlogOf(broker, topic, 'g')).depth === 0)
      const load = startLoad(broker, topic, keys)
      await until(() => reader.count() > 100)
      for (let restart = 0; restart < 2; restart++) {
        await kafka.kill()
        await kafka.start()
        const before = reader.count()
        await until(() => reader.count() > before + 100, 40_000)
      }
      const expected = await load.end()
      await until(
        () => keys.every((key) => reader.seen.get(key)?.at(-1) === expected.at(-1)),
        40_000,
      )
      for (const key of keys) {
        const [first, ...others] = reader.seen.get(key) ?? []
        // Repetition is allowed, save of what was settled; a gap or a swap is not.
        expect([first, others.includes('before')]).toEqual(['before', false])
        expect([...new Set(others)]).toEqual([...expected])
      }
      await broker.stop()
      const later = await open({ address })
      expect((await backlogOf(later, topic, 'g')).depth).toBe(0)
      await kafka.close()
    },
    120_000,
  )

  test.skipIf(!isKafkaHere || process.env['TRILHO_LONG'] !== '1')(
    'has three nodes and each is killed in turn: within seconds all goes on, nothing lost, doubled or swapped',
    async () => {
      const kafka = await startTestKafka({ nodes: 3 })
      const cluster = { addresses: kafka.addresses, clientId: 'trilho-test' }
      // What one node leads has several leaders when it is killed.
      const settings = { partitions: 12, replicas: undefined, retentionDays: 1 }
      const broker = await open({ cluster, topics: settings })
      const topic = freshTopic('nodes')
      const keys = Array.from({ length: 64 }, (_, index) => `key-${index}`)
      const reader = createReader()
      broker.consume({ topic, group: 'g', batchSizeMax: 10, handler: reader.handler })
      const load = startLoad(broker, topic, keys)
      await until(() => reader.count() > 500, 40_000)
      for (const node of kafka.addresses.keys()) {
        await kafka.kill(node)
        const before = reader.count()
        await until(() => reader.count() > before + 1_000, 40_000)
        await kafka.start(node)
        await until(() => reader.count() > before + 3_000, 40_000)
      }
      const expected = await load.end()
      await until(
        () => keys.every((key) => reader.seen.get(key)?.at(-1) === expected.at(-1)),
        40_000,
      )
      // Nobody had to publish again, so the broker knew every repetition.
      expect(load.failures()).toBe(0)
      for (const key of keys) expect([...new Set(reader.seen.get(key))]).toEqual([...expected])
      await broker.stop()
      await kafka.close()
    },
    150_000,
  )
})
