export { createNetworkMetrics, type NetworkMetrics } from './metrics.ts'
export { createNetwork } from './network.ts'
export type { NetworkOptions } from './options.ts'
export type { ExchangeOutcome, LateAnswer, Network, NetworkHealth } from './types.ts'
