import { isMessageType } from '#codecs/iso20022'
import { latencyBucketsSeconds, type Metrics } from '#src/platform/observe/index.ts'
import { countedMax } from '../../messages/domain.ts'
import { processedMessages } from '../../messages/index.ts'

const batchBuckets = [1, 2, 3, 5, 8, 10, 20, 50, 100, 200]

export type OutboundMetrics = ReturnType<typeof createOutboundMetrics>

/** Counts what became of a message. */
export const createOnStatus = (metrics: Metrics) => {
  const processed = processedMessages(metrics)
  return (type: string, status: string): void =>
    processed.inc({
      type: isMessageType(type) ? type : 'unknown',
      direction: 'OUTBOUND',
      status,
    })
}

export const createOutboundMetrics = (metrics: Metrics, unknown: () => Promise<number>) => {
  const sizes = metrics.histogram(
    'spigw_outbound_batch_messages',
    'Messages taken from the outbound queue at once.',
    [],
    batchBuckets,
  )
  const signing = metrics.histogram(
    'spigw_signing_seconds',
    'Time to sign a message, waiting included, by who signs.',
    ['provider'],
    latencyBucketsSeconds,
  )
  const inFlight = metrics.gauge('spigw_outbound_in_flight', 'Messages being signed or sent.')
  const reasked = metrics.counter(
    'spigw_outbound_reasked_total',
    'Messages sent again because nobody had answered them.',
  )
  const requeued = metrics.counter(
    'spigw_outbound_requeued_total',
    'Queued messages put on the queue again because their entry was not there.',
  )
  const sync = metrics.counter(
    'spigw_sync_sends_total',
    'Messages sent within the request that made them, by what became of that.',
    ['outcome'],
  )
  metrics.gauge(
    'spigw_unknown_outcomes',
    `Messages without an answer, or not known to be sent, past the settlement limit, up to ${countedMax}.`,
    [],
    async (gauge) => gauge.set(await unknown()),
  )
  return {
    onStatus: createOnStatus(metrics),
    onBatch: (messages: number) => sizes.observe(messages),
    onSigned: (provider: string, seconds: number) => signing.observe({ provider }, seconds),
    onReasked: () => reasked.inc(),
    onRequeued: (messages: number) => requeued.inc(messages),
    change: (by: number) => inFlight.inc(by),
    /** Called for each message that we tried to send within its request. */
    onSync: (outcome: string) => sync.inc({ outcome }),
  }
}
