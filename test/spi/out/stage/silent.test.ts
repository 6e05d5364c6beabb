import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import { type Loop, runningJobs } from '#src/platform/jobs/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { answer, interfaceClient, type RawRequest, rawServer } from '../../link/support.ts'
import { ispb, rigOn, runningOn } from './support.ts'

const database = await createTestDatabase(10)
const brokers: TransactionalBroker[] = []
const rig = await rigOn(database, (broker) => {
  brokers.push(broker)
  return broker
})
const running = runningOn(rig)

afterAll(async () => {
  await rig.broker.stop()
  await database.close()
})
beforeEach(async () => {
  await database.sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history cascade`
})

/** Requests of ten that go out one after another: all of them take twice as long as we look. */
const count = 60
const client = { timeoutSeconds: 0.5, attemptsMax: 3 }
const lookMs = 6_000
/** Longer than one request, and shorter than two. */
const attemptsMin = 2 * client.attemptsMax
const settings = {
  requestsMax: 1,
  channelFailover: true,
  settlementLimitSeconds: 60,
  scheduledLimitSeconds: 2_760,
  syncTimeoutSeconds: 5,
}

/** An interface that takes requests and never answers. */
const silentInterface = () => {
  const askedMs: number[] = []
  const { url, stop } = rawServer(() => {
    askedMs.push(performance.now())
    return 'silent'
  })
  return { url, stop, askedSince: (ms: number) => askedMs.filter((each) => each > ms).length }
}

/** The longest time of a loop without progress, and the most attempts at a request in such a time. */
const longest = async (
  wanted: string,
  loops: () => readonly Loop[],
  askedSince: (ms: number) => number,
) => {
  const worst = { ms: 0, attempts: 0 }
  for (const endMs = performance.now() + lookMs; performance.now() < endMs; await Bun.sleep(20)) {
    const sinceMs = loops()
      .find(({ name }) => name === wanted)
      ?.stuckSinceMs()
    if (sinceMs === undefined) continue
    worst.ms = Math.max(worst.ms, performance.now() - sinceMs)
    worst.attempts = Math.max(worst.attempts, askedSince(sinceMs))
  }
  return worst
}

test('a queue that waits for an interface that never answers is not stalled', async () => {
  await rig.pay(count)
  const silent = silentInterface()
  await running(
    async () => {
      const worst = await longest(
        'consumer of spi.outbound (spi-outbound)',
        () => brokers.flatMap((broker) => broker.loops()),
        silent.askedSince,
      )
      silent.stop()
      expect(worst.ms).toBeGreaterThan(client.timeoutSeconds * 500)
      expect(worst.attempts).toBeWithin(1, attemptsMin)
    },
    interfaceClient({ PRIMARY: silent.url }, client, ispb),
    { settings },
  )
}, 60_000)

test('the watch that asks an interface that never answers is not stalled', async () => {
  const taking = rawServer(({ body }: RawRequest) => {
    const text = Buffer.from(Bun.gunzipSync(new Uint8Array(body))).toString()
    const ids = Array.from({ length: text.split('<AppHdr>').length - 1 }, Bun.randomUUIDv7)
    return answer(201, { 'PI-ResourceId': ids.join(',') })
  })
  await rig.pay(count)
  await running(() => rig.until('SENT', count), interfaceClient({ PRIMARY: taking.url }, {}, ispb))
  taking.stop()
  const silent = silentInterface()
  await running(
    async () => {
      await rig.until('UNKNOWN', count)
      const worst = await longest('watch of unanswered messages', runningJobs, silent.askedSince)
      silent.stop()
      expect(worst.ms).toBeGreaterThan(client.timeoutSeconds * 500)
      expect(worst.attempts).toBeWithin(1, attemptsMin)
    },
    interfaceClient({ PRIMARY: silent.url }, client, ispb),
    {
      settings: { ...settings, settlementLimitSeconds: 0 },
      watchTimes: { everyMs: 100, reaskFirstMs: 60_000, reaskMaxMs: 60_000 },
    },
  )
}, 60_000)
