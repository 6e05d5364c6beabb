export { createTracing } from './feature.ts'
export { inRequestSpan, serverOf } from './http-client.ts'
export {
  type ActiveSpan,
  activeContext,
  currentTraceId,
  currentTraceparent,
  inSpan,
  isTracing,
  type OpenSpan,
  openSpan,
  type SpanAttributes,
  type SpanOptions,
  type Traceparent,
} from './tracing.ts'
