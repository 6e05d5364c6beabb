import { type CountSeries, createCountSeries, type Metrics } from '#src/platform/observe/index.ts'

/** The `status` label of the metric: the gRPC names in lower case. */
export type TransformationStatus =
  | 'success'
  | 'validation_error'
  | 'parse_error'
  | 'unsupported_format'

type Label = 'source_type' | 'target_format' | 'status'

/** `spigw_transformations_total`. */
export const createTransformationCounter = (
  metrics: Metrics,
): ((source: string, target: string, status: TransformationStatus) => void) => {
  const seriesFor = createCountSeries<Label>(
    metrics,
    'spigw_transformations_total',
    'Transformations by source type, target format and outcome.',
  )
  // There are so few that a linear search is the fastest.
  const all: CountSeries<Label>[] = []
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
    const series = seriesFor({ source_type: source, target_format: target, status })
    series.count++
    all.push(series)
  }
}
