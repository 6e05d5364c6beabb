import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { useTracer } from './tracing.ts'

export type TracingOptions = {
  /** Of the collector, `http://` or `https://`; spans go out as OTLP over gRPC. */
  readonly endpoint: string
  readonly serviceName: string
  readonly serviceVersion: string
  /** Share of the traces that begin here which are kept, 0 to 1; a caller's decision is followed. */
  readonly samplingRatio: number
}

export type Tracing = {
  /** Sends what is left, for a bounded time; never rejects. */
  stop(): Promise<void>
}

/** What waits for the collector at most; more is dropped, so an absent collector costs memory up to here. */
const queuedSpansMax = 20_000
const batchSpansMax = 2_000
const exportEveryMs = 1_000
const exportTimeoutMs = 5_000
const attributesMax = 32
const attributeCharactersMax = 512

/** From now on spans are made and exported. One per process: the active span follows asynchronous calls. */
export const startTracing = (options: TracingOptions): Tracing => {
  const exporter = new OTLPTraceExporter({
    url: options.endpoint,
    timeoutMillis: exportTimeoutMs,
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.serviceVersion,
    }),
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(options.samplingRatio),
    }),
    spanLimits: {
      attributeCountLimit: attributesMax,
      attributeValueLengthLimit: attributeCharactersMax,
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: queuedSpansMax,
        maxExportBatchSize: batchSpansMax,
        scheduledDelayMillis: exportEveryMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  })
  const contexts = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(contexts)
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  useTracer(provider.getTracer('trilho', options.serviceVersion))
  return {
    stop: async () => {
      useTracer(undefined)
      // A collector that is away loses its spans: that must not delay or fail the end of the process.
      await provider.shutdown().catch(() => {})
      contexts.disable()
      context.disable()
      propagation.disable()
      trace.disable()
    },
  }
}
