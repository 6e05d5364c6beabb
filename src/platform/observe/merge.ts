import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client'

/** The metrics of a process as plain values, which pass between processes. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[]

/** @property of - whose values they are: a worker's by its number, those of ended workers, or those of all together */
export type WorkerMetrics = {
  readonly of: number | 'ended' | 'all'
  readonly values: MetricValues
}

/** Counts and histograms go on after their process has ended; its other values end with it. */
const isAdded = (type: unknown): boolean =>
  String(type) === 'counter' || String(type) === 'histogram'

const labelled = ({ of, values }: WorkerMetrics) =>
  values.flatMap((metric) => {
    const added = { ...metric, aggregator: 'sum' as const }
    if (isAdded(metric.type) || of === 'all') return [added]
    if (of === 'ended') return []
    return [
      {
        ...added,
        values: metric.values.map((value) => ({
          ...value,
          labels: { ...value.labels, worker: of },
        })),
      },
    ]
  })

/**
 * The metrics of several processes as those of one: counters and histograms are added, everything else has a label
 * `worker`.
 */
export const mergeMetrics = (
  all: readonly WorkerMetrics[],
): { readonly render: () => Promise<string>; readonly values: () => Promise<MetricValues> } => {
  // The types of the library know no list of one process's values.
  const registry = AggregatorRegistry.aggregate(all.map(labelled) as unknown as object[])
  return {
    render: () => registry.metrics(),
    values: async () => (await registry.getMetricsAsJSON()) as unknown as MetricValues,
  }
}
