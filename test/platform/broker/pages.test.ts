/** What the broker's statements read, on every engine at hand, with plans made while nothing waited. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPostgresBroker, type TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { backlogOf, createSampler } from '../../../src/platform/broker/postgresql/backlog.ts'
import { checkOrder } from '../../../src/platform/broker/postgresql/check.ts'
import { createLanes, highOf, lowOf } from '../../../src/platform/broker/postgresql/lanes.ts'
import { createLeases } from '../../../src/platform/broker/postgresql/leases.ts'
import {
  countAttempts,
  deleteRows,
  fetchRows,
  findFirst,
  findRemaining,
  setAttempt,
} from '../../../src/platform/broker/postgresql/queue.ts'
import { createSearch } from '../../../src/platform/broker/postgresql/search.ts'
import type { Session } from '../../../src/platform/broker/postgresql/session.ts'
import { laneDepthMax } from '../../../src/platform/broker/types.ts'
import { quietLogger as logger } from '../../support/database.ts'
import { costsOf, engines, type RunningEngine, startEngine } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

const isLong = process.env['TRILHO_LONG'] === '1'
const waiting = isLong ? 1_000_000 : 20_000
const topic = 'spi.outbound'
const lanesOfAll = 40
const fetchedOfLane = 32
const settledAtOnce = 256
const restMs = 3_000
/** A leaf of the index has more entries. */
const entriesOfLeaf = 100

const sessionOn = (sql: Client): Session => ({
  ask: (work) => work(sql),
  close: async () => {},
})

/** Pages a call, by a word of the statement that only it has; the first that fits. */
const budgets: readonly (readonly [word: string, pages: number])[] = [
  ['insert into broker_backlogs', lanesOfAll * (laneDepthMax + 10)],
  // A descent for each row, and the row itself; some more before version 17.
  ['delete from broker_queue', 8 * settledAtOnce],
  ['update broker_queue', 12 * settledAtOnce],
  ['select id from broker_queue where id = any', 5 * settledAtOnce],
  // Eight lanes; some dead rows at the start of each, which nobody vacuums here.
  ['select row.* from', 400],
  ['select row.id from', 6 * lanesOfAll],
  ['insert into broker_members', 200],
  ['update broker_lanes', 300],
  ['count(*) as depth', 3 * 8 * (laneDepthMax + 10)],
  // Every other statement of the broker.
  ['broker_', 5 * lanesOfAll],
]

describe.each([...engines])('the broker on $name', (engine) => {
  let running: RunningEngine
  let database: ReturnType<RunningEngine['open']>
  let sql: Client
  let broker: TransactionalBroker

  beforeAll(async () => {
    running = await startEngine(engine)
    // One connection: its plans are kept.
    database = running.open(1)
    sql = database.sql
    broker = createPostgresBroker({ sql, dsn: running.dsn, logger })
  }, 60_000)

  afterAll(async () => {
    await broker.stop()
    await database.close()
    await running[Symbol.asyncDispose]()
  })

  /** Everything that is asked of the tables, as often as a plan takes to be kept. */
  const work = async (): Promise<void> => {
    const lanes = createLanes()
    const known = await lanes.of([topic], sql)
    const session = sessionOn(sql)
    const leases = createLeases({ session, leaseMs: 6_000, onClaimed: () => {} })
    leases.join(topic)
    const all = [...known.values()].flat()
    for (let time = 0; time < 8; time++) {
      await leases.turn(lanes)
      const owned = leases.of(topic)
      expect(owned.length).toBe(8)
      const rows = await fetchRows(
        sql,
        owned.map(({ lane, cursor }) => ({ low: cursor, high: highOf(lane) })),
        fetchedOfLane,
      )
      await findFirst(
        sql,
        all.map((lane) => ({ low: lowOf(lane), high: highOf(lane) })),
      )
      await leases.lower(owned)
      const ids = rows.slice(0, settledAtOnce).map(({ id }) => id)
      await findRemaining(sql, ids)
      await countAttempts(sql, ids)
      await setAttempt(sql, ids[0] ?? 1n, 3)
      expect(await deleteRows(sql, ids)).toBe(ids.length)
      await backlogOf(sql, topic)
      await checkOrder(sql)
      await broker.queues?.()
      await broker.publish(
        Array.from({ length: 20 }, (_, key) => ({ topic, key: `${key}`, value: Buffer.from('1') })),
      )
    }
    await leases.leave(topic)
    const sampler = createSampler({ sql, logger }, 5)
    void sampler.start()
    await until(async () => (await broker.queues?.())?.length !== 0)
    await sampler.stop()
  }

  /** Whoever claims the lanes reads, searches and measures. */
  const takeOver = async (): Promise<void> => {
    const lanes = createLanes()
    const session = sessionOn(sql)
    const search = createSearch(session)
    for (let time = 0; time < 8; time++) {
      const leases = createLeases({ session, leaseMs: 6_000, onClaimed: () => {} })
      leases.join(topic)
      await leases.turn(lanes)
      const owned = leases.of(topic)
      expect(owned.length).toBe(8)
      const ranges = owned.map(({ lane, cursor }) => ({ low: cursor, high: highOf(lane) }))
      expect(await fetchRows(sql, ranges, fetchedOfLane)).toEqual([])
      expect(await search.look(owned)).toEqual([])
      await backlogOf(sql, topic)
      await checkOrder(sql)
      await leases.turn(lanes)
      await leases.leave(topic)
    }
    const sampler = createSampler({ sql, logger }, 5)
    void sampler.start()
    await until(async () => (await broker.queues?.())?.length !== 0)
    await sampler.stop()
  }

  /** @param more pages that each may read besides */
  const tooDear = async (more = 0, asking = work): Promise<readonly string[]> => {
    const costs = await costsOf(sql, asking)
    const asked = costs.filter(({ text }) => text.includes('broker_'))
    expect(asked.length).toBeGreaterThan(asking === work ? 12 : 8)
    return asked.flatMap(({ text, pagesPerCall }) => {
      const budget = (budgets.find(([word]) => text.includes(word))?.[1] ?? 0) + more
      return pagesPerCall > budget ? [`${pagesPerCall} of ${budget} pages: ${text}`] : []
    })
  }

  test('reads a page or so for each message, whatever waits and when its plans were made', async () => {
    await sql`delete from broker_queue where id > 0`
    await sql`vacuum broker_queue`
    expect(await tooDear()).toEqual([])
    await sql`
      insert into broker_queue (id, topic, key, headers, value)
      select (lane::bigint << 44) | nextval('broker_queue_order'), topic, 'k', '{}',
        convert_to(repeat('x', 500), 'UTF8')
      from broker_lanes cross join generate_series(1, ${Math.ceil(waiting / lanesOfAll)}) place`
    expect(await tooDear()).toEqual([])
    await sql`analyze broker_queue`
    expect(await tooDear()).toEqual([])
    await sql`delete from broker_queue where id > 0`
    // Before anybody vacuums, the first to pass the dead rows looks at each, and those after it at the leaves alone: once
    // the server knows that no transaction sees them any more, which it finds out now and then.
    await until(async () => (await tooDear(waiting / entriesOfLeaf)).length === 0)
    await sql`vacuum broker_queue`
    expect(await tooDear()).toEqual([])
  }, 120_000)

  test('passes over what was settled while another transaction could still see it', async () => {
    const elsewhere = running.open(1)
    await elsewhere.sql.begin('isolation level repeatable read', async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`
      await tx`select from broker_lanes`
      await sql`
        insert into broker_queue (id, topic, key, headers, value)
        select (lane::bigint << 44) | nextval('broker_queue_order'), topic, 'k', '{}', '\\x00'
        from broker_lanes cross join generate_series(1, ${Math.ceil(waiting / lanesOfAll)}) place`
      await sql`delete from broker_queue where id > 0`
      // As their readers write it some seconds later.
      await sql`update broker_lanes set low = (select last_value from broker_queue_order)`
      expect(await tooDear(0, takeOver)).toEqual([])
    })
    await elsewhere.close()
  }, 60_000)

  test('asks next to nothing while nothing happens', async () => {
    await sql`delete from broker_queue where id > 0`
    const topics = ['spi.inbound.primary', 'spi.inbound.secondary', topic, 'webhook.events']
    const resting = createPostgresBroker({ sql, dsn: running.dsn, logger })
    await resting.start()
    let handled = 0
    for (const one of topics) {
      resting.consume({
        topic: one,
        group: 'g',
        batchSizeMax: 10,
        handler: async (batch) => {
          handled += batch.length
        },
      })
    }
    await resting.publish(topics.map((one) => ({ topic: one, value: Buffer.from('1') })))
    await until(() => handled >= topics.length)
    await until(async () => (await resting.backlog(topic, 'g')).depth === 0)
    const startedMs = performance.now()
    const costs = await costsOf(sql, () => Bun.sleep(restMs))
    const seconds = (performance.now() - startedMs) / 1_000
    await resting.stop()
    const calls = costs
      .filter(({ text }) => text.includes('broker_') || text.includes('job_leases'))
      .reduce((sum, { calls }) => sum + calls, 0)
    expect(calls).toBeGreaterThan(0)
    // Two statements in a second, and one that happens to fall into the time.
    expect(calls).toBeLessThanOrEqual(2 * seconds + 1)
  }, 60_000)
})
