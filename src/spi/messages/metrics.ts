import type { Counter, Metrics } from '#src/platform/observe/index.ts'

const name = 'spigw_messages_processed_total'
type Labels = 'type' | 'direction' | 'status'

/** Counts messages by outcome; all stages of a process share the metric. */
export const processedMessages = (metrics: Metrics): Counter<Labels> => {
  const known = metrics.registry.getSingleMetric(name)
  if (known !== undefined) return known as Counter<Labels>
  return metrics.counter<Labels>(name, 'Processed messages.', ['type', 'direction', 'status'])
}
