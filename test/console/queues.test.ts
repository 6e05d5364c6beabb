import { expect, test } from 'bun:test'
import { backlogCountMax, laneDepthMax } from '#src/platform/broker/types.ts'
import { loadConsole } from './load-console.ts'

/* The console does not show a depth counted in part as if it were whole. */

const { queuesIn, depthText } = await loadConsole<{
  readonly queuesIn: (metrics: string) => readonly { readonly name: string }[]
  readonly depthText: (queue: object) => string
}>(['queues.ts'])

const metricsOf = (depth: number, isInPostgres: boolean): string =>
  [
    '# HELP spigw_broker_queue_depth Messages that wait for a group.',
    `spigw_broker_queue_depth{topic="spi.outbound",group="senders"} ${depth}`,
    'spigw_broker_queue_age_seconds{topic="spi.outbound",group="senders"} 12.5',
    ...(isInPostgres
      ? ['spigw_broker_queue_partitions_read{topic="spi.outbound",group="senders"} 8']
      : []),
  ].join('\n')

test.each([
  [laneDepthMax - 1, true, '99'],
  // One partition may hold all of them, and more.
  [laneDepthMax, true, '100+'],
  [8 * laneDepthMax, true, '800+'],
  [8 * laneDepthMax, false, '800'],
  [backlogCountMax - 1, false, '99,999'],
  [backlogCountMax, false, '100,000+'],
])('a depth of %i (in PostgreSQL: %p) is told as %s', (depth, isInPostgres, told) => {
  const [queue] = queuesIn(metricsOf(depth, isInPostgres))
  expect(queue).toMatchObject({ name: 'spi.outbound', depth, ageSeconds: 12.5 })
  expect(depthText(queue ?? {})).toBe(told)
})
