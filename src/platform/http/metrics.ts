import {
  type CountSeries,
  createCountSeries,
  createTimeSeries,
  type Metrics,
  observeSeconds,
  type TimeSeries,
} from '../observe/index.ts'

type Label = 'method' | 'path' | 'status'

type Series = { readonly requests: CountSeries<Label>; readonly durations: TimeSeries<Label> }

export type HttpMetrics = {
  /** `path` is the route's pattern: the number of series stays bounded. */
  observe(method: string, path: string, status: number, seconds: number): void
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The specification's two HTTP metrics. */
export const createHttpMetrics = (metrics: Metrics): HttpMetrics => {
  const requests = createCountSeries<Label>(metrics, 'http_requests_total', 'HTTP requests')
  const durations = createTimeSeries<Label>(
    metrics,
    'http_request_duration_seconds',
    'HTTP latency',
  )
  const byPath = new Map<string, Map<string, Map<number, Series>>>()

  const seriesFor = (method: string, path: string, code: number): Series => {
    const labels = { method, path, status: String(code) }
    const series = { requests: requests(labels), durations: durations(labels) }
    const byMethod = byPath.get(path) ?? new Map<string, Map<number, Series>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Series>()
    byPath.set(path, byMethod.set(method, byStatus.set(code, series)))
    return series
  }

  return {
    observe: (method, path, status, seconds) => {
      const name = knownMethods.has(method) ? method : 'OTHER'
      const series = byPath.get(path)?.get(name)?.get(status) ?? seriesFor(name, path, status)
      series.requests.count++
      observeSeconds(series.durations, seconds)
    },
  }
}
