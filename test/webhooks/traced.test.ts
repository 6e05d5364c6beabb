import { expect, test } from 'bun:test'
import { inSpan } from '#src/platform/observe/index.ts'
import { collected } from '../support/collector.ts'
import { emit, openTestDatabase, startReceiver, startWebhooks, until } from './support.ts'

test('every attempt is a client span of the trace that caused the event', async () => {
  const database = await openTestDatabase()
  const receivers = [startReceiver(), startReceiver(() => new Response('no', { status: 503 }))]
  const collector = await collected(async () => {
    const hooks = await startWebhooks(database)
    for (const { url } of receivers) await hooks.subscribe(`${url}/secret-of-the-receiver`)
    await inSpan('cause', {}, () => emit(database, { data: { id: 'msg_personal' } }))
    await until(() => receivers.every(({ received }) => received.length === 1))
    await hooks.stop()
  })
  const traceId = collector.spans.find(({ name }) => name === 'cause')?.traceId
  const attempts = collector.spans.filter(({ name }) => name === 'webhook attempt')
  const told = attempts
    .map(({ attributes, isFailed, kind, traceId: of }) => ({
      isFailed,
      kind,
      isOfCause: of === traceId,
      port: attributes['server.port'],
      status: attributes['http.response.status_code'],
      method: attributes['http.request.method'],
      type: attributes['trilho.webhook.event_type'],
    }))
    .sort((a, b) => Number(a.status) - Number(b.status))
  const [good, bad] = receivers.map(({ url }) => Number(new URL(url).port))
  const common = { kind: 3, isOfCause: true, method: 'POST', type: 'pacs.008' }
  expect(told).toEqual([
    { ...common, port: good ?? 0, status: 200, isFailed: false },
    { ...common, port: bad ?? 0, status: 503, isFailed: true },
  ])
  expect(collector.text()).not.toMatch(/secret-of-the-receiver|msg_personal/)
  for (const { stop } of receivers) await stop()
  await database.close()
})
