import type { Metrics } from '#src/platform/observe/index.ts'
import type { NetworkHealth } from './types.ts'

type Count = { inc(): void }

/** Names behind `cardgw_network_`, and what each counts. */
const counters = {
  timeouts: ['timeouts', 'Requests without an answer in time.'],
  lateAnswers: ['late_answers', 'Answers for which no request waited.'],
  mismatches: ['mismatched_answers', 'Answers with another terminal or RRN.'],
  reconnects: ['reconnects', 'Connections lost or not made, and tried again.'],
  unexpected: ['unexpected_messages', 'Messages of the network that have no meaning.'],
  wrongCodes: ['wrong_macs', 'Answers whose message authentication code is wrong.'],
  unverified: [
    'unverified_macs',
    'Answers whose message authentication code the security module did not verify.',
  ],
} as const

/** The counters of one network. */
export type NetworkCounts = Readonly<Record<keyof typeof counters, Count>>

const countsBy = (count: (name: keyof typeof counters) => Count): NetworkCounts =>
  Object.fromEntries(
    Object.keys(counters).map((name) => [name, count(name as keyof typeof counters)]),
  ) as NetworkCounts

export const noCounts = countsBy(() => ({ inc: () => undefined }))

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
  const all = new Map(
    Object.entries(counters).map(([key, [name, help]]) => [
      key,
      metrics.counter(`cardgw_network_${name}_total`, help, ['network']),
    ]),
  )
  return {
    of: (network, health) => {
      networks.set(network, health)
      return countsBy((name) => {
        const counter = all.get(name)!
        // The count begins at zero, since otherwise the first event would not show as an increase.
        counter.inc({ network }, 0)
        return counter.labels(network)
      })
    },
  }
}
