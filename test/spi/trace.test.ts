import { afterAll, expect, test } from 'bun:test'
import { tracedBroker } from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/telemetry/index.ts'
import { startTracing } from '#src/platform/tracing/start.ts'
import { createPull } from '#src/spi/pull/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { startCollector } from '../support/collector.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'
import { interfaceClient } from './interface/support.ts'
import { ispb, rigOn } from './outbound/support.ts'
import { workerOn } from './worker/support.ts'

const database = await createTestDatabase(10, true)
const bank = await createCentralBank({ longPollMs: 50 })
afterAll(async () => {
  await bank.stop()
  await database.close()
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'

test('one trace from the request through outbox, queue and signing to the central bank, and another back', async () => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'x',
    serviceVersion: '1',
    samplingRatio: 1,
  })
  const rig = await rigOn(database, tracedBroker)
  // The simulated bank, as the real one, refuses any header that it does not know.
  const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
  const worker = await workerOn(database, {}, quietLogger, tracedBroker)
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
  await tracing.stop()
  collector.stop()

  const { spans } = collector
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
  for (const personal of ['Maria', '12345678909', '98765432100']) {
    expect(collector.text()).not.toContain(personal)
  }
})
