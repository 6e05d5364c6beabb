import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { SpanBatch } from './otlp.ts'
import { useSink } from './tracing.ts'

export type TracingOptions = {
  /** Of the collector, `http://` or `https://`; spans go out as OTLP over gRPC. */
  readonly endpoint: string
  readonly serviceName: string
  readonly serviceVersion: string
  /** Share of the traces that begin here which are kept, 0 to 1; a caller's decision is followed. */
  readonly samplingRatio: number
  /** Told of each export that fails, with the number of spans lost. */
  readonly onProblem?: (error: Error, spans: number) => void
}

export type Tracing = {
  /** Sends what is left, for a bounded time; never rejects. */
  stop(): Promise<void>
}

const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const batchSpansMax = 1_000
const queuedBatchesMax = 20
/** What waits for the collector at most; more is dropped, so an absent collector costs memory up to here. */
export const queuedSpansMax = batchSpansMax * queuedBatchesMax
const exportEveryMs = 1_000
const exportTimeoutMs = 5_000

/** From now on spans are made and exported. One per process: the active span follows asynchronous calls. */
export const startTracing = (options: TracingOptions): Tracing => {
  const exporter = createExporter(options)
  const full: SpanBatch[] = []
  let open: SpanBatch | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }
  /** One batch at a time: a slow collector fills the queue, not the memory. */
  const sendAll = async (): Promise<void> => {
    for (;;) {
      const batch = full.shift() ?? open
      if (batch === undefined) return
      if (batch === open) open = undefined
      await exporter.send(batch)
    }
  }
  useSink({
    samplingRatio: options.samplingRatio,
    add: (span) => {
      if (open === undefined) {
        if (full.length >= queuedBatchesMax) return
        open = new SpanBatch(options)
      }
      open.add(span)
      if (open.count >= batchSpansMax) {
        full.push(open)
        open = undefined
        if (sending === undefined) void flush()
      } else if (timer === undefined && sending === undefined) {
        timer = setTimeout(flush, exportEveryMs)
        timer.unref()
      }
    },
  })
  return {
    stop: async () => {
      useSink(undefined)
      // What was being sent may have left more behind.
      await sending
      await flush()
      exporter.close()
    },
  }
}

const createExporter = (options: TracingOptions) => {
  const { endpoint, onProblem = () => {} } = options
  const { protocol, host } = new URL(endpoint)
  const client = new Client(
    host,
    protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure(),
  )
  const same = (bytes: Buffer): Buffer => bytes
  return {
    /** A collector that is away loses these spans: that must not delay or fail anything else. */
    send: (batch: SpanBatch): Promise<void> => {
      const done = Promise.withResolvers<void>()
      const deadline = Date.now() + exportTimeoutMs
      client.makeUnaryRequest(
        path,
        same,
        same,
        batch.finish(),
        new Metadata(),
        { deadline },
        (error) => {
          if (error !== null) onProblem(error, batch.count)
          done.resolve()
        },
      )
      return done.promise
    },
    close: () => client.close(),
  }
}
