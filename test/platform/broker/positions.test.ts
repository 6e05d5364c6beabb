/** Where the readers of a lane begin, what they may pass over, and that no search costs them their leases. */
import { afterAll, describe, expect, test } from 'bun:test'
import {
  type ConsumeOptions,
  createPostgresBroker,
  type TransactionalBroker,
} from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { BrokerTimes } from '../../../src/platform/broker/postgresql/index.ts'
import { createLanes, lowOf } from '../../../src/platform/broker/postgresql/lanes.ts'
import { createLeases, type Leases } from '../../../src/platform/broker/postgresql/leases.ts'
import { newLane, spanMax } from '../../../src/platform/broker/postgresql/owned-lane.ts'
import { createSearch } from '../../../src/platform/broker/postgresql/search.ts'
import { createSweep } from '../../../src/platform/broker/postgresql/sweep.ts'
import { createTestDatabase, quietLogger as logger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql, dsn } = database
const leaseMs = 900

const open = (times: Partial<BrokerTimes> = {}): TransactionalBroker =>
  createPostgresBroker({ sql, dsn, logger, times: { leaseMs, ...times } })

const read = (broker: TransactionalBroker, topic: string, over: Partial<ConsumeOptions> = {}) => {
  const seen: string[] = []
  broker.consume({
    topic,
    group: 'g',
    batchSizeMax: 2,
    handler: async (batch) => {
      seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
    },
    ...over,
  })
  return seen
}

const textMessage = (topic: string, text: string) => ({ topic, key: 'k', value: Buffer.from(text) })

const named = async (topic: string): Promise<readonly number[]> =>
  (await createLanes().of([topic], sql)).get(topic) ?? []

/** As one that commits now and was drawn long ago: nobody tells of it. */
const commitLate = (lane: number, order: bigint, topic: string): Promise<unknown> => sql`
  insert into broker_queue (id, topic, key, headers, value)
  values (${lowOf(lane) + order}, ${topic}, 'k', '{}', ${Buffer.from(`late ${order}`)})`

const session = {
  ask: <T>(work: (own: Client) => Promise<T>) => work(sql),
  close: async () => {},
}

describe('the lanes of a process', () => {
  const lanes = createLanes()
  const join = async (topic: string, by = session): Promise<Leases> => {
    const leases = createLeases({ session: by, leaseMs, onClaimed: () => {} })
    leases.join(topic)
    await leases.turn(lanes).catch(() => {})
    return leases
  }

  test('begin where their readers before had come to, but for what these had in hand or were to read again', async () => {
    const topic = 'handed-over'
    await sql`select setval('broker_queue_order', 10000)`
    const before = await join(topic)
    const lows = [9_000n, 8_000n, 7_000n, 6_000n, 5_000n, 4_000n, 9_000n, 9_000n]
    for (const [place, one] of before.of(topic).entries()) {
      const at = (order: bigint) => lowOf(one.lane) + order
      one.cursor = at(9_000n)
      one.floors.splice(0, 1, at(place === 1 ? 8_000n : 9_000n))
      if (place === 2) one.inHand = [at(7_001n), at(9_000n)]
      if (place === 3) one.back = at(6_000n)
      if (place === 4) one.far = at(5_000n)
      if (place === 5) one.floors.push(at(4_000n))
    }
    await before.turn(lanes)
    const told = await sql<{ low: string }[]>`
      select low::text from broker_lanes where topic = ${topic} order by lane`
    expect(told.map(({ low }) => BigInt(low))).toEqual(lows)
    // What was noticed after the last renewal, too.
    const noticed = before.of(topic)[6]
    if (noticed !== undefined) noticed.far = lowOf(noticed.lane) + 3_000n
    await before.leave(topic)
    const after = await join(topic)
    const begun = after.of(topic).map(({ lane, cursor }) => cursor - lowOf(lane))
    expect(begun).toEqual(lows.with(6, 3_000n))
    await after.leave(topic)
  })

  test('begin at their start where the sequence was left behind', async () => {
    const topic = 'left-behind'
    const all = await named(topic)
    await sql`update broker_lanes set low = 1000000 where topic = ${topic}`
    const leases = await join(topic)
    expect(leases.of(topic).map(({ cursor }) => cursor)).toEqual(all.map(lowOf))
    await leases.leave(topic)
  })

  test('are claimed again where the answer to a claim was lost', async () => {
    const topic = 'answer-lost'
    await named(topic)
    let isCut = true
    const cut = new Proxy(sql, {
      apply: (target, self, args: [readonly string[]]) => {
        const answer: Promise<unknown> = Reflect.apply(target, self, args)
        const isClaim = args[0].some((text) => text.includes('skip locked'))
        if (!isCut || !isClaim) return answer
        isCut = false
        return answer.then(() => Promise.reject(new Error('the connection is cut')))
      },
    })
    const leases = await join(topic, { ...session, ask: (work) => work(cut) })
    expect(leases.of(topic)).toEqual([])
    await until(async () => {
      await leases.turn(lanes)
      return leases.of(topic).length === 8
    })
    await leases.leave(topic)
  })

  test('stay its own while a search takes longer than a lease', async () => {
    const topic = 'slow-search'
    await named(topic)
    const broker = open({ searchEveryMs: 50, deafSearchEveryMs: 50 })
    const seen = read(broker, topic)
    await broker.publish([textMessage(topic, 'before')])
    await until(() => seen.length === 1)
    const owners = async () => {
      const rows = await sql<{ owner: string }[]>`
        select lane, owner from broker_lanes where topic = ${topic} and until > now() order by lane`
      return [...rows]
    }
    await until(async () => (await owners()).length === 8)
    const before = await owners()
    await sql.begin(async (tx) => {
      await tx`lock table broker_queue in access exclusive mode`
      await Bun.sleep(3 * leaseMs)
      expect(await owners()).toEqual(before)
    })
    await broker.publish([textMessage(topic, 'after')])
    await until(() => seen.length === 2)
    expect(await owners()).toEqual(before)
    await broker.stop()
  })
})

test('a search that fails moves no floor, and one that is answered only to where it began', async () => {
  const topic = 'failed-search'
  const [lane = 0] = await named(topic)
  const owned = newLane({ lane, topic, partition: 0, low: 10n, before: null }, 'me', 0)
  const begun = owned.cursor
  owned.cursor += 5n
  const failing = createSearch({ ...session, ask: () => Promise.reject(new Error('away')) })
  await expect(failing.look([owned])).rejects.toThrow('away')
  expect(owned.floors).toEqual([begun])
  const asked = createSearch(session).look([owned])
  owned.cursor += 5n
  expect(await asked).toEqual([])
  expect(owned.floors).toEqual([begun, begun + 5n])
})

test('a sweep that finds no time goes on where it stopped', async () => {
  const topic = 'no-time'
  const [lane = 0] = await named(topic)
  await commitLate(lane, 5n, topic)
  const owned = newLane({ lane, topic, partition: 0, low: 10n, before: null }, 'me', 0)
  const sweep = createSweep(sql)
  await sql.begin(async (tx) => {
    await tx`lock table broker_queue in access exclusive mode`
    expect(await sweep.look([owned])).toEqual([])
  })
  expect(await sweep.look([owned])).toEqual([lowOf(lane) + 5n])
})

test('what commits very late is found, in pieces, however far below; what is above goes on', async () => {
  const topic = 'very-late'
  const [lane = 0] = await named(topic)
  const low = 40n * spanMax
  await sql`select setval('broker_queue_order', ${low + 1n})`
  await sql`update broker_lanes set low = ${low} where topic = ${topic}`
  const broker = open({ sweepEveryMs: 100 })
  const seen = read(broker, topic)
  await broker.publish([textMessage(topic, 'first')])
  await until(() => seen.length === 1)
  const orders = [5n, 6n, 7n, 8n, 9n, spanMax + 100n, 5n * spanMax, low - 1n]
  await sql.begin(async (tx) => {
    for (const order of orders) {
      await tx`
        insert into broker_queue (id, topic, key, headers, value)
        values (${lowOf(lane) + order}, ${topic}, 'k', '{}', ${Buffer.from(`late ${order}`)})`
    }
  })
  await broker.publish([textMessage(topic, 'second')])
  await until(() => seen.length === orders.length + 2)
  const late = seen.filter((text) => text.startsWith('late'))
  // These lie near each other in their order.
  const near = orders.slice(0, 5).map((order) => `late ${order}`)
  expect(late.filter((text) => near.includes(text))).toEqual(near)
  expect(late.toSorted()).toEqual(orders.map((order) => `late ${order}`).toSorted())
  expect(seen.filter((text) => !text.startsWith('late'))).toEqual(['first', 'second'])
  await commitLate(lane, 77n, topic)
  await until(() => seen.at(-1) === 'late 77')
  await broker.publish([textMessage(topic, 'third')])
  await until(() => seen.at(-1) === 'third')
  await broker.stop()
})

const tooSlow = new Proxy(sql, {
  get: (target, name) =>
    name === 'begin'
      ? () => Promise.reject(Object.assign(new Error('canceled'), { code: '57014' }))
      : Reflect.get(target, name),
})
describe.each([
  ['found in time', sql],
  ['not found in time', tooSlow],
])('what lies above an empty span and is %s', (name, own) => {
  test('is read when it was told of with what lies below', async () => {
    const topic = `far-apart, ${name}`
    const [lane = 0] = await named(topic)
    const low = 40n * spanMax
    await sql`select setval('broker_queue_order', ${low + 1n})`
    await sql`update broker_lanes set low = ${low} where topic = ${topic}`
    // Nobody sweeps.
    const times = { leaseMs, sweepEveryMs: 3_600_000 }
    const broker = createPostgresBroker({ sql: own, dsn, logger, times })
    const seen = read(broker, topic)
    await broker.publish([textMessage(topic, 'first')])
    await until(() => seen.length === 1)
    const orders = [5n, 10n * spanMax, 30n * spanMax, low - 1n]
    for (const order of orders) await commitLate(lane, order, topic)
    const ids = orders.map((order) => lowOf(lane) + order).join(' ')
    await sql`select pg_notify('trilho_broker', ${ids})`
    await until(() => seen.length === 5)
    expect(seen.toSorted()).toEqual(['first', ...orders.map((order) => `late ${order}`)].toSorted())
    await broker.stop()
  })
})

test.each([
  ['far below', 5n],
  ['a little below', 20n * spanMax - 1n],
])('a late row that its reader ended with, %s, is counted by the next', async (name, order) => {
  const topic = `ended-with, ${name}`
  const [lane = 0] = await named(topic)
  const low = 20n * spanMax
  await sql`select setval('broker_queue_order', ${low + 1n})`
  await sql`update broker_lanes set low = ${low} where topic = ${topic}`
  // No lease is renewed meanwhile.
  const times = { leaseMs: 60_000, sweepEveryMs: 3_600_000 }
  const [before, after] = [open(times), open(times)]
  const ended = Promise.withResolvers<void>()
  let isInHand = false
  const hang = async () => {
    isInHand = true
    await ended.promise
  }
  read(before, topic, { handler: hang })
  const isRead = async () => {
    const [row] = await sql`select from broker_lanes where lane = ${lane} and owner is not null`
    return row !== undefined
  }
  await until(isRead)
  await commitLate(lane, order, topic)
  await sql`select pg_notify('trilho_broker', ${String(lowOf(lane) + order)})`
  await until(() => isInHand)
  await sql`update broker_lanes set until = now() - interval '1 second' where lane = ${lane}`
  const attempts: number[] = []
  read(after, topic, {
    handler: async (batch) => {
      attempts.push(...batch.map(({ attempt }) => attempt))
    },
  })
  await until(() => attempts.length > 0)
  expect(attempts).toEqual([2])
  ended.resolve()
  await Promise.all([before.stop(), after.stop()])
})
