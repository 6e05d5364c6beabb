import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Admin, ConfigResourceTypes, Producer } from '@platformatic/kafka'
import {
  createKafkaBroker,
  type Delivery,
  PublishRefusedError,
  topics,
  valueBytesMax,
} from '#src/platform/broker/index.ts'
import { backlogOf } from '../../../support/backlog.ts'
import { quietLogger } from '../../../support/database.ts'
import { isKafkaHere, sharedTestKafka } from '../../../support/kafka.ts'
import { until } from '../../../support/until.ts'
import { createReader, freshTopic, openKafkaBroker } from './support.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

describe.skipIf(!isKafkaHere)('topics in Kafka', () => {
  const openAdmin = async (): Promise<Admin> =>
    new Admin({
      clientId: 'trilho-test',
      bootstrapBrokers: [(await sharedTestKafka()).address],
    })

  test('are made at the start with the settings, and left as they are when they are there', async () => {
    const admin = await openAdmin()
    const own = freshTopic('own')
    await admin.createTopics({ topics: [own], partitions: 2, replicas: 1 })
    const broker = await openKafkaBroker({
      topics: { partitions: 3, replicas: 1, retentionDays: 2 },
    })
    const made = freshTopic('made')
    await broker.publish([
      { topic: own, value: Buffer.from('1') },
      { topic: made, value: Buffer.from('1') },
    ])
    const wanted = [...Object.values(topics), own, made]
    const known = await admin.metadata({ topics: wanted })
    expect(wanted.filter((name) => !known.topics.has(name))).toEqual([])
    expect(known.topics.get(own)?.partitionsCount).toBe(2)
    expect(known.topics.get(made)?.partitionsCount).toBe(3)
    const [described] = await admin.describeConfigs({
      resources: [
        {
          resourceType: ConfigResourceTypes.TOPIC,
          resourceName: made,
          configurationKeys: ['max.message.bytes', 'retention.ms'],
        },
      ],
    })
    const configs = Object.fromEntries(
      described?.configs.map(({ name, value }) => [name, value]) ?? [],
    )
    expect(configs).toEqual({ 'max.message.bytes': '6291456', 'retention.ms': '172800000' })
    await broker.stop()
    await admin.close()
  })

  test('of others with a lower limit take what fits, and refuse what does not, alone', async () => {
    const admin = await openAdmin()
    const topic = freshTopic('low')
    await admin.createTopics({
      topics: [topic],
      partitions: 1,
      replicas: 1,
      configs: [{ name: 'max.message.bytes', value: '20000' }],
    })
    const broker = await openKafkaBroker()
    const seen: number[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map(({ value }) => value.length))
      },
    })
    const publications = [9_000, 30_000, 9_001, 9_002].map((bytes) =>
      broker.publish([{ topic, value: new Uint8Array(bytes) }]).then(
        () => 'taken',
        (error: unknown) => error,
      ),
    )
    const [first, second, third, fourth] = await Promise.all(publications)
    expect([first, third, fourth]).toEqual(['taken', 'taken', 'taken'])
    expect(second).toBeInstanceOf(PublishRefusedError)
    await until(() => seen.length === 3)
    expect(seen).toEqual([9_000, 9_001, 9_002])
    await broker.stop()
    await admin.close()
  })

  test.each([
    ['values', { value: new Uint8Array(256 * 1024) }],
    ['headers', { value: new Uint8Array(0), headers: { h: 'x'.repeat(256 * 1024) } }],
  ])(
    'with much that waits are read a little at a time: %s',
    async (_, content) => {
      const broker = await openKafkaBroker()
      const topic = freshTopic('much')
      // 128 MiB in all.
      for (let round = 0; round < 64; round++) {
        await broker.publish(
          Array.from({ length: 8 }, (_, at) => ({ topic, key: `k${at}-${round}`, ...content })),
        )
      }
      Bun.gc(true)
      const before = process.memoryUsage().rss
      const gate = Promise.withResolvers<void>()
      let taken = 0
      broker.consume({
        topic,
        group: 'g',
        batchSizeMax: 2,
        handler: async (batch) => {
          taken += batch.length
          await gate.promise
        },
      })
      await until(() => taken >= 8)
      await Bun.sleep(500)
      // Two of each partition are handed out; besides them a partition holds one MiB and what came with it: some 30 MiB,
      // and what the collector has not come to.
      const grownMiB = (process.memoryUsage().rss - before) / 1024 / 1024
      expect(grownMiB).toBeLessThan(96)
      gate.resolve()
      await until(() => taken >= 512, 40_000)
      await broker.stop()
    },
    120_000,
  )

  test('are looked at by the doctor, who changes nothing', async () => {
    const admin = await openAdmin()
    const { address } = await sharedTestKafka()
    const settings = { partitions: 8, replicas: undefined, retentionDays: 1 }
    const look = () =>
      createKafkaBroker({
        cluster: { addresses: [address], clientId: 'trilho-test' },
        topics: settings,
        logger: quietLogger,
      }).checks?.()
    await admin.deleteTopics({ topics: [topics.webhookEvents, topics.outbound] })
    await admin.createTopics({ topics: [topics.outbound], partitions: 4, replicas: 1 })
    let checks = await look()
    // A topic is gone and another there when every part of the broker knows.
    while ((checks?.length ?? 0) !== 7) {
      await Bun.sleep(20)
      checks = await look()
    }
    expect(
      checks
        ?.map(({ status }) => status)
        .sort()
        .join(' '),
    ).toBe('ok ok ok ok ok warning warning')
    const details = checks?.map(({ detail }) => detail) ?? []
    expect(details).toContain(`${address} answers`)
    expect(details).toContain(
      'webhook.events: to be made, with 8 partitions and the cluster’s number of replicas',
    )
    const alone = details.find((detail) => detail.startsWith('one replica alone: '))
    expect(alone).toContain(topics.outbound)
    expect(checks?.find(({ status }) => status === 'warning')).toMatchObject({
      detail: expect.stringContaining('spi.outbound: 4 partitions, messages up to 1048588 bytes'),
      fix: 'set max.message.bytes=6291456 on the topic',
    })
    // Back as others want them.
    await admin.deleteTopics({ topics: [topics.outbound] })
    await admin.close()
  })

  test('a batch that would take the memory goes to dlq as it is, and those behind it are read', async () => {
    const topic = freshTopic('inflated')
    const broker = await openKafkaBroker({
      topics: { partitions: 1, replicas: 1, retentionDays: 1 },
    })
    await broker.publish([{ topic, key: 'k', value: Buffer.from('1') }])
    const foreign = new Producer({
      clientId: 'trilho-test-foreign',
      bootstrapBrokers: [(await sharedTestKafka()).address],
    })
    const value = Buffer.alloc(64 * 1024 * 1024)
    await foreign.send({
      messages: [{ topic, key: Buffer.from('k'), value }],
      compression: 'zstd',
      acks: 1,
    })
    await foreign.close()
    await broker.publish([{ topic, key: 'k', value: Buffer.from('2') }])
    const reader = createReader()
    const letters: Delivery[] = []
    broker.consume({ topic, group: freshTopic('g'), batchSizeMax: 10, handler: reader.handler })
    broker.consume({
      topic: topics.deadLetters,
      group: freshTopic('g'),
      batchSizeMax: 100,
      handler: async (batch) => {
        letters.push(...batch.filter(({ headers }) => headers['dlq-topic'] === topic))
      },
    })
    await until(() => reader.count() >= 2 && letters.length > 0, 40_000)
    expect(reader.seen.get('k')).toEqual(['1', '2'])
    expect(letters).toHaveLength(1)
    expect(letters[0]?.headers).toMatchObject({
      'dlq-error-code': 'unreadable_batch',
      'dlq-offset': '1',
    })
    expect(letters[0]?.value.length).toBeLessThan(value.length / 100)
    await broker.stop()
  }, 120_000)

  test('batches that cannot be read hold up no other partition', async () => {
    const topic = freshTopic('held')
    const broker = await openKafkaBroker({
      topics: { partitions: 2, replicas: 1, retentionDays: 1 },
    })
    await broker.publish([{ topic, key: 'made', value: Buffer.from('0') }])
    const foreign = new Producer({
      clientId: 'trilho-test-foreign',
      bootstrapBrokers: [(await sharedTestKafka()).address],
    })
    const send = (partition: number, value: Buffer) =>
      foreign.send({ messages: [{ topic, partition, value }], compression: 'zstd', acks: 1 })
    const batches = 16
    for (const partition of [0, 1]) {
      for (let at = 0; at < batches; at++) await send(partition, Buffer.alloc(17 * 1024 * 1024))
    }
    await foreign.close()
    const buried = new Map<number, number>()
    let least = 0
    broker.consume({
      topic,
      group: freshTopic('g'),
      batchSizeMax: 10,
      handler: async () => {},
      bury: async (_, { partition }) => {
        buried.set(partition, (buried.get(partition) ?? 0) + 1)
        const [first = 0, second = 0] = [buried.get(0), buried.get(1)]
        if (Math.max(first, second) === batches) least ||= Math.min(first, second)
      },
    })
    await until(() => buried.get(0) === batches && buried.get(1) === batches, 40_000)
    // They take turns, so neither waits for the end of the other.
    expect(least).toBeGreaterThan(batches / 2)
    await broker.stop()
  }, 120_000)

  test('keep the time at which a message that is passed on was published', async () => {
    const broker = await openKafkaBroker()
    const topic = freshTopic('passed')
    const publishedAt = new Date(Date.now() - 3_600_000)
    await broker.publish([
      { topic, key: 'k', value: Buffer.from('1'), publishedAt },
      { topic, key: 'k', value: Buffer.from('2') },
    ])
    const { depth, ageSeconds } = await backlogOf(broker, topic, 'g')
    expect(depth).toBe(2)
    expect(Math.abs(ageSeconds - 3_600)).toBeLessThan(60)
    const times: number[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        times.push(...batch.map((delivery) => delivery.publishedAt.getTime()))
      },
    })
    await until(() => times.length === 2)
    expect(times[0]).toBe(publishedAt.getTime())
    expect(Math.abs((times[1] ?? 0) - Date.now())).toBeLessThan(60_000)
    await broker.stop()
  })

  test('take no message whose key and headers are out of all proportion', async () => {
    const broker = await openKafkaBroker()
    const topic = freshTopic('headers')
    const messageOf = (bytes: number) => ({
      topic,
      value: new Uint8Array(valueBytesMax),
      headers: { h: 'x'.repeat(bytes) },
    })
    await broker.publish([messageOf(500 * 1024)])
    await expect(broker.publish([messageOf(512 * 1024)])).rejects.toBeInstanceOf(
      PublishRefusedError,
    )
    await broker.stop()
  })
})
