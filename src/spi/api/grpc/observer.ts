import { status as codes } from '@grpc/grpc-js'
import {
  type CountSeries,
  createCountSeries,
  createTimeSeries,
  type Logger,
  type Metrics,
  observeSeconds,
  type TimeSeries,
} from '#src/platform/observe/index.ts'

/** A call that has ended. */
export type ObservedCall = {
  /** `/spigw.v1.TransformationService/Transform`, or `unmatched`. */
  readonly path: string
  readonly startedMs: number
  readonly requestId: string
  readonly keyId: string | undefined
  readonly traceId: string | undefined
}

/** A method name that a caller made up must not become a label or the name of a span. */
export const unmatched = 'unmatched'

export const methodName = (path: string): string => (path === unmatched ? path : path.slice(1))

type Method = {
  readonly times: TimeSeries<'method'>
  readonly byCode: Map<string, CountSeries<'method' | 'code'>>
}

/** Counts a call and writes its log line. */
export const createObserver = (
  metrics: Metrics,
  logger: Logger,
): ((call: ObservedCall, code: number) => void) => {
  const counts = createCountSeries<'method' | 'code'>(
    metrics,
    'trilho_grpc_requests_total',
    'gRPC calls by method and code.',
  )
  const times = createTimeSeries<'method'>(
    metrics,
    'trilho_grpc_request_duration_seconds',
    'gRPC calls from their metadata to their status.',
  )
  const methods = new Map<string, Method>()
  const methodFor = (path: string): Method => {
    const made: Method = { times: times({ method: methodName(path) }), byCode: new Map() }
    methods.set(path, made)
    return made
  }
  const countFor = ({ times: { labels }, byCode }: Method, code: string) => {
    const made = counts({ ...labels, code })
    byCode.set(code, made)
    return made
  }
  return ({ path, startedMs, requestId, keyId, traceId }, code) => {
    const durationMs = performance.now() - startedMs
    const name = codes[code] ?? 'UNKNOWN'
    const method = methods.get(path) ?? methodFor(path)
    const series = method.byCode.get(name) ?? countFor(method, name)
    series.count++
    observeSeconds(method.times, durationMs / 1000)
    logger.request({
      requestId,
      method: 'GRPC',
      path,
      status: code,
      durationMs,
      keyId,
      traceId,
      more: { code: name },
    })
  }
}
