import { expect, test } from 'bun:test'
import {
  createCountSeries,
  createMetrics,
  createTimeSeries,
  latencyBucketsSeconds,
  type Metrics,
  observeSeconds,
} from '#src/platform/observe/index.ts'

const newMetrics = (): Metrics => createMetrics({ version: '1', withProcess: false })

/** What is told of the metric, its help and type included. */
const linesOf = async (metrics: Metrics, name: string): Promise<readonly string[]> =>
  (await metrics.render()).text.split('\n').filter((line) => line.includes(name))

test('a counter of plain numbers reads as one of the library does, scrape after scrape', async () => {
  const plain = newMetrics()
  const library = newMetrics()
  const seriesFor = createCountSeries<'method' | 'code'>(plain, 'calls_total', 'Calls.')
  const counter = library.counter('calls_total', 'Calls.', ['method', 'code'])
  expect(await linesOf(plain, 'calls_total')).toEqual(await linesOf(library, 'calls_total'))
  const series = [
    seriesFor({ method: 'A', code: 'OK' }),
    seriesFor({ method: 'A', code: 'say "no"\n' }),
  ]
  for (const [index, { labels }] of series.entries()) counter.inc(labels, index + 1)
  for (const [index, one] of series.entries()) one.count += index + 1
  expect(await linesOf(plain, 'calls_total')).toEqual(await linesOf(library, 'calls_total'))
  expect(await linesOf(plain, 'calls_total')).toEqual(await linesOf(library, 'calls_total'))
})

test('a histogram of plain numbers reads as one of the library does, at each bound and around it', async () => {
  const plain = newMetrics()
  const library = newMetrics()
  const series = createTimeSeries<'method'>(plain, 'call_seconds', 'Time.')({ method: 'A' })
  const histogram = library.histogram('call_seconds', 'Time.', ['method'], latencyBucketsSeconds)
  for (const bound of latencyBucketsSeconds) {
    for (const seconds of [bound * 0.999, bound, bound * 1.001]) {
      observeSeconds(series, seconds)
      histogram.observe({ method: 'A' }, seconds)
    }
  }
  const told = await linesOf(plain, 'call_seconds')
  expect(told).toEqual(await linesOf(library, 'call_seconds'))
  expect(told).toContain(`call_seconds_count{method="A"} ${latencyBucketsSeconds.length * 3}`)
})

test('a name is declared once', () => {
  const metrics = newMetrics()
  createCountSeries(metrics, 'calls_total', 'Calls.')
  expect(() => createCountSeries(metrics, 'calls_total', 'Calls.')).toThrow('calls_total')
})
