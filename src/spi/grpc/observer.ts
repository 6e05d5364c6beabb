import { status as codes } from '@grpc/grpc-js'
import { type Logger, latencyBucketsSeconds, type Metrics } from '#src/platform/telemetry/index.ts'

/** A call that has ended. */
export type ObservedCall = {
  /** `/spigw.v1.TransformationService/Transform`, or `unmatched`. */
  readonly path: string
  readonly startedMs: number
  readonly requestId: string
  readonly keyId: string | undefined
  readonly traceId: string | undefined
}

/** What a caller made up as a method is neither a label nor a name of a span. */
export const unmatched = 'unmatched'

export const methodName = (path: string): string => (path === unmatched ? path : path.slice(1))

/** Counts a call and writes its log line. */
export const createObserver = (
  metrics: Metrics,
  logger: Logger,
): ((call: ObservedCall, code: number) => void) => {
  const requests = metrics.counter('trilho_grpc_requests_total', 'gRPC calls by method and code.', [
    'method',
    'code',
  ])
  const durations = metrics.histogram(
    'trilho_grpc_request_duration_seconds',
    'gRPC calls from their metadata to their status.',
    ['method'],
    latencyBucketsSeconds,
  )
  const seriesOf = (path: string, code: number) => {
    const method = methodName(path)
    const name = codes[code] ?? 'UNKNOWN'
    return {
      more: { code: name },
      count: requests.labels({ method, code: name }),
      duration: durations.labels({ method }),
    }
  }
  /** By path and code: looking labels up for each call would cost more than counting. */
  const known = new Map<string, Map<number, ReturnType<typeof seriesOf>>>()
  const find = (path: string, code: number) => {
    const found = known.get(path)?.get(code)
    if (found !== undefined) return found
    const made = seriesOf(path, code)
    known.set(path, (known.get(path) ?? new Map()).set(code, made))
    return made
  }
  return ({ path, startedMs, requestId, keyId, traceId }, code) => {
    const durationMs = performance.now() - startedMs
    const series = find(path, code)
    series.count.inc()
    series.duration.observe(durationMs / 1000)
    logger.request({
      requestId,
      method: 'GRPC',
      path,
      status: code,
      durationMs,
      keyId,
      traceId,
      more: series.more,
    })
  }
}
