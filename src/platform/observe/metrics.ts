import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { inTime } from '#src/platform/runtime/index.ts'

/** The process's metrics. Declare each metric once, with the exact name, type and labels. */
export type Metrics = {
  readonly registry: Registry
  /** `collect` adds counts from elsewhere when the metrics are scraped. */
  counter<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (counter: Counter<L>) => void,
  ): Counter<L>
  /**
   * `collect` sets the values when the metrics are scraped. If it fails or is late, that scrape has no value of this
   * gauge: neither an old value nor an error in place of all the others.
   */
  gauge<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L>
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    bucketsSeconds: readonly number[],
  ): Histogram<L>
  /** The text exposition format. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>
}

export type { Counter, Gauge } from 'prom-client'

/** Latency buckets in seconds: fine below 10 ms, where a gateway lives. */
export const latencyBucketsSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const

/** A scrape must not wait for a database that is away. */
const collectMsMax = 2_000

/** The values as the library keeps them: its `reset` would leave a zero where there are no labels. */
type Kept = { hashMap: object }

const collectInTime = <L extends string>(
  gauge: Gauge<L>,
  collect: (gauge: Gauge<L>) => void | Promise<void>,
): void | Promise<void> => {
  const forget = (): void => {
    ;(gauge as unknown as Kept).hashMap = {}
  }
  const collected = collect(gauge)
  if (collected === undefined) return
  return inTime(collected.catch(forget), collectMsMax).catch(forget)
}

/** `withProcess`: also process and event-loop figures, which keep a timer running. */
export const createMetrics = (options: {
  readonly version: string
  readonly withProcess: boolean
}): Metrics => {
  const registry = new Registry()
  if (options.withProcess) collectDefaultMetrics({ register: registry })
  const metrics: Metrics = {
    registry,
    counter: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (counter: Counter<L>) => void,
    ) => {
      const counter: Counter<L> = new Counter<L>({
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        ...(collect === undefined ? {} : { collect: () => collect(counter) }),
      })
      return counter
    },
    gauge: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (gauge: Gauge<L>) => void | Promise<void>,
    ) => {
      const gauge: Gauge<L> = new Gauge<L>({
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        ...(collect === undefined ? {} : { collect: () => collectInTime(gauge, collect) }),
      })
      return gauge
    },
    histogram: (name, help, labels, buckets) =>
      new Histogram({
        name,
        help,
        labelNames: [...labels],
        buckets: [...buckets],
        registers: [registry],
      }),
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
  metrics
    .gauge('trilho_build_info', 'Always 1; the labels say what runs.', ['version', 'bun'])
    .set({ version: options.version, bun: Bun.version }, 1)
  return metrics
}
