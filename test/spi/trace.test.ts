import { afterAll, expect, test } from 'bun:test'
import { openDeadLetters, tracedBroker } from '#src/platform/broker/index.ts'
import { commandActor } from '#src/platform/http/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { startTracing } from '#src/platform/observe/tracing/start.ts'
import { createPull } from '#src/spi/in/pull/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { testApp, testKey } from '../support/app.ts'
import { startCollector } from '../support/collector.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { workerOn } from './in/worker/support.ts'
import { answer, interfaceClient, rawServer } from './link/support.ts'
import { accepting, ispb, rigOn } from './out/stage/support.ts'

const database = await createTestDatabase(10, true)
const bank = await createCentralBank({ longPollMs: 50 })
afterAll(async () => {
  await bank.stop()
  await database.close()
})

const tracing = async () => {
  const collector = await startCollector()
  const running = startTracing({
    endpoint: collector.url,
    serviceName: 'x',
    serviceVersion: '1',
    samplingRatio: 1,
  })
  return {
    collector,
    stop: async () => {
      await running.stop()
      collector.stop()
    },
  }
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'

test('one trace from the request through outbox, queue and signing to the central bank, and another back', async () => {
  const { collector, stop } = await tracing()
  const rig = await rigOn(database, tracedBroker)
  // The simulated bank, as the real one, refuses any header that it does not know.
  const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
  const worker = await workerOn(database, { wrap: tracedBroker })
  const pull = createPull({
    client,
    broker: worker.broker,
    settings: { streams: 1 },
    logger: quietLogger,
    metrics: createMetrics({ version: 'test', withProcess: false }),
  })
  const stages = [rig.outbound(client), worker.feature, pull]
  for (const stage of stages) await stage.start?.()
  await rig.pay(1, {}, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })
  await rig.until('ACCEPTED', 1)
  for (const stage of stages) await stage.drain?.()
  for (const stage of stages) await stage.stop?.()
  await rig.broker.stop()
  await stop()

  const { spans } = collector
  const own = spans.filter((span) => span.traceId === traceId)
  const known = new Set(['00f067aa0ba902b7', ...own.map(({ spanId }) => spanId)])
  expect(own.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([])
  const names = (id: string) =>
    spans.filter((span) => span.traceId === id).map(({ name, kind }) => `${kind} ${name}`)
  expect(names(traceId)).toEqual(
    expect.arrayContaining([
      '2 POST /v1/spi/send',
      '3 postgresql begin',
      '4 publish spi.outbound',
      '5 process spi.outbound',
      '5 send pacs.008',
      '3 spi send',
      '3 POST',
    ]),
  )
  const request = spans.find(({ name }) => name === 'POST')
  const sending = spans.find(({ name }) => name === 'spi send')
  expect(request).toMatchObject({
    parentSpanId: sending?.spanId ?? '',
    attributes: {
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(bank.url).port),
      'http.response.status_code': 201,
    },
  })
  // The polling of the mailbox is part of nothing.
  expect(spans.some(({ name }) => name === 'GET')).toBe(false)
  const back = spans.find(({ name }) => name === 'receive pacs.002')
  expect(names(back?.traceId ?? '')).toEqual(
    expect.arrayContaining([
      '5 spi received',
      '4 publish spi.inbound.primary',
      '5 process spi.inbound.primary',
      '5 receive pacs.002',
      '3 postgresql begin',
    ]),
  )
  expect(back?.traceId).not.toBe(traceId)
  const [stored] = await database.sql<{ trace: string | null }[]>`
    select substr(traceparent, 4, 32) as trace from spi_messages where direction = 'INBOUND'`
  expect(stored).toEqual({ trace: back?.traceId ?? null })
  for (const personal of ['Maria', '12345678909', '98765432100']) {
    expect(collector.text()).not.toContain(personal)
  }
})

test('payments that share a request are each followed to it', async () => {
  const count = 12
  const { collector, stop } = await tracing()
  const rig = await rigOn(database, tracedBroker)
  const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
  const traceIds = Array.from({ length: count }, (_, index) => traceId.slice(0, -2) + (index + 10))
  await Promise.all(
    traceIds.map((id) => rig.pay(1, {}, { traceparent: `00-${id}-00f067aa0ba902b7-01` })),
  )
  const stage = rig.outbound(client)
  await stage.start?.()
  await rig.until('SENT', count)
  await stage.drain?.()
  await stage.stop?.()
  await rig.broker.stop()
  await stop()

  const { spans } = collector
  for (const id of traceIds) {
    const own = spans.filter((span) => span.traceId === id)
    const calls = own.filter(({ name }) => name === 'spi transmit')
    expect(calls).toMatchObject([{ kind: 3, attributes: { 'trilho.spi.outcome': 'accepted' } }])
    const sending = own.find(({ spanId }) => spanId === calls[0]?.parentSpanId)
    expect(sending?.name).toBe('send pacs.008')
  }
  const requests = spans.filter(({ name }) => name === 'spi send')
  expect(requests.length).toBeLessThan(count)
  for (const { linkedTraceIds, attributes } of requests) {
    expect(linkedTraceIds).toHaveLength(Number(attributes['messaging.batch.message_count']) - 1)
  }
  const reached = requests.flatMap((request) => [request.traceId, ...request.linkedTraceIds])
  expect(reached.sort()).toEqual([...traceIds].sort())
})

test('the fast path is one trace, and what it leaves to the queue goes on with it', async () => {
  const { collector, stop } = await tracing()
  const rig = await rigOn(database, tracedBroker)
  const limits = { timeoutSeconds: 1, attemptsMax: 1 }
  const urls = { PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }
  const stage = rig.outbound(interfaceClient(urls, limits, ispb))
  await stage.start?.()
  const { key, record } = testKey('spi:send')
  const { sql } = database
  const { broker } = rig
  const routes = createSend({
    ispb,
    sql,
    broker,
    revision: '5.11.1',
    sendNow: stage.sendNow,
    logger: quietLogger,
  }).routes
  const { call } = testApp(routes ?? [], { keys: [record] })
  const params = { local_instrument: 'MANU', transactions: [transfer(ispb, accepting, 100)] }
  const pay = async (traceparent: string) => {
    const body = { message_type: 'PACS008', params }
    const answer = await call('POST', '/v1/spi/send', { key, body, headers: { traceparent } })
    return ((await answer.json()) as { status: string }).status
  }
  const fast = traceId.slice(0, -2).concat('f1')
  const slow = traceId.slice(0, -2).concat('f2')
  const before = (await rig.statuses())['SENT'] ?? 0
  expect(await pay(`00-${fast}-00f067aa0ba902b7-01`)).toBe('sent')
  bank.setFaults([{ kind: 'error_after_storing', operation: 'send', times: 1 }])
  expect(await pay(`00-${slow}-00f067aa0ba902b7-01`)).toBe('queued')
  await rig.until('SENT', before + 2)
  await stage.drain?.()
  await stage.stop?.()
  await rig.broker.stop()
  await stop()

  const names = (id: string) =>
    collector.spans.filter((span) => span.traceId === id).map(({ name }) => name)
  expect(names(fast)).toEqual(
    expect.arrayContaining(['POST /v1/spi/send', 'spi transmit', 'spi send', 'POST']),
  )
  expect(names(fast)).not.toContain('publish spi.outbound')
  expect(names(slow)).toEqual(
    expect.arrayContaining(['POST /v1/spi/send', 'publish spi.outbound', 'send pacs.008']),
  )
  expect(names(slow).filter((name) => name === 'spi transmit')).toHaveLength(2)
})

test('what is sent later belongs to it too: put on the queue again, taken out of dlq, asked for again', async () => {
  const { collector, stop } = await tracing()
  const rig = await rigOn(database, tracedBroker)
  const { sql } = database
  const server = rawServer(() =>
    server.requests.length === 1
      ? answer(400, {}, '<problem><type>https://x/error/charset</type></problem>')
      : answer(201, { 'PI-ResourceId': Bun.randomUUIDv7() }),
  )
  const id = traceId.slice(0, -2).concat('f3')
  // What is left without an answer would be asked for again.
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history`
  await rig.pay(1, {}, { traceparent: `00-${id}-00f067aa0ba902b7-01` })
  await sql`delete from broker_queue where topic = 'spi.outbound'`
  const stage = rig.outbound(interfaceClient({ PRIMARY: server.url }, {}, ispb), {
    settings: {
      requestsMax: 4,
      channelFailover: true,
      settlementLimitSeconds: 0,
      scheduledLimitSeconds: 2_760,
      syncTimeoutSeconds: 5,
    },
    requeueEveryMs: 20,
    watchTimes: { everyMs: 20, reaskFirstMs: 50, reaskMaxMs: 100 },
  })
  await stage.start?.()
  await rig.until('FAILED', 1)
  const letters = openDeadLetters(sql)
  const [letter] = await letters.list(1)
  expect(await letters.retry(letter?.id ?? 0n, commandActor())).toBe(true)
  while (server.requests.length < 3) await Bun.sleep(10)
  await stage.drain?.()
  await stage.stop?.()
  await rig.broker.stop()
  server.stop()
  await stop()

  const own = collector.spans.filter((span) => span.traceId === id)
  const known = new Set(['00f067aa0ba902b7', ...own.map(({ spanId }) => spanId)])
  expect(own.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([])
  const count = (name: string) => own.filter((span) => span.name === name).length
  expect(count('send pacs.008')).toBe(2)
  expect(count('send again pacs.008')).toBeGreaterThanOrEqual(1)
  expect(count('spi transmit')).toBe(server.requests.length)
})
