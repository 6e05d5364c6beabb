import { createExportClient, ExportError, type ExportOptions } from './export-client.ts'
import { type Origin, SpanBatch } from './otlp.ts'
import type { Span } from './span.ts'
import { useSink } from './tracing.ts'

export type TracingOptions = Origin &
  Pick<ExportOptions, 'headers' | 'ca'> & {
    /** The collector's, `http://` or `https://`; spans go out as OTLP over gRPC. */
    readonly endpoint: string
    /** The share, 0 to 1, that we keep of the traces that begin here; for other traces their caller decides. */
    readonly samplingRatio: number
    /** Called for each failed export with the reason and the number of lost spans. */
    readonly onProblem?: (reason: string, spans: number) => void
    /** How long we may take at the stop to send what is left; 5 s. */
    readonly stopTimeoutMs?: number
  }

export type Tracing = {
  /** Sends what is left, for a bounded time; never rejects. */
  stop(): Promise<void>
}

const batchSpansMax = 2_000
/** Before compression; a collector takes 4 MiB at once unless it is told otherwise. */
const batchBytesMax = 1_048_576
const queuedBatchesMax = 10
/** How much may wait for the collector; we drop any more, so an absent collector costs no more memory. */
export const queuedSpansMax = batchSpansMax * queuedBatchesMax
/**
 * Spans that wait to be encoded together: code that runs once for each of them, between everything else that a request
 * does, is never in the processor's cache. Few enough not to grow old in the garbage collector.
 */
const gatheredMax = 64
const exportEveryMs = 1_000
const stopTimeoutMsDefault = 5_000
const compression = { level: 1, library: 'zlib' } as const

type Export = { readonly message: Uint8Array; readonly spans: number }

/** Makes and exports spans from now on. Once per process: the active span follows asynchronous calls. */
export const startTracing = (options: TracingOptions): Tracing => {
  const { endpoint, samplingRatio, onProblem = () => {} } = options
  const { stopTimeoutMs = stopTimeoutMsDefault } = options
  const client = createExportClient(endpoint, options)
  const gathered: Span[] = []
  const batch = new SpanBatch(options)
  const queue: Export[] = []
  let dropped = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined

  /** An absent collector loses these spans: that must not delay or fail anything else. */
  const send = ({ message, spans }: Export): Promise<void> =>
    client.send(message).catch((error: unknown) => {
      onProblem(error instanceof ExportError ? error.reason : 'internal', spans)
    })
  /** Sends one batch at a time: a slow collector fills the queue, not the memory. */
  const sendAll = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await send(next)
      if (dropped > 0) onProblem('too many wait', dropped)
      dropped = 0
    }
  }
  const flush = (): Promise<void> => {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }
  const closeBatch = (): void => {
    if (batch.count === 0) return
    const { count: spans } = batch
    queue.push({ message: Bun.gzipSync(batch.finish(), compression), spans })
    void flush()
  }
  const encode = (): void => {
    for (const span of gathered) {
      if (queue.length >= queuedBatchesMax) {
        dropped++
        continue
      }
      batch.add(span)
      if (batch.count >= batchSpansMax || batch.bytes >= batchBytesMax) closeBatch()
    }
    gathered.length = 0
  }
  /** Under load, batches are full long before their time: an export costs nearly as much for few spans as for many. */
  const closeAll = (): void => {
    clearTimeout(timer)
    timer = undefined
    encode()
    closeBatch()
  }
  useSink({
    samplingRatio,
    add: (span) => {
      if (timer === undefined) {
        timer = setTimeout(closeAll, exportEveryMs)
        timer.unref()
      }
      gathered.push(span)
      if (gathered.length >= gatheredMax) encode()
    },
  })
  return {
    stop: async () => {
      useSink(undefined)
      closeAll()
      // Then the running export, and those that wait behind it, fail at once.
      const late = setTimeout(client.close, stopTimeoutMs)
      await flush()
      clearTimeout(late)
      client.close()
    },
  }
}
