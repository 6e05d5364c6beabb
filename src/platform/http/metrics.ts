import { latencyBucketsSeconds, type Metrics } from '../telemetry/index.ts'

type Series = {
  readonly labels: { readonly method: string; readonly path: string; readonly status: string }
  readonly buckets: Float64Array
  count: number
  sum: number
}

export type HttpMetrics = {
  /** `path` is the route's pattern: the number of series stays bounded. */
  observe(method: string, path: string, status: number, seconds: number): void
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * The specification's two HTTP metrics. They are kept as plain counts and turned into prom-client's
 * form when scraped: hashing labels for each request would cost more than the rest of the chain.
 */
export const createHttpMetrics = (metrics: Metrics): HttpMetrics => {
  const all: Series[] = []
  const byPath = new Map<string, Map<string, Map<number, Series>>>()

  const seriesFor = (method: string, path: string, status: number): Series => {
    const series: Series = {
      labels: { method, path, status: String(status) },
      buckets: new Float64Array(latencyBucketsSeconds.length),
      count: 0,
      sum: 0,
    }
    const byMethod = byPath.get(path) ?? new Map<string, Map<number, Series>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Series>()
    byPath.set(path, byMethod.set(method, byStatus.set(status, series)))
    all.push(series)
    return series
  }

  registerSeries(metrics, 'http_requests_total', 'HTTP requests', 'counter', () =>
    all.map(({ labels, count }) => ({ labels, value: count })),
  )
  registerSeries(metrics, 'http_request_duration_seconds', 'HTTP latency', 'histogram', () =>
    all.flatMap(histogramValues),
  )
  return {
    observe: (method, path, status, seconds) => {
      const name = knownMethods.has(method) ? method : 'OTHER'
      const series = byPath.get(path)?.get(name)?.get(status) ?? seriesFor(name, path, status)
      series.count++
      series.sum += seconds
      for (let index = 0; index < latencyBucketsSeconds.length; index++) {
        if (seconds <= (latencyBucketsSeconds[index] ?? 0)) {
          series.buckets[index] = (series.buckets[index] ?? 0) + 1
          break
        }
      }
    },
  }
}

/** The registry asks a metric for its name and, when scraped, its values; no more is needed here. */
const registerSeries = (
  metrics: Metrics,
  name: string,
  help: string,
  type: 'counter' | 'histogram',
  values: () => readonly unknown[],
): void => {
  const metric = {
    name,
    get: async () => ({ name, help, type, aggregator: 'sum', values: values() }),
    reset: () => {},
  }
  metrics.registry.registerMetric(
    metric as unknown as Parameters<typeof metrics.registry.registerMetric>[0],
  )
}

const histogramValues = ({ labels, buckets, count, sum }: Series) => {
  const name = 'http_request_duration_seconds'
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
