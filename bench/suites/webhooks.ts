import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { quietLogger, type TestDatabase } from '../../test/support/database.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import {
  emit,
  openTestDatabase,
  startReceiver,
  startWebhooks,
} from '../../test/webhooks/support.ts'
import { type Figure, type Mode, type Suite, smoke } from '../harness.ts'
import { percentile } from '../processes.ts'

const deliveriesPerSecond = 1500
const eventsPerSecond = 200
const p99MsMax = 100
const eventsPerTransaction = 500
const settleMs = 1500

type Receiver = ReturnType<typeof startReceiver>

const received = async (target: Receiver, count: number): Promise<void> => {
  while (target.received.length < count) await Bun.sleep(2)
}

/** Milliseconds from the first commit to the last receipt. */
const burst = async (database: TestDatabase, target: Receiver, count: number): Promise<number> => {
  const before = target.received.length
  const startedMs = performance.now()
  for (let from = 0; from < count; from += eventsPerTransaction) {
    const events = Array.from({ length: Math.min(eventsPerTransaction, count - from) }, (_, i) => ({
      type: 'pacs.008',
      subject: `burst_${from + i}`,
      data: { id: `burst_${from + i}` },
    }))
    await database.sql.begin((tx) => emitEvents(tx, events))
  }
  await received(target, before + count)
  return performance.now() - startedMs
}

/** The 99th percentile of the time from commit to receipt, at an even rate. */
const latency = async (
  database: TestDatabase,
  target: Receiver,
  count: number,
): Promise<number> => {
  const before = target.received.length
  const committed = new Map<string, number>()
  const emitting: Promise<void>[] = []
  const startMs = performance.now()
  for (let i = 0; i < count; i++) {
    const dueMs = startMs + (i * 1000) / eventsPerSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    const subject = `even_${i}`
    emitting.push(
      emit(database, { subject, data: { id: subject } }).then(() => {
        committed.set(subject, performance.now())
      }),
    )
  }
  await Promise.all(emitting)
  await received(target, before + count)
  const waits = target.received.slice(before).map(({ body, atMs }) => {
    const { data } = JSON.parse(body) as { readonly data: { readonly id: string } }
    return atMs - (committed.get(data.id) ?? Number.NaN)
  })
  return percentile(waits, 0.99)
}

/** A durable PostgreSQL, its broker, and a receiver in this process: two cores do all the work. */
const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = temporaryDirectory()
  const server = await startEmbeddedPostgres({ directory })
  process.env['TEST_DATABASE_URL'] = server.url
  const database = await openTestDatabase()
  const { sql, dsn } = database
  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
  await broker.start()
  const hooks = await startWebhooks(database, { broker })
  const target = startReceiver()
  try {
    await hooks.subscribe(target.url)
    const count = mode === smoke ? 500 : 15_000
    await burst(database, target, 500)
    await Bun.sleep(settleMs)
    const burstMs = await burst(database, target, count)
    await Bun.sleep(settleMs)
    const p99Ms = await latency(database, target, mode === smoke ? 100 : 2000)
    return [
      {
        name: `${count} deliveries, first commit to last receipt`,
        value: burstMs,
        unit: 'ms',
        atMost: (count * 1000) / deliveriesPerSecond,
      },
      {
        name: `commit to receipt at ${eventsPerSecond}/s, p99`,
        value: p99Ms,
        unit: 'ms',
        atMost: p99MsMax,
      },
    ]
  } finally {
    await hooks.stop()
    await broker.stop()
    await target.stop()
    await database.close()
    await server.stop()
    delete process.env['TEST_DATABASE_URL']
  }
}

export const webhooksSuite: Suite = { name: 'webhooks', groups: () => [], figures }
