import type { Counter, Metrics } from '#src/platform/observe/index.ts'

const name = 'spigw_messages_processed_total'
type Labels = 'type' | 'direction' | 'status'

/** The count of messages by what became of them; one metric for all stages of a process. */
export const processedMessages = (metrics: Metrics): Counter<Labels> => {
  const known = metrics.registry.getSingleMetric(name)
  if (known !== undefined) return known as Counter<Labels>
  return metrics.counter<Labels>(name, 'Processed messages.', ['type', 'direction', 'status'])
}
