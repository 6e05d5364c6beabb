import { expect, test } from 'bun:test'
import { Metadata, status } from '@grpc/grpc-js'
import { startTracing } from '#src/platform/observe/tracing/start.ts'
import { startCollector } from '../../../support/collector.ts'
import { pacs008 } from '../../../support/messages.ts'
import { encodeRequest, failure, rawClient, service, startRig, withKey } from './support.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

test('every call is a span of its caller’s trace, told in the log, without data or invented names', async () => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'x',
    serviceVersion: '1',
    samplingRatio: 1,
  })
  const rig = await startRig()
  const client = rawClient(rig.target)
  const request = encodeRequest({ message: Buffer.from(pacs008()) })
  const call = (method: string, metadata: Metadata) =>
    client.unary(`${service}/${method}`, request, metadata)
  await call('Transform', withKey(rig.key, { traceparent }))
  await failure(call('Transform', withKey(rig.weakKey, { traceparent })))
  await failure(call('Invented', withKey(rig.key, { traceparent })))
  await failure(call('Transform', new Metadata()))
  client.close()
  await rig.stop()
  await tracing.stop()
  collector.stop()
  const name = 'spigw.v1.TransformationService/Transform'
  const [, service1 = '', method1 = ''] = `/${name}`.split('/')
  const rpc = { 'rpc.system.name': 'grpc', 'rpc.service': service1, 'rpc.method': method1 }
  const [ok, denied, unknown, nobody] = collector.spans
  const ofCaller = { traceId, parentSpanId: '00f067aa0ba902b7', kind: 2 }
  expect(ok).toMatchObject({ ...ofCaller, name, attributes: rpc, isFailed: false })
  expect(denied).toMatchObject({ ...ofCaller, name, isFailed: true })
  expect(denied?.attributes['error.type']).toBe(status[status.PERMISSION_DENIED])
  expect(unknown).toMatchObject({ ...ofCaller, name: 'unmatched', isFailed: true })
  expect(unknown?.attributes['rpc.method']).toBe('_OTHER')
  expect(nobody).toMatchObject({ parentSpanId: '', isFailed: true })
  expect(collector.spans).toHaveLength(4)
  expect(rig.lines.filter((line) => line.includes(`"trace_id":"${traceId}"`))).toHaveLength(3)
  expect(collector.text()).not.toContain('Invented')
  expect(JSON.stringify(collector.spans)).not.toMatch(/12345678909|Concei/)
})
