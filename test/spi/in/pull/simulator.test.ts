import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { OutgoingMessage } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { createPull } from '#src/spi/in/pull/index.ts'
import { createCentralBank } from '../../../../src/simulators/central-bank/index.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { interfaceClient } from '../../link/support.ts'
import { ispb, workerOn } from '../worker/support.ts'

const database = await createTestDatabase(10)
const worker = await workerOn(database)
const bank = await createCentralBank({
  longPollMs: 100,
  streamIdleMs: 3_000,
  settlementLimitMs: 60_000,
})
const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
const silent = { ...quietLogger, error: () => {} }

beforeAll(() => worker.feature.start?.())
afterAll(async () => {
  await worker.stop()
  await bank.stop()
  await database.close()
})

const pullThrough = (
  publish: (messages: readonly OutgoingMessage[]) => Promise<void>,
  streams = 2,
  from = client,
) =>
  createPull({
    client: from,
    broker: { publish },
    settings: { streams },
    logger: silent,
    metrics: createMetrics({ version: 'test', withProcess: false }),
    times: {
      drainMs: 20_000,
      retry: { attemptsMax: 1, backoffFirstMs: 5, backoffMaxMs: 20 },
    },
  })

const payIn = (channel: 'primary' | 'secondary'): string =>
  bank.payIn({ to: ispb, amountCents: 1_050n, channel })

const storedIds = async (): Promise<string[]> => {
  const rows = await database.sql<{ id: string }[]>`
    select end_to_end_id as id from spi_messages where type = 'pacs.008' and direction = 'INBOUND'`
  return rows.map(({ id }) => id).sort()
}
const untilStored = async (ids: readonly string[]): Promise<void> => {
  const end = performance.now() + 40_000
  for (;;) {
    const found = new Set(await storedIds())
    if (ids.every((id) => found.has(id))) return
    if (performance.now() > end) throw new Error(`${found.size} of ${ids.length} are stored`)
    await Bun.sleep(20)
  }
}

const seen: string[] = []

test('everything that both channels deliver is stored once, through faults of the interface', async () => {
  bank.setFaults([
    { kind: 'cut', operation: 'read', probability: 0.1, times: 10 },
    { kind: 'error_after_storing', operation: 'read', probability: 0.1, times: 10 },
    { kind: 'unavailable', operation: 'read', times: 3 },
    { kind: 'rate_limited', operation: 'read', times: 2 },
    { kind: 'duplicate', probability: 0.2 },
    { kind: 'reorder', probability: 0.2 },
  ])
  const pull = pullThrough((messages) => worker.broker.publish(messages))
  await pull.start?.()
  for (let round = 0; round < 60; round++) {
    seen.push(payIn('primary'), payIn('secondary'), payIn('primary'))
    if (round % 10 === 0) await Bun.sleep(10)
  }
  await untilStored(seen)
  bank.setFaults([])
  await pull.drain?.()
  expect(await storedIds()).toEqual(seen.toSorted())
  const [row] = await database.sql<{ warnings: number }[]>`
    select count(warnings)::int as warnings from spi_messages`
  expect(row?.warnings).toBe(0)
}, 60_000)

test('killed after it published and before it confirmed: delivered again, stored once', async () => {
  const ids = Array.from({ length: 12 }, () => payIn('primary'))
  const published = Promise.withResolvers<void>()
  const die = async (messages: readonly OutgoingMessage[]): Promise<void> => {
    await worker.broker.publish(messages)
    published.resolve()
    // The process ends here: it neither confirms nor closes.
    await new Promise(() => {})
  }
  const killed = pullThrough(die, 1, interfaceClient({ PRIMARY: bank.url }, {}, ispb))
  await killed.start?.()
  await published.promise
  const delivered: string[] = []
  const next = pullThrough(async (messages) => {
    delivered.push(...messages.map(({ key }) => key ?? ''))
    await worker.broker.publish(messages)
  })
  await next.start?.()
  const end = performance.now() + 40_000
  while (!ids.every((id) => delivered.includes(id))) {
    if (performance.now() > end) throw new Error('the batch was not delivered again')
    await Bun.sleep(10)
  }
  await untilStored([...seen, ...ids])
  seen.push(...ids)
  await next.drain?.()
  expect(await storedIds()).toEqual(seen.toSorted())
}, 60_000)

test('a drain confirms what was published, and nothing is delivered again', async () => {
  const ids = Array.from({ length: 30 }, () => payIn('secondary'))
  const pull = pullThrough((messages) => worker.broker.publish(messages))
  await pull.start?.()
  await untilStored(ids)
  await pull.drain?.()
  expect(bank.statistics().mailboxes.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(0)
  expect(bank.statistics().mailboxes.every(({ streams }) => streams === 0)).toBe(true)
  const again: string[] = []
  const second = pullThrough(async (messages) => {
    again.push(...messages.map(({ key }) => key ?? ''))
  })
  await second.start?.()
  const marker = payIn('secondary')
  const end = performance.now() + 40_000
  while (!again.includes(marker)) {
    if (performance.now() > end) throw new Error('nothing came')
    await Bun.sleep(10)
  }
  await second.drain?.()
  expect(again).toEqual([marker])
}, 60_000)
