import type { Metrics } from '#src/platform/observe/index.ts'
import type { Channel } from '../../messages/index.ts'

/** The interface puts at most ten messages into one response. */
const batchBuckets = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** Calls `linkUp` and `openStreams` when the metrics are read. */
export const createPullMetrics = (
  metrics: Metrics,
  channels: readonly Channel[],
  state: {
    readonly linkUp: (channel: Channel) => boolean
    readonly openStreams: (channel: Channel) => number
    readonly silentSeconds: (channel: Channel) => number
  },
) => {
  const labels = ['channel'] as const
  metrics.gauge('spigw_link_up', '1 while a channel of the interface answers.', labels, (gauge) => {
    for (const channel of channels) gauge.set({ channel }, state.linkUp(channel) ? 1 : 0)
  })
  metrics.gauge('spigw_pull_streams', 'Open read streams.', labels, (gauge) => {
    for (const channel of channels) gauge.set({ channel }, state.openStreams(channel))
  })
  metrics.gauge(
    'spigw_pull_silent_seconds',
    'Since the last read of a channel that succeeded.',
    labels,
    (gauge) => {
      for (const channel of channels) gauge.set({ channel }, state.silentSeconds(channel))
    },
  )
  const sizes = metrics.histogram(
    'spigw_pull_batch_messages',
    'Messages per response that held any.',
    labels,
    batchBuckets,
  )
  const failures = metrics.counter('spigw_pull_failures_total', 'Why pulling was interrupted.', [
    'channel',
    'kind',
  ])
  const letters = metrics.counter(
    'spigw_pull_dead_letters_total',
    'Answers that could not be read in whole, and messages that the broker does not take.',
    labels,
  )
  for (const channel of channels) letters.inc({ channel }, 0)
  return {
    /** An answer or a message went to `dlq`. */
    onLetter: (channel: Channel) => letters.inc({ channel }),
    onBatch: (channel: Channel, messages: number) => sizes.observe({ channel }, messages),
    /** `kind`: why a stream ended, or `publish`. */
    onFailure: (channel: Channel, kind: string) => failures.inc({ channel, kind }),
  }
}
