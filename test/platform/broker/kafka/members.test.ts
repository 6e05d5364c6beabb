import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Broker, Delivery } from '#src/platform/broker/index.ts'
import { isKafkaHere, sharedTestKafka } from '../../../support/kafka.ts'
import { until } from '../../../support/until.ts'
import { freshTopic, openKafkaBroker } from './support.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

const numberOf = ({ value }: Delivery): number => Number(Buffer.from(value).toString())

/** What each member was given, and in which order over all members messages of a key were settled. */
const createRecord = () => {
  const settled = new Map<string, number[]>()
  const byMember = new Map<string, number>()
  const atWork = new Map<number, string>()
  const overlaps: string[] = []
  return {
    settled,
    byMember,
    overlaps,
    /** A handler of a member that says when two work on one partition at the same time. */
    handler:
      (member: string, work: () => Promise<void>) =>
      async (batch: readonly Delivery[]): Promise<void> => {
        const partition = batch[0]?.partition ?? -1
        const other = atWork.get(partition)
        if (other !== undefined) overlaps.push(`${partition}: ${other} and ${member}`)
        atWork.set(partition, member)
        await work()
        for (const delivery of batch) {
          const key = delivery.key ?? ''
          settled.set(key, [...(settled.get(key) ?? []), numberOf(delivery)])
        }
        byMember.set(member, (byMember.get(member) ?? 0) + batch.length)
        atWork.delete(partition)
      },
  }
}

describe.skipIf(!isKafkaHere)('members of a group in Kafka', () => {
  const opened: Broker[] = []
  const open = async (): Promise<Broker> => {
    const broker = await openKafkaBroker()
    opened.push(broker)
    return broker
  }
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((broker) => broker.stop()))
  })

  test('come and go under load: nothing is lost, nothing comes twice, the order of a key holds', async () => {
    const topic = freshTopic('rebalance')
    const brokers = [await open(), await open(), await open()]
    const [publisher] = brokers
    if (publisher === undefined) throw new Error('no broker')
    const record = createRecord()
    const consume = (member: number) =>
      (brokers[member] ?? publisher).consume({
        topic,
        group: 'g',
        batchSizeMax: 5,
        handler: record.handler(`m${member}`, () => Bun.sleep(Math.random() * 4)),
      })
    const keys = Array.from({ length: 24 }, (_, index) => `key-${index}`)
    let published = 0
    let isLoaded = true
    const load = (async () => {
      while (isLoaded) {
        const number = published++
        await publisher.publish(
          keys.map((key) => ({ topic, key, value: Buffer.from(String(number)) })),
        )
        await Bun.sleep(5)
      }
    })()
    const worksAfter = async (member: number): Promise<void> => {
      const before = record.byMember.get(`m${member}`) ?? 0
      await until(() => (record.byMember.get(`m${member}`) ?? 0) > before + 50, 40_000)
    }
    consume(0)
    await worksAfter(0)
    const second = consume(1)
    await worksAfter(1)
    consume(2)
    await worksAfter(2)
    await second.stop()
    await worksAfter(0)
    isLoaded = false
    await load
    const expected = Array.from({ length: published }, (_, number) => number)
    await until(
      () => keys.every((key) => (record.settled.get(key)?.length ?? 0) >= published),
      40_000,
    )
    for (const key of keys) expect(record.settled.get(key)).toEqual(expected)
    expect(record.overlaps).toEqual([])
  }, 120_000)

  test('a partition is not given away in the middle of a batch, and the others are', async () => {
    const topic = freshTopic('busy')
    const [first, second] = [await open(), await open()]
    const gate = Promise.withResolvers<void>()
    const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`)
    await first.publish(keys.map((key) => ({ topic, key, value: Buffer.from('1') })))
    const record = createRecord()
    // One more than the share of a member: it has to give back a busy one, which moves when it is done.
    const hanging = new Set([3, 4, 5, 6, 7])
    const held = new Set<number>()
    first.consume({
      topic,
      group: 'g',
      batchSizeMax: 100,
      handler: async (batch) => {
        const partition = batch[0]?.partition ?? -1
        const hangs = hanging.has(partition)
        if (hangs) held.add(partition)
        await record.handler('first', () => (hangs ? gate.promise : Promise.resolve()))(batch)
      },
    })
    await until(() => held.size === hanging.size)
    const seen = new Set<number>()
    second.consume({
      topic,
      group: 'g',
      batchSizeMax: 100,
      handler: async (batch) => {
        seen.add(batch[0]?.partition ?? -1)
        await record.handler('second', async () => {})(batch)
      },
    })
    // What is idle moves although the rest is busy.
    await until(async () => {
      await first.publish(keys.map((key) => ({ topic, key, value: Buffer.from('2') })))
      return seen.size >= 3
    })
    await Bun.sleep(2_500)
    for (const partition of held) expect(seen.has(partition)).toBe(false)
    gate.resolve()
    await until(async () => {
      await first.publish(keys.map((key) => ({ topic, key, value: Buffer.from('3') })))
      return seen.size === 4
    })
    expect(record.overlaps).toEqual([])
  }, 120_000)

  test('the work of a process that is killed is done by another, from where it was settled', async () => {
    const topic = freshTopic('killed')
    const broker = await open()
    const { address } = await sharedTestKafka()
    const victim = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'victim.ts'), address, topic],
      {
        stdout: 'pipe',
        stderr: 'ignore',
      },
    )
    const values = Array.from({ length: 40 }, (_, index) => index)
    await broker.publish(
      values.map((value) => ({ topic, key: 'k', value: Buffer.from(String(value)) })),
    )
    // It settles twenty, and hangs in the batch after.
    await victim.stdout.getReader().read()
    const seen: number[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map(numberOf))
      },
    })
    await Bun.sleep(1_500)
    expect(seen).toEqual([])
    victim.kill('SIGKILL')
    await until(() => seen.length >= 20, 40_000)
    expect(seen).toEqual(values.slice(20))
  }, 120_000)
})
