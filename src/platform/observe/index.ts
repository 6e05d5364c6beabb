export { LineWriter } from './line-writer.ts'
export {
  createLogger,
  type Logger,
  type LogLevel,
  logFormats,
  logLevels,
  timestamp,
} from './logger.ts'
export { type MetricValues, mergeMetrics, type WorkerMetrics } from './merge.ts'
export {
  type Counter,
  createMetrics,
  type Gauge,
  latencyBucketsSeconds,
  type Metrics,
} from './metrics.ts'
export { createOutageLog, type OutageLog, remindEveryMs } from './outage.ts'
export { type Pace, rateOf, tellEveryMs } from './pace.ts'
export { printable, printableLines } from './printable.ts'
export {
  type CountSeries,
  createCountSeries,
  createTimeSeries,
  observeSeconds,
  type TimeSeries,
} from './series.ts'
export { createTracing } from './tracing/feature.ts'
export { inRequestSpan, serverOf } from './tracing/http-client.ts'
export {
  type ActiveSpan,
  activeContext,
  currentTraceId,
  currentTraceparent,
  inSpan,
  isTracing,
  type OpenSpan,
  openSpan,
  type SpanOptions,
  type Traceparent,
} from './tracing/tracing.ts'
