import { expect, test } from 'bun:test'
import {
  type Broker,
  type Delivery,
  tracedBroker,
  traceHeader,
} from '#src/platform/broker/index.ts'
import { currentTraceId, inSpan } from '#src/platform/observe/index.ts'
import { startTracing } from '#src/platform/observe/tracing/start.ts'
import { startCollector } from '../../support/collector.ts'
import { createTopicsOutside } from '../../support/topics-outside.ts'

const value = new Uint8Array([1])
const topic = 'spi.outbound'

/** Publishes with `publish`, and gives the deliveries, the traces active while they were handled, and the spans. */
const through = async (count: number, publish: (broker: Broker) => Promise<unknown>) => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'x',
    serviceVersion: '1',
    samplingRatio: 1,
  })
  const broker = tracedBroker(createTopicsOutside())
  await broker.start()
  await publish(broker)
  const deliveries: Delivery[] = []
  const active: (string | undefined)[] = []
  const all = Promise.withResolvers<void>()
  broker.consume({
    topic,
    group: 'g',
    batchSizeMax: 10,
    handler: async (batch) => {
      deliveries.push(...batch)
      active.push(currentTraceId())
      if (deliveries.length >= count) all.resolve()
    },
  })
  await all.promise
  await broker.stop()
  await tracing.stop()
  collector.stop()
  return { deliveries, active, spans: collector.spans }
}

test('a trace goes from the publisher to the handler', async () => {
  let traceId: string | undefined
  const { deliveries, active, spans } = await through(1, (broker) =>
    inSpan('request', {}, () => {
      traceId = currentTraceId()
      return broker.publish([{ topic, key: 'k', value, headers: { other: 'kept' } }])
    }),
  )
  expect(deliveries[0]?.headers).toMatchObject({ other: 'kept' })
  expect(deliveries[0]?.headers[traceHeader]).toContain(traceId ?? 'none')
  expect(active).toEqual([traceId])
  const publish = spans.find(({ name }) => name === `publish ${topic}`)
  const process = spans.find(({ name }) => name === `process ${topic}`)
  expect(process).toMatchObject({ traceId, parentSpanId: publish?.spanId, kind: 5 })
})

test('a batch of several traces is linked to each, and a trace that is there is kept', async () => {
  const ids = ['a', 'b'].map((digit) => digit.repeat(32))
  const { deliveries, spans } = await through(2, (broker) =>
    broker.publish(
      ids.map((id) => ({
        topic,
        key: 'k',
        value,
        headers: { [traceHeader]: `00-${id}-00f067aa0ba902b7-01` },
      })),
    ),
  )
  expect(deliveries.map(({ headers }) => headers[traceHeader]?.slice(3, 35))).toEqual(ids)
  const [process] = spans.filter(({ kind }) => kind === 5)
  expect(process?.linkedTraceIds).toEqual(ids)
  expect(ids).not.toContain(process?.traceId)
})
