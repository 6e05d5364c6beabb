import type { LogLevel, MetricValues } from '#src/platform/observe/index.ts'

/** Messages from the process that starts workers. */
export type ToWorker =
  | { readonly kind: 'ping' }
  /** Asks for its metrics. */
  | { readonly kind: 'collect'; readonly id: number }
  /** The metrics of all, which it asked for. */
  | { readonly kind: 'rendered'; readonly id: number; readonly text: string }
  | {
      readonly kind: 'crew'
      readonly running: number
      readonly of: number
      /** The level from which on all log; undefined: each as its settings say. */
      readonly level: LogLevel | undefined
    }

/** Messages from a worker. */
export type FromWorker =
  | { readonly kind: 'pong' }
  | { readonly kind: 'listening'; readonly urls: Readonly<Record<string, string>> }
  | { readonly kind: 'collected'; readonly id: number; readonly values: MetricValues }
  /** Asks for the metrics of all. */
  | { readonly kind: 'render'; readonly id: number }
  /** The worker was asked to log from another level on, as all then do. */
  | { readonly kind: 'log_level'; readonly level: LogLevel }

/** The variable that tells a worker its number. Nobody else sets it. */
export const workerVariable = 'TRILHO_WORKER'

/** Processes that take longer to tell their metrics are left out. */
export const collectMsMax = 3_000
