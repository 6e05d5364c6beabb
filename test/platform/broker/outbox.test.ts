import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  type Broker,
  BrokerUnavailableError,
  createPostgresBroker,
  type Delivery,
  deadLetterHeaders,
  openDeadLetters,
  outboxTopic,
  PoisonMessageError,
  PublishRefusedError,
  type TransactionalBroker,
  withOutbox,
} from '#src/platform/broker/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createMetrics, currentTraceId, inSpan } from '#src/platform/observe/index.ts'
import { startTracing } from '#src/platform/observe/tracing/start.ts'
import type { Refusals } from '../../../src/platform/broker/outbox.ts'
import { startCollector } from '../../support/collector.ts'
import {
  createTestDatabase,
  quietLogger as logger,
  type TestDatabase,
} from '../../support/database.ts'
import { createTopicsOutside } from '../../support/topics-outside.ts'
import { until } from '../../support/until.ts'

/** A Kafka starts, rebalances and comes back in seconds, more of them on a busy machine. */
setDefaultTimeout(120_000)

describe('the outbox', () => {
  let database: TestDatabase
  const opened: TransactionalBroker[] = []
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((broker) => broker.stop()))
  })
  afterAll(() => database.close())

  const metricsOf = () => createMetrics({ version: 'test', withProcess: false })
  const openLog = (): TransactionalBroker => {
    const { sql, dsn } = database
    return createPostgresBroker({
      sql,
      dsn,
      logger,
      times: { sampleEveryMs: 20 },
    })
  }
  const open = async (target: Broker, metrics = metricsOf()): Promise<TransactionalBroker> => {
    const broker = withOutbox({ broker: target, log: openLog(), logger, metrics })
    await broker.start()
    opened.push(broker)
    return broker
  }
  const read = (broker: Broker, topic: string): Delivery[] => {
    const seen: Delivery[] = []
    broker.consume({
      topic,
      group: 'readers',
      batchSizeMax: 100,
      handler: async (batch) => {
        seen.push(...batch)
      },
    })
    return seen
  }
  const textOf = ({ value }: Delivery): string => Buffer.from(value).toString()

  test('brings what a transaction published to the broker, as it was, and nothing of one that failed', async () => {
    const broker = await open(createTopicsOutside())
    const seen = read(broker, 'a')
    const failed = database.sql.begin(async (tx) => {
      await broker.publishIn(tx, [{ topic: 'a', key: 'k', value: Buffer.from('rolled back') }])
      throw new Error('no')
    })
    await failed.catch(() => {})
    await database.sql.begin((tx) =>
      broker.publishIn(tx, [
        { topic: 'a', key: 'k', value: Buffer.from('1'), headers: { h: 'é' } },
      ]),
    )
    await until(() => seen.length > 0)
    expect(seen.map(textOf)).toEqual(['1'])
    expect(seen[0]).toMatchObject({ topic: 'a', key: 'k', headers: { h: 'é' } })
    expect(seen[0]?.headers).toEqual({ h: 'é' })
  })

  test('keeps the order of a key over transactions and topics', async () => {
    const broker = await open(createTopicsOutside())
    const seen = [read(broker, 'first'), read(broker, 'second')]
    for (let at = 0; at < 60; at++) {
      const message = { key: `k${at % 3}`, value: Buffer.from(String(at)) }
      const topic = at % 2 === 0 ? 'first' : 'second'
      await database.sql.begin((tx) => broker.publishIn(tx, [{ topic, ...message }]))
    }
    await until(() => seen.flat().length >= 60)
    for (const deliveries of seen) {
      for (const key of ['k0', 'k1', 'k2']) {
        const numbers = deliveries
          .filter((one) => one.key === key)
          .map((one) => Number(textOf(one)))
        expect(numbers.length).toBe(10)
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
      }
    }
  })

  test('waits while the broker is away, says for how long, and goes on', async () => {
    const memory = createTopicsOutside()
    let isAway = true
    const metrics = metricsOf()
    const broker = await open(
      {
        ...memory,
        publish: async (messages) => {
          if (isAway) throw new BrokerUnavailableError('away')
          await memory.publish(messages)
        },
      },
      metrics,
    )
    const seen = read(broker, 'late')
    await database.sql.begin((tx) =>
      broker.publishIn(tx, [{ topic: 'late', value: Buffer.from('kept') }]),
    )
    const gaugeOf = async (name: string): Promise<number> => {
      const { text } = await metrics.render()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    }
    await until(async () => (await gaugeOf('spigw_broker_outbox_depth')) === 1)
    await until(async () => (await gaugeOf('spigw_broker_outbox_age_seconds')) > 0.05)
    const waiting = await broker.backlog('late', 'readers')
    expect(waiting.depth).toBe(1)
    expect(waiting.ageSeconds).toBeGreaterThan(0.05)
    const publishedBefore = Date.now()
    isAway = false
    await until(() => seen.length === 1)
    expect(textOf(seen[0] as Delivery)).toBe('kept')
    // It is as old as it is, however late it was relayed.
    expect(seen[0]?.publishedAt.getTime()).toBeLessThan(publishedBefore)
    await until(async () => (await gaugeOf('spigw_broker_outbox_depth')) === 0)
    expect(await gaugeOf('spigw_broker_outbox_age_seconds')).toBe(0)
  })

  test('relays what a process left behind that stopped before it could', async () => {
    const log = openLog()
    const left = withOutbox({ broker: createTopicsOutside(), log, logger })
    await database.sql.begin((tx) =>
      left.publishIn(tx, [{ topic: 'left', value: Buffer.from('behind') }]),
    )
    const next = await open(createTopicsOutside())
    const seen = read(next, 'left')
    await until(() => seen.length === 1)
    expect(seen.map(textOf)).toEqual(['behind'])
  })

  test('carries the trace of the transaction to whoever handles the message', async () => {
    const collector = await startCollector()
    const tracing = startTracing({
      endpoint: collector.url,
      serviceName: 'x',
      serviceVersion: '1',
      samplingRatio: 1,
    })
    const broker = await open(createTopicsOutside())
    const handled = Promise.withResolvers<string | undefined>()
    broker.consume({
      topic: 'traced',
      group: 'readers',
      batchSizeMax: 10,
      handler: async () => handled.resolve(currentTraceId()),
    })
    let traceId: string | undefined
    await inSpan('request', {}, async () => {
      traceId = currentTraceId()
      await database.sql.begin((tx) =>
        broker.publishIn(tx, [{ topic: 'traced', key: 'k', value: Buffer.from('1') }]),
      )
    })
    expect(await handled.promise).toBe(traceId)
    await broker.stop()
    await tracing.stop()
    collector.stop()
    const names = collector.spans.filter((span) => span.traceId === traceId).map(({ name }) => name)
    expect(names.sort()).toEqual(
      ['process outbox', 'process traced', 'publish outbox', 'publish traced', 'request'].sort(),
    )
  })

  test('keeps dead letters where they can be tried again', async () => {
    const memory = createTopicsOutside()
    const broker = await open(memory)
    const seen: string[] = []
    let isBroken = true
    broker.consume({
      topic: 'broken',
      group: 'readers',
      batchSizeMax: 10,
      handler: async (batch) => {
        if (isBroken) throw new PoisonMessageError('unreadable', 'no')
        seen.push(...batch.map((delivery) => `${textOf(delivery)} ${delivery.headers['own']}`))
      },
    })
    const message = { topic: 'broken', key: 'k', value: Buffer.from('1'), headers: { own: 'h' } }
    await broker.publish([message])
    const box = openDeadLetters(database.sql, true)
    const find = async () =>
      (await box.list(10)).find(({ headers }) => headers[deadLetterHeaders.topic] === 'broken')
    let letter = await find()
    for (; letter === undefined; letter = await find()) await Bun.sleep(10)
    expect(letter.headers[deadLetterHeaders.errorCode]).toBe('unreadable')
    isBroken = false
    expect(await box.retry(letter.id, commandActor())).toBe(true)
    await until(() => seen.length === 1)
    expect(seen).toEqual(['1 h'])
    expect(await find()).toBeUndefined()
    expect(await box.retry(letter.id, commandActor())).toBe(false)
  })

  test('puts what the broker will never take in dlq, and goes on', async () => {
    const memory = createTopicsOutside()
    const broker = await open({
      ...memory,
      publish: async (messages) => {
        if (messages.some(({ key }) => key === 'large')) throw new PublishRefusedError('too large')
        await memory.publish(messages)
      },
    })
    const seen = read(broker, 'mixed')
    await database.sql.begin((tx) =>
      broker.publishIn(tx, [
        { topic: 'mixed', key: 'large', value: Buffer.from('x') },
        { topic: 'mixed', key: 'good', value: Buffer.from('good') },
      ]),
    )
    const letters = () => openDeadLetters(database.sql, true).list(1)
    await until(async () => seen.length === 1 && (await letters()).length === 1)
    expect((await letters())[0]?.headers).toMatchObject({
      [deadLetterHeaders.topic]: outboxTopic,
      [deadLetterHeaders.errorCode]: 'refused_by_broker',
    })
  })

  test('what the broker will never take ends its subject with its letter, both or neither', async () => {
    const { sql } = database
    await sql`create table ends (text text)`
    const refused: Broker = {
      ...createTopicsOutside(),
      publish: async () => {
        throw new PublishRefusedError('too large')
      },
    }
    let attempts = 0
    const end: Refusals['end'] = async (tx, { topic, headers }, errorCode) => {
      await tx`insert into ends values (${[topic, headers?.['id'], errorCode].join(' ')})`
      if (++attempts === 1) throw new Error('not yet')
    }
    const broker = withOutbox({ broker: refused, log: openLog(), refusals: { sql, end }, logger })
    await broker.start()
    opened.push(broker)
    const lettersOf = async () => {
      const letters = await openDeadLetters(sql, true).list(1000)
      return letters.filter(({ headers }) => headers['id'] === '7').length
    }
    const value = Buffer.from('x')
    await sql.begin((tx) => broker.publishIn(tx, [{ topic: 'a', value, headers: { id: '7' } }]))
    // What says nothing of its topic ends nothing, and is put aside all the same.
    await openLog().publish([{ topic: outboxTopic, value, headers: { id: '7' } }])
    await until(async () => (await lettersOf()) === 2)
    expect([...(await sql`select text from ends`)]).toEqual([{ text: 'a 7 refused_by_broker' }])
    expect(attempts).toBe(2)
    await until(async () => (await broker.backlog('a', 'g')).depth === 0)
  })
})
