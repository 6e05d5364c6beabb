import type { Metrics } from '#src/platform/telemetry/index.ts'

/** The `status` label of the metric: the gRPC names in lower case. */
export type TransformationStatus =
  | 'success'
  | 'validation_error'
  | 'parse_error'
  | 'unsupported_format'

type Series = {
  readonly labels: {
    readonly source_type: string
    readonly target_format: string
    readonly status: TransformationStatus
  }
  count: number
}

/**
 * `spigw_transformations_total`, as plain counts until it is scraped: the metric's own hashing of labels would cost
 * as much as reading a message's payments.
 */
export const createTransformationCounter = (
  metrics: Metrics,
): ((source: string, target: string, status: TransformationStatus) => void) => {
  const all: Series[] = []
  metrics.counter(
    'spigw_transformations_total',
    'Transformations by source type, target format and outcome.',
    ['source_type', 'target_format', 'status'],
    (counter) => {
      for (const series of all) {
        counter.inc(series.labels, series.count)
        series.count = 0
      }
    },
  )
  return (source, target, status) => {
    for (const series of all) {
      const { labels } = series
      if (
        labels.source_type === source &&
        labels.target_format === target &&
        labels.status === status
      ) {
        series.count++
        return
      }
    }
    all.push({ labels: { source_type: source, target_format: target, status }, count: 1 })
  }
}
