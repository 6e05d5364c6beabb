import { latencyBucketsSeconds, type Metrics } from './metrics.ts'

/*
 * Counts of the hot paths: we keep plain numbers and turn them into prom-client's form when scraped. Its own counters
 * hash their labels at every increment, even through the child of fixed labels, which costs more than everything
 * else that counts a request. Callers keep the series of their labels.
 */

/** One series of a counter; add to `count`. */
export type CountSeries<L extends string> = {
  readonly labels: Readonly<Record<L, string>>
  count: number
}

/** One series of a histogram of seconds; `observeSeconds` adds to it. */
export type TimeSeries<L extends string> = CountSeries<L> & {
  readonly buckets: Float64Array
  sum: number
}

/** Declares a counter. The function returned makes a series: once for each set of labels. */
export const createCountSeries = <L extends string>(
  metrics: Metrics,
  name: string,
  help: string,
): ((labels: Readonly<Record<L, string>>) => CountSeries<L>) => {
  const all: CountSeries<L>[] = []
  register(metrics, { name, help, type: 'counter' }, () =>
    all.map(({ labels, count }) => ({ labels, value: count })),
  )
  return (labels) => {
    const series = { labels, count: 0 }
    all.push(series)
    return series
  }
}

/** Declares a histogram with the buckets of all latencies. The function returned makes a series, as above. */
export const createTimeSeries = <L extends string>(
  metrics: Metrics,
  name: string,
  help: string,
): ((labels: Readonly<Record<L, string>>) => TimeSeries<L>) => {
  const all: TimeSeries<L>[] = []
  register(metrics, { name, help, type: 'histogram' }, () =>
    all.flatMap((series) => histogramValues(name, series)),
  )
  return (labels) => {
    const buckets = new Float64Array(latencyBucketsSeconds.length)
    const series = { labels, buckets, count: 0, sum: 0 }
    all.push(series)
    return series
  }
}

export const observeSeconds = (series: TimeSeries<string>, seconds: number): void => {
  series.count++
  series.sum += seconds
  for (let index = 0; index < latencyBucketsSeconds.length; index++) {
    if (seconds <= (latencyBucketsSeconds[index] ?? 0)) {
      series.buckets[index] = (series.buckets[index] ?? 0) + 1
      return
    }
  }
}

type Declaration = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
}

/** The registry asks a metric for its name and, when scraped, its values; no more is needed here. */
const register = (
  { registry }: Metrics,
  declaration: Declaration,
  values: () => readonly unknown[],
): void => {
  const metric = {
    name: declaration.name,
    get: async () => ({ ...declaration, aggregator: 'sum', values: values() }),
    reset: () => {},
  }
  registry.registerMetric(metric as unknown as Parameters<typeof registry.registerMetric>[0])
}

const histogramValues = (
  name: string,
  { labels, buckets, count, sum }: TimeSeries<string>,
): readonly unknown[] => {
  let cumulated = 0
  const rows = latencyBucketsSeconds.map((bound, index) => {
    cumulated += buckets[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { le: bound, ...labels }, value: cumulated }
  })
  return [
    ...rows,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
