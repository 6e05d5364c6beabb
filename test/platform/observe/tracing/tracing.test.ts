import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Route } from '#src/platform/http/index.ts'
import {
  currentTraceId,
  currentTraceparent,
  inSpan,
  isTracing,
  openSpan,
} from '#src/platform/observe/index.ts'
import { queuedSpansMax, startTracing, type Tracing } from '#src/platform/observe/tracing/start.ts'
import { testApp } from '../../../support/app.ts'
import { type CollectedSpan, type Collector, startCollector } from '../../../support/collector.ts'
import { createTestDatabase } from '../../../support/database.ts'

const parentTrace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentSpan = '00f067aa0ba902b7'
const parent = `00-${parentTrace}-${parentSpan}-01`

/** What was exported while `work` ran. */
const spansOf = async (
  work: () => unknown,
  samplingRatio = 1,
  onProblem?: (reason: string, spans: number) => void,
): Promise<readonly CollectedSpan[]> => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'trilho-test',
    serviceVersion: '1.2.3',
    samplingRatio,
    ...(onProblem === undefined ? {} : { onProblem }),
  })
  try {
    await work()
  } finally {
    await tracing.stop()
    collector.stop()
  }
  return collector.spans
}

describe('without a collector', () => {
  test('work runs, nothing is active, and a failure is passed on', () => {
    expect(isTracing()).toBe(false)
    expect(inSpan('x', {}, () => currentTraceparent())).toBeUndefined()
    expect(currentTraceId()).toBeUndefined()
    expect(() =>
      inSpan('x', { parent }, () => {
        throw new Error('as it was')
      }),
    ).toThrow('as it was')
    openSpan('x', {}).end()
  })
})

describe('with a collector', () => {
  test('spans nest, follow a parent, carry attributes and links', async () => {
    const spans = await spansOf(() =>
      inSpan('outer', { kind: 'consumer', parent, links: [parent, 'nonsense'] }, async (span) => {
        span.set({ 'messaging.batch.message_count': 3 })
        await Bun.sleep(1)
        expect(currentTraceId()).toBe(parentTrace)
        expect(currentTraceparent()).toStartWith(`00-${parentTrace}-`)
        await inSpan('inner', { kind: 'client', attributes: { 'server.port': 1 } }, async () => {})
      }),
    )
    const outer = spans.find(({ name }) => name === 'outer')
    const inner = spans.find(({ name }) => name === 'inner')
    expect(outer).toMatchObject({
      traceId: parentTrace,
      parentSpanId: parentSpan,
      kind: 5,
      attributes: { 'messaging.batch.message_count': 3 },
      linkedTraceIds: [parentTrace],
      isFailed: false,
    })
    expect(inner).toMatchObject({
      traceId: parentTrace,
      parentSpanId: outer?.spanId ?? '',
      kind: 3,
      attributes: { 'server.port': 1 },
    })
  })

  test('a failure shows its kind, never its text', async () => {
    const failing = (error: unknown) => () =>
      inSpan('failing', {}, () => Promise.reject(error)).catch(() => {})
    const coded = Object.assign(new Error('4111111111111111'), { code: 'ECONNRESET' })
    const [first] = await spansOf(failing(coded))
    expect(first).toMatchObject({ isFailed: true, attributes: { 'error.type': 'ECONNRESET' } })
    const [second] = await spansOf(failing(new TypeError('4111111111111111')))
    expect(second).toMatchObject({ isFailed: true, attributes: { 'error.type': 'TypeError' } })
    // This part of the text is so long that no identifier holds it by chance.
    expect(JSON.stringify([first, second])).not.toContain('411111111')
  })

  test('an unreadable traceparent begins a trace of its own', async () => {
    for (const wrong of ['', 'x', parent.slice(1), `00-${'0'.repeat(32)}-${parentSpan}-01`]) {
      const [span] = await spansOf(() => inSpan('x', { parent: wrong }, () => {}))
      expect(span).toMatchObject({ parentSpanId: '' })
      expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  test('a ratio of 0 keeps no trace that begins here, and all that a caller samples', async () => {
    const spans = await spansOf(() => {
      inSpan('ours', {}, () => {})
      inSpan('theirs', { parent }, () => {})
    }, 0)
    expect(spans.map(({ name }) => name)).toEqual(['theirs'])
  })

  test('a collector that is away neither fails nor delays', async () => {
    const tracing = startTracing({
      endpoint: 'http://127.0.0.1:1',
      serviceName: 'x',
      serviceVersion: '1',
      samplingRatio: 1,
    })
    inSpan('lost', {}, () => {})
    await tracing.stop()
    expect(isTracing()).toBe(false)
  })
})

describe('requests and statements', () => {
  let collector: Collector
  let tracing: Tracing

  beforeAll(async () => {
    collector = await startCollector()
    tracing = startTracing({
      endpoint: collector.url,
      serviceName: 'trilho-test',
      serviceVersion: '1',
      samplingRatio: 1,
    })
  })

  afterAll(() => collector.stop())

  test('one trace from the caller through the request to its statements, without their values', async () => {
    const database = await createTestDatabase(5, true)
    const { sql } = database
    const document = {
      operation: 'x',
      summary: 'x',
      responses: { 200: { description: 'x' } },
    } as const
    const secret = '4111111111111111'
    const route: Route = {
      method: 'GET',
      path: '/v1/things/{id}',
      scope: 'public',
      document,
      handle: async (c) => {
        const part = sql`and ${secret}::text is not null`
        await sql`select ${secret}::text ${part}`.catch(() => {})
        await sql.begin(async (transaction) => {
          await transaction`select 1 where ${secret}::text <> ''`
        })
        await sql.unsafe('select 2')
        return c.json({ trace: currentTraceId() })
      },
    }
    const { app, lines } = testApp([route])
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        app.fetch(
          new Request(`http://x/v1/things/${index}`, {
            headers: { traceparent: `00-${index.toString(16).padStart(32, 'a')}-${parentSpan}-01` },
          }),
        ),
      ),
    )
    for (const [index, response] of responses.entries()) {
      expect(await response.json()).toEqual({ trace: index.toString(16).padStart(32, 'a') })
    }
    await database.close()
    await tracing.stop()
    for (let index = 0; index < 20; index++) {
      const traceId = index.toString(16).padStart(32, 'a')
      const spans = collector.spans.filter((span) => span.traceId === traceId)
      const root = spans.find(({ kind }) => kind === 2)
      expect(root).toMatchObject({
        name: 'GET /v1/things/{id}',
        parentSpanId: parentSpan,
        attributes: { 'http.route': '/v1/things/{id}', 'http.response.status_code': 200 },
      })
      const names = spans.filter(({ kind }) => kind === 3).map(({ name }) => name)
      expect(names.sort()).toEqual([
        'postgresql SELECT',
        'postgresql SELECT',
        'postgresql SELECT',
        'postgresql begin',
      ])
      const failed = spans.filter(({ isFailed }) => isFailed)
      expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['42804'])
      const begin = spans.find(({ name }) => name === 'postgresql begin')
      expect(spans.filter(({ parentSpanId }) => parentSpanId === begin?.spanId)).toHaveLength(1)
    }
    expect(collector.text()).not.toContain(secret)
    expect(lines.join('')).toContain(`"trace_id":"${'0'.padStart(32, 'a')}"`)
  })
})

test('what is exported names its origin, and nothing replaces the name of the service', async () => {
  const collector = await startCollector()
  const tracing = startTracing({
    endpoint: collector.url,
    serviceName: 'trilho-test',
    serviceVersion: '1',
    resourceAttributes: { 'deployment.environment.name': 'azul', 'service.name': 'another' },
    samplingRatio: 1,
  })
  await inSpan('one', { kind: 'internal' }, async () => {})
  await tracing.stop()
  collector.stop()
  expect(collector.resources).toEqual([
    {
      'service.name': 'trilho-test',
      'service.version': '1',
      'deployment.environment.name': 'azul',
    },
  ])
})

describe('limits', () => {
  test('values of every kind; 32 attributes, 512 characters, and no more', async () => {
    const [span] = await spansOf(() =>
      inSpan(
        'x',
        { attributes: { text: 'é'.repeat(600), yes: true, no: false, pi: 3.5, low: -7 } },
        (one) => {
          one.set({ absent: undefined })
          one.set(
            Object.fromEntries(Array.from({ length: 28 }, (_, index) => [`a${index}`, index])),
          )
        },
      ),
    )
    expect(span?.attributes).toMatchObject({ text: 'é'.repeat(512), yes: true, no: false, low: -7 })
    expect(Object.keys(span?.attributes ?? {})).toHaveLength(32)
    expect(span?.attributes).not.toHaveProperty('absent')
    expect(span?.attributes).not.toHaveProperty('a27')
  })

  test('more spans than wait at most are dropped, and told of; what was taken arrives', async () => {
    const made = queuedSpansMax + 5_000
    let lost = 0
    const spans = await spansOf(
      () => {
        for (let index = 0; index < made; index++) inSpan(`s${index}`, {}, () => {})
      },
      1,
      (_, count) => {
        lost += count
      },
    )
    // One batch is on its way while the queue fills up behind it.
    expect(spans.length).toBeGreaterThanOrEqual(queuedSpansMax)
    expect(spans.length).toBeLessThanOrEqual(queuedSpansMax + 2_000)
    expect(lost).toBe(made - spans.length)
    expect(spans[0]?.name).toBe('s0')
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  })

  test('spans of many bytes go out in messages that every collector takes', async () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 32 }, (_, index) => [`attribute ${index}`, '\u0000'.repeat(512)]),
    )
    // A collector of the usual limit, 4 MiB, refuses more.
    const spans = await spansOf(() => {
      for (let index = 0; index < 500; index++) inSpan('large', { attributes }, () => {})
    })
    expect(spans).toHaveLength(500)
  })

  test('who sends is told when spans are lost', async () => {
    const lost: (readonly [reason: string, spans: number])[] = []
    const tracing = startTracing({
      endpoint: 'http://127.0.0.1:1',
      serviceName: 'x',
      serviceVersion: '1',
      samplingRatio: 1,
      onProblem: (...told) => lost.push(told),
    })
    inSpan('x', {}, () => {})
    await tracing.stop()
    expect(lost).toEqual([['ECONNREFUSED', 1]])
  })

  test('a collector that takes connections and no more holds the stop up for a bounded time', async () => {
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
    let lost = 0
    const tracing = startTracing({
      endpoint: `http://127.0.0.1:${silent.port}`,
      serviceName: 'x',
      serviceVersion: '1',
      samplingRatio: 1,
      stopTimeoutMs: 200,
      onProblem: (_, spans) => {
        lost += spans
      },
    })
    for (let index = 0; index < 7_000; index++) inSpan('x', {}, () => {})
    const before = performance.now()
    await tracing.stop()
    expect(performance.now() - before).toBeLessThan(4_500)
    expect(lost).toBe(7_000)
    silent.stop(true)
  })
})
