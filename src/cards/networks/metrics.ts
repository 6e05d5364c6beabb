import type { Metrics } from '#src/platform/observe/index.ts'
import type { NetworkHealth } from './types.ts'

type Count = { inc(): void }

/** The counters of one network. */
export type NetworkCounts = {
  readonly timeouts: Count
  readonly lateAnswers: Count
  readonly mismatches: Count
  readonly reconnects: Count
  readonly unexpected: Count
  readonly wrongCodes: Count
  readonly unverified: Count
}

export type NetworkMetrics = {
  /** `health` is called when the metrics are read. */
  readonly of: (network: string, health: () => NetworkHealth) => NetworkCounts
}

/** Declares the metrics of card networks; once for all of them. */
export const createNetworkMetrics = (metrics: Metrics): NetworkMetrics => {
  const networks = new Map<string, () => NetworkHealth>()
  const gauge = (name: string, help: string, value: (health: NetworkHealth) => number): void => {
    metrics.gauge(name, help, ['network'], (one) => {
      for (const [network, health] of networks) one.set({ network }, value(health()))
    })
  }
  gauge(
    'cardgw_network_connections_up',
    'Connections that take traffic.',
    (health) => health.connectionsUp,
  )
  gauge(
    'cardgw_network_in_flight',
    'Requests that wait for an answer.',
    (health) => health.inFlight,
  )
  const counter = (name: string, help: string) =>
    metrics.counter(`cardgw_network_${name}_total`, help, ['network'])
  const timeouts = counter('timeouts', 'Requests without an answer in time.')
  const lateAnswers = counter('late_answers', 'Answers for which no request waited.')
  const mismatches = counter('mismatched_answers', 'Answers with another terminal or RRN.')
  const reconnects = counter('reconnects', 'Connections lost or not made, and tried again.')
  const unexpected = counter('unexpected_messages', 'Messages of the network that have no meaning.')
  const wrongCodes = counter('wrong_macs', 'Answers whose message authentication code is wrong.')
  const unverified = counter(
    'unverified_macs',
    'Answers whose message authentication code the security module did not verify.',
  )
  return {
    of: (network, health) => {
      networks.set(network, health)
      // From the start on: the increase that is the first event is one only where there was a zero before it.
      for (const one of [
        ...[timeouts, lateAnswers, mismatches, reconnects, unexpected, wrongCodes, unverified],
      ]) {
        one.inc({ network }, 0)
      }
      return {
        timeouts: timeouts.labels(network),
        lateAnswers: lateAnswers.labels(network),
        mismatches: mismatches.labels(network),
        reconnects: reconnects.labels(network),
        unexpected: unexpected.labels(network),
        wrongCodes: wrongCodes.labels(network),
        unverified: unverified.labels(network),
      }
    },
  }
}
