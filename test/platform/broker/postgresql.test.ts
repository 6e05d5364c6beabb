import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import {
  type ConsumeOptions,
  createBrokerFeature,
  createPostgresBroker,
  type Delivery,
  DeliveryLostError,
  openDeadLetters,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createLanes } from '../../../src/platform/broker/postgresql/lanes.ts'
import { createNotifier } from '../../../src/platform/broker/postgresql/notifier.ts'
import { laneDepthMax } from '../../../src/platform/broker/types.ts'
import { brokerContract } from '../../contract/broker.contract.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { lettersIn } from '../../support/letters.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

/** Long for a process that lives, short for whoever waits for the end of one that does not. */
const leaseMs = 900

const open = async (): Promise<TransactionalBroker> => {
  const { sql, dsn } = database
  const times = { leaseMs }
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger, times })
  await broker.start()
  return broker
}

brokerContract('PostgreSQL', {
  open,
  letters: () => () => lettersIn(database.sql),
})

/** The texts that a consumer was given, in order. */
const reading = (
  broker: TransactionalBroker,
  topic: string,
  over: Partial<ConsumeOptions> = {},
) => {
  const seen: string[] = []
  broker.consume({
    topic,
    group: 'g',
    batchSizeMax: 10,
    handler: async (batch) => {
      seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
    },
    ...over,
  })
  return seen
}

const textMessage = (topic: string, text: string, key = 'k') => ({
  topic,
  key,
  value: Buffer.from(text),
})

const startVictim = (topic: string, mode: 'hangs' | 'is slow' | 'dies') => {
  const program = join(import.meta.dir, 'victim.ts')
  const victim = Bun.spawn(
    [process.execPath, program, database.dsn, topic, mode, String(leaseMs)],
    { stdout: 'pipe', stderr: 'ignore' },
  )
  const reader = victim.stdout.getReader()
  /** The next lines that it says. */
  const says = async (): Promise<string> => {
    const { value } = await reader.read()
    return new TextDecoder().decode(value).trim()
  }
  return { victim, says }
}

describe('PostgreSQL broker', () => {
  test('publishes with the transaction or not at all', async () => {
    const broker = await open()
    const topic = `transaction.${Date.now()}`
    const seen = reading(broker, topic)
    const failed = database.sql.begin(async (transaction) => {
      await broker.publishIn(transaction, [{ topic, value: Buffer.from('rolled back') }])
      throw new Error('no')
    })
    await failed.catch(() => {})
    await database.sql.begin((transaction) =>
      broker.publishIn(transaction, [{ topic, value: Buffer.from('committed') }]),
    )
    await until(() => seen.length > 0)
    expect(seen).toEqual(['committed'])
    await broker.stop()
  })

  /** Whose first transaction would keep others that name it waiting until its end. */
  const namedBefore = async (topic: string): Promise<string> => {
    await createLanes().of([topic], database.sql)
    return topic
  }

  test('tells of what a transaction published when that one commits, whichever commits meanwhile', async () => {
    const { sql, dsn } = database
    // Nobody searches: what is not told of is not found.
    const times = { leaseMs, searchEveryMs: 3_600_000, deafSearchEveryMs: 3_600_000 }
    const broker = createPostgresBroker({ sql, dsn, logger: quietLogger, times })
    await broker.start()
    const topic = await namedBefore(`told.${Date.now()}`)
    const seen = reading(broker, topic)
    await broker.publish([textMessage(topic, 'before')])
    await until(() => seen.includes('before'))
    await sql.begin(async (transaction) => {
      await transaction.savepoint((inner) =>
        broker.publishIn(inner, [textMessage(topic, 'slow, in a savepoint')]),
      )
      await broker.publishIn(transaction, [textMessage(topic, 'slow')])
      await sql.begin((other) => broker.publishIn(other, [textMessage(topic, 'quick')]))
      await until(() => seen.includes('quick'))
    })
    await until(() => seen.length === 4)
    expect(seen).toEqual(['before', 'quick', 'slow, in a savepoint', 'slow'])
    await broker.stop()
  })

  test('does not say that it searches while it asks nothing', async () => {
    const { sql, dsn } = database
    const lines: string[] = []
    const say = (_: unknown, text: string) => void (text.startsWith('search') && lines.push(text))
    const logger = { ...quietLogger, info: say, error: say }
    let isAway = false
    const gate = {
      demandOpen: () => {
        if (isAway) throw new Error('the database starts')
      },
    }
    const times = { leaseMs, searchEveryMs: 400, deafSearchEveryMs: 40 }
    const broker = createPostgresBroker({ sql, dsn, logger, gate, times })
    const topic = `searched.${Date.now()}`
    const seen = reading(broker, topic)
    await broker.publish([textMessage(topic, 'before')])
    await until(() => seen.length > 0)
    isAway = true
    await until(() => lines.length > 0)
    await Bun.sleep(3 * times.searchEveryMs)
    expect(lines).toEqual(['search of the queues: failed'])
    isAway = false
    await until(() => lines.length > 1)
    expect(lines).toEqual(['search of the queues: failed', 'search of the queues: works again'])
    await broker.stop()
  })

  test('searches less often again as soon as it is heard, though by itself alone', async () => {
    const notifier = createNotifier(database.sql, {
      hear: () => {},
      isOurs: () => true,
      logger: quietLogger,
    })
    notifier.listen()
    notifier.missed()
    await until(notifier.isHearing)
    await notifier.close()
  })

  test('delivers what commits late below what was read', async () => {
    const broker = await open()
    const topic = await namedBefore(`late.${Date.now()}`)
    const seen = reading(broker, topic)
    await database.sql.begin(async (transaction) => {
      await broker.publishIn(transaction, [textMessage(topic, 'lower')])
      await broker.publish([textMessage(topic, 'higher')])
      await until(() => seen.length === 1)
    })
    // Nobody tells of it: the search finds it.
    await until(() => seen.length === 2)
    expect(seen).toEqual(['higher', 'lower'])
    await broker.stop()
  })

  test('delivers a late one while its lane is never idle', async () => {
    const broker = await open()
    const topic = await namedBefore(`busy.${Date.now()}`)
    const seen: string[] = []
    let published = 0
    const more = (): Promise<void> => broker.publish([textMessage(topic, String(published++))])
    const handler: ConsumeOptions['handler'] = async (batch) => {
      seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
      // The next waits before this one is settled.
      await more()
    }
    await database.sql.begin(async (transaction) => {
      await broker.publishIn(transaction, [textMessage(topic, 'late')])
      reading(broker, topic, { handler })
      await more()
      await until(() => seen.length > 3)
    })
    await until(() => seen.includes('late'))
    await broker.stop()
  })

  test('keeps the order of a key whose row is locked before, whoever wrote first', async () => {
    const { sql } = database
    const broker = await open()
    const topic = `row.${Date.now()}`
    await sql`create table if not exists keys (key text primary key, state int)`
    await sql`insert into keys values ('k', 0) on conflict do nothing`
    const wrote = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const second = sql.begin(async (tx) => {
      // Its transaction id is the older one.
      await tx`insert into keys values (${topic}, 0)`
      wrote.resolve()
      await locked.promise
      await tx`update keys set state = 2 where key = 'k'`
      await broker.publishIn(tx, [textMessage(topic, 'second')])
    })
    await wrote.promise
    await sql.begin(async (tx) => {
      await tx`update keys set state = 1 where key = 'k'`
      locked.resolve()
      await Bun.sleep(50)
      await broker.publishIn(tx, [textMessage(topic, 'first')])
    })
    await second
    const seen = reading(broker, topic)
    await until(() => seen.length === 2)
    expect(seen).toEqual(['first', 'second'])
    await broker.stop()
  })

  test('waits for no transaction that writes, here or in another database of the server', async () => {
    const elsewhere = await createTestDatabase(1)
    const broker = await open()
    const topic = `elsewhere.${Date.now()}`
    const seen = reading(broker, topic)
    await elsewhere.sql.begin(async (there) => {
      await there`create table batch_job ()`
      await database.sql.begin(async (here) => {
        await here`create table if not exists another_batch_job ()`
        await broker.publish([textMessage(topic, '1')])
        await until(() => seen.length === 1)
      })
    })
    await broker.stop()
    await elsewhere.close()
  })

  test('goes on after its connections are cut', async () => {
    const broker = await open()
    const topic = `cut.${Date.now()}`
    const seen = new Set<string>()
    reading(broker, topic, {
      handler: async (batch) => {
        for (const { value } of batch) seen.add(Buffer.from(value).toString())
      },
    })
    for (let round = 0; round < 5; round++) {
      const values = Array.from({ length: 50 }, (_, index) => `${round}-${index}`)
      await broker.publish(values.map((value) => textMessage(topic, value, value)))
      await until(() => seen.size > round * 50)
      await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like '%-broker' and datname = current_database()`
    }
    await until(() => seen.size === 250)
    await broker.stop()
  }, 60_000)

  test('gives the work of a process that is killed to another when its lease is over', async () => {
    const broker = await open()
    const topic = `killed.${Date.now()}`
    const values = Array.from({ length: 20 }, (_, index) => `${index}`.padStart(2, '0'))
    await broker.publish(values.map((value) => textMessage(topic, value)))
    const { victim, says } = startVictim(topic, 'hangs')
    await says()
    const seen = reading(broker, topic)
    await Bun.sleep(leaseMs / 2)
    expect(seen).toEqual([])
    victim.kill('SIGKILL')
    await until(() => seen.length >= values.length, 40_000)
    expect(seen).toEqual(values)
    await broker.stop()
  }, 60_000)

  test('gives the work of a frozen process to another; when it goes on, it has no effect twice', async () => {
    const { sql } = database
    const broker = await open()
    const topic = `frozen.${Date.now()}`
    await sql`create table if not exists effects (text text, who text)`
    const texts = Array.from({ length: 5 }, (_, index) => `${topic} ${index}`)
    await broker.publish(texts.map((text) => textMessage(topic, text)))
    const { victim, says } = startVictim(topic, 'is slow')
    expect(await says()).toBe('taken')
    victim.kill('SIGSTOP')
    const seen = reading(broker, topic, {
      handler: async (batch) => {
        await sql.begin(async (tx) => {
          for (const { value } of batch) {
            await tx`insert into effects values (${Buffer.from(value).toString()}, 'heir')`
          }
          await broker.settleIn(tx, batch)
        })
        seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
      },
    })
    await until(() => seen.length === texts.length, 40_000)
    victim.kill('SIGCONT')
    expect(await says()).toBe(DeliveryLostError.name)
    victim.kill('SIGKILL')
    const effects = await sql<{ text: string; who: string }[]>`
      select text, who from effects where starts_with(text, ${topic}) order by text`
    expect([...effects]).toEqual(texts.map((text) => ({ text, who: 'heir' })))
    await broker.stop()
  }, 60_000)

  test('a message that ends its process again and again goes to dlq, and no other', async () => {
    const { sql } = database
    const broker = await open()
    const topic = `deadly.${Date.now()}`
    await sql`create table if not exists effects (text text, who text)`
    const texts = ['a', 'b', 'c', 'd'].map((text) => `${topic} ${text}`)
    const [first = '', ...others] = texts
    await broker.publish([first, 'deadly', ...others].map((text) => textMessage(topic, text)))
    const effects = async () => {
      const rows = await sql<{ text: string }[]>`
        select text from effects where starts_with(text, ${topic}) order by text`
      return rows.map(({ text }) => text)
    }
    let victims = 0
    while ((await broker.backlog(topic, 'g')).depth > 0) {
      victims++
      const { victim } = startVictim(topic, 'dies')
      const over = until(async () => (await broker.backlog(topic, 'g')).depth === 0, 50_000)
      await Promise.race([victim.exited, over])
      victim.kill('SIGKILL')
      await victim.exited
    }
    expect(victims).toBeLessThan(10)
    expect(await effects()).toEqual(texts)
    const letters = (await openDeadLetters(sql).list(100)).filter(
      ({ headers }) => headers['dlq-topic'] === topic,
    )
    expect(letters.map(({ headers }) => headers['dlq-error-code'])).toEqual(['attempts_exhausted'])
    await broker.stop()
  }, 60_000)

  test('of two that handle a message at once one settles it, and the effects of the other are undone', async () => {
    const { sql } = database
    const broker = await open()
    const topic = `twice.${Date.now()}`
    await sql`create table if not exists effects (text text, who text)`
    await broker.publish([textMessage(topic, topic)])
    const outcomes: string[] = []
    reading(broker, topic, {
      handler: async (batch) => {
        const settle = (who: string) =>
          sql.begin(async (tx) => {
            await tx`insert into effects values (${topic}, ${who})`
            await broker.settleIn(tx, batch)
          })
        const both = await Promise.allSettled([settle('one'), settle('other')])
        outcomes.push(...both.map(({ status }) => status))
      },
    })
    await until(() => outcomes.length > 0)
    expect(outcomes.sort()).toEqual(['fulfilled', 'rejected'])
    const effects = await sql`select from effects where text = ${topic}`
    expect(effects.count).toBe(1)
    await broker.stop()
  })

  test('a process has the time left of its lease, and none of a message that is not its own', async () => {
    const [broker, other] = [await open(), await open()]
    const topic = `left.${Date.now()}`
    const left: number[] = []
    reading(broker, topic, {
      handler: async ([one]) => {
        if (one !== undefined) left.push(broker.leaseLeftMs(one), other.leaseLeftMs(one))
      },
    })
    await broker.publish([textMessage(topic, '1')])
    await until(() => left.length > 0)
    const [own = 0, others = 0] = left
    expect(own).toBeGreaterThan(0)
    expect(own).toBeLessThanOrEqual(leaseMs)
    expect(others).toBeLessThan(0)
    await broker.stop()
    await other.stop()
  })

  test('finds what it does not hear of: behind a pooler nobody is heard', async () => {
    const listen = async () => ({ unlisten: async () => {}, state: {} })
    const sql = new Proxy(database.sql, {
      get: (target, name) => (name === 'listen' ? listen : Reflect.get(target, name)),
    })
    const searchEveryMs = 4_000
    const deaf = createPostgresBroker({
      sql,
      dsn: database.dsn,
      logger: quietLogger,
      times: { searchEveryMs },
    })
    const topic = `deaf.${Date.now()}`
    const seen = reading(deaf, topic)
    const broker = await open()
    await broker.publish([textMessage(topic, 'first')])
    await until(() => seen.length === 1)
    const waitedMs: number[] = []
    for (let count = 2; count <= 5; count++) {
      const beganMs = performance.now()
      await broker.publish([textMessage(topic, String(count))])
      await until(() => seen.length === count)
      waitedMs.push(performance.now() - beganMs)
    }
    // It looks more often by now: else each would wait all of that time, from one look to the next.
    expect(Math.min(...waitedMs)).toBeLessThan(searchEveryMs / 2)
    await deaf.stop()
    await broker.stop()
  })

  test('a value is kept small and delivered as it was published', async () => {
    const broker = await open()
    const topic = `kept.${Date.now()}`
    const noise = crypto.getRandomValues(new Uint8Array(70_000))
    const values = [
      Buffer.from('<a>text</a>'.repeat(400)),
      Buffer.alloc(0),
      noise,
      Bun.zstdCompressSync('compressed by its publisher'),
    ]
    await broker.publish(
      values.map((value) => ({ topic, key: 'k', value, headers: { name: 'own' } })),
    )
    const [row] = await database.sql<{ bytes: number }[]>`
      select octet_length(value) as bytes from broker_queue where topic = ${topic} order by id`
    expect(row?.bytes).toBeLessThan(100)
    const seen: Delivery[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch)
      },
    })
    await until(() => seen.length === values.length)
    for (const [index, value] of values.entries()) {
      expect(Buffer.compare(seen[index]?.value ?? new Uint8Array(), value)).toBe(0)
      expect(seen[index]?.headers).toEqual({ name: 'own' })
    }
    await broker.stop()
  })

  test('a value is taken as it is where a version before this kept it, or somebody damaged it', async () => {
    const broker = await open()
    const topic = `taken.${Date.now()}`
    const seen = reading(broker, topic)
    await broker.publish([textMessage(topic, 'first')])
    await until(() => seen.length === 1)
    const kept = async (value: Uint8Array, headers: string) => {
      await database.sql`
        insert into broker_queue (id, topic, key, value, headers)
        select (lane::bigint << 44) | nextval('broker_queue_order'), topic, 'k', ${value},
          ${headers}::text::jsonb
        from broker_lanes where topic = ${topic} and partition = 0`
    }
    await kept(Buffer.from('of a version before'), '{}')
    await kept(Buffer.from('damaged'), '{"kept-as": "zstd"}')
    await broker.publish([textMessage(topic, 'last')])
    await until(() => seen.length === 4)
    expect(seen.toSorted()).toEqual(['damaged', 'first', 'last', 'of a version before'])
    await broker.stop()
  })

  test('what is published at the same time shares statements, and what cannot be stored fails alone', async () => {
    const broker = await open()
    const topic = `shared.${Date.now()}`
    await broker.publish([textMessage(topic, 'first')])
    const bad = { ...textMessage(topic, 'bad'), headers: { name: '\u0000' } }
    const published = await Promise.allSettled(
      Array.from({ length: 40 }, (_, place) =>
        broker.publish(
          place === 20 ? [bad] : [textMessage(topic, `${place}a`), textMessage(topic, `${place}b`)],
        ),
      ),
    )
    expect(
      published.flatMap(({ status }, place) => (status === 'rejected' ? [place] : [])),
    ).toEqual([20])
    const [row] = await database.sql<{ messages: number; transactions: number }[]>`
      select count(*)::int as messages, count(distinct xmin::text)::int as transactions
      from broker_queue where topic = ${topic}`
    expect(row?.messages).toBe(1 + 39 * 2)
    expect(row?.transactions).toBeLessThan(20)
    const seen = reading(broker, topic)
    await until(() => seen.length === 79)
    // In the order of each.
    for (let place = 0; place < 40; place++) {
      if (place !== 20) expect(seen.indexOf(`${place}b`)).toBeGreaterThan(seen.indexOf(`${place}a`))
    }
    await broker.stop()
  })

  test('what others send over its channel does no harm', async () => {
    const broker = await open()
    const topic = `foreign.${Date.now()}`
    const seen = reading(broker, topic)
    await broker.publish([textMessage(topic, 'before')])
    await until(() => seen.length === 1)
    for (const payload of ['', '["spi.outbound"]', '1 x 99999999999999999999']) {
      await database.sql`select pg_notify('trilho_broker', ${payload})`
    }
    await broker.publish([textMessage(topic, 'after')])
    await until(() => seen.length === 2)
    await broker.stop()
  })

  test('a queue that nobody reads is told of in health, metrics and the log, by every process', async () => {
    const { sql, dsn } = database
    // What earlier tests left waits, too, and on a slow machine for long enough to be told of.
    await sql`delete from broker_queue`
    const lines: { readonly topic: unknown; readonly message: string }[] = []
    const note = ({ topic }: Readonly<Record<string, unknown>>, message: string): void => {
      lines.push({ topic, message })
    }
    const metrics = createMetrics({ version: 'test', withProcess: false })
    const logger = { ...quietLogger, error: note, info: note }
    const sampling = createPostgresBroker({
      sql,
      dsn,
      logger,
      times: { sampleEveryMs: 20 },
    })
    // It consumes nothing and does not measure: another process does.
    const watching = createPostgresBroker({ sql, dsn, logger, metrics })
    const { health } = createBrokerFeature(watching, undefined)
    const topic = topics.webhookEvents
    await watching.publish([textMessage(topic, 'waits')])
    await sql`update broker_queue set published_at = now() - interval '31 seconds' where topic = ${topic}`
    await sampling.start()
    await until(() => lines.length > 0)
    expect(lines).toEqual([{ topic, message: 'messages wait in a queue that no process reads' }])
    expect(await health?.()).toMatchObject({
      status: 'degraded',
      ready: true,
      detail: { unread: [{ topic, depth: 1 }] },
    })
    const { text } = await metrics.render()
    const labels = `{topic="${topic}",group="webhooks"}`
    expect(text).toContain(`spigw_broker_queue_depth${labels} 1`)
    expect(text).toContain(`spigw_broker_queue_partitions_read${labels} 0`)
    expect(text).toMatch(
      /spigw_broker_queue_age_seconds\{topic="webhook.events",group="webhooks"\} [3-9]\d/,
    )

    const seen = reading(watching, topic)
    await until(() => seen.length === 1 && lines.length > 1)
    expect(lines.at(-1)).toEqual({ topic, message: 'the queue is read again' })
    await until(async () => (await health?.())?.status === 'ok')
    await watching.stop()
    await sampling.stop()
  })

  test('depth is counted up to a bound in each lane, age however deep it is', async () => {
    const broker = await open()
    const topic = `deep.${Date.now()}`
    const many = Array.from({ length: laneDepthMax + 5 }, (_, index) => `${index}`)
    await broker.publish(many.slice(0, laneDepthMax).map((text) => textMessage(topic, text)))
    expect((await broker.backlog(topic, 'g')).depth).toBe(laneDepthMax)
    await broker.publish(many.slice(laneDepthMax).map((text) => textMessage(topic, text)))
    await broker.publish([textMessage(topic, 'another lane', 'another')])
    await database.sql`
      update broker_queue set published_at = now() - interval '1 hour'
      where id = (select min(id) from broker_queue where topic = ${topic} and key = 'k')`
    const { depth, ageSeconds } = await broker.backlog(topic, 'g')
    expect(depth).toBe(laneDepthMax + 1)
    expect(ageSeconds).toBeGreaterThanOrEqual(3_600)
    await broker.stop()
  })
})

test('of messages whose readers ended, only the one that is handed out is unpacked', async () => {
  const broker = await open()
  const topic = 'suspects'
  const texts = Array.from({ length: 9 }, (_, at) => `suspect ${at}`)
  await broker.publish(texts.map((text) => textMessage(topic, text)))
  await database.sql`update broker_queue set attempt = 2 where topic = ${topic}`
  const unpacked = spyOn(Bun, 'zstdDecompressSync')
  const unpackedBefore: number[] = []
  const seen: string[] = []
  reading(broker, topic, {
    handler: async ([one]) => {
      unpackedBefore.push(unpacked.mock.calls.length)
      seen.push(Buffer.from(one?.value ?? []).toString())
    },
  })
  await until(() => seen.length === texts.length)
  await broker.stop()
  unpacked.mockRestore()
  expect(seen).toEqual(texts)
  expect(unpackedBefore).toEqual(texts.map((_, at) => at + 1))
})
