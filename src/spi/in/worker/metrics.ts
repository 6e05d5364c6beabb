import { isMessageType } from '#codecs/iso20022'
import { latencyBucketsSeconds, type Metrics } from '#src/platform/observe/index.ts'
import { type NewMessage, processedMessages } from '../../messages/index.ts'

const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500]

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

/** Without this check, whoever sends unknown types could make any number of labels. */
const typeLabel = (type: string | undefined): string =>
  type !== undefined && isMessageType(type) ? type : 'unknown'

export const createWorkerMetrics = (metrics: Metrics) => {
  const processed = processedMessages(metrics)
  const duplicates = metrics.counter(
    'spigw_inbound_duplicates_total',
    'Received messages that were known already.',
  )
  const warnings = metrics.counter(
    'spigw_inbound_warnings_total',
    'Rules that received messages break.',
    ['type', 'rule'],
  )
  const signatures = metrics.counter(
    'spigw_inbound_signatures_total',
    'Verdicts on the signatures of received messages.',
    ['verdict'],
  )
  const waited = metrics.histogram(
    'spigw_inbound_seconds',
    'From the answer of the interface to the commit.',
    ['type'],
    latencyBucketsSeconds,
  )
  const sizes = metrics.histogram(
    'spigw_worker_batch_messages',
    'Messages of one database transaction.',
    [],
    batchBuckets,
  )
  const durations = metrics.histogram(
    'spigw_worker_batch_seconds',
    'Duration of one database transaction.',
    [],
    latencyBucketsSeconds,
  )
  return {
    onStored: (message: NewMessage, waitedSeconds: number) => {
      const type = typeLabel(message.type)
      processed.inc({ type, direction: message.direction, status: message.status })
      signatures.inc({ verdict: message.signature })
      waited.observe({ type }, waitedSeconds)
      for (const { rule } of message.warnings) warnings.inc({ type, rule })
    },
    onDuplicate: () => duplicates.inc(),
    onBatch: (messages: number, seconds: number) => {
      sizes.observe(messages)
      durations.observe(seconds)
    },
    onStatusChange: (type: string, status: string) =>
      processed.inc({ type: typeLabel(type), direction: 'OUTBOUND', status }),
  }
}
