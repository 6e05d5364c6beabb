import type { Gauge, Metrics } from '../observe/index.ts'
import { type Backlog, type QueueState, readers } from './types.ts'

export type BrokerObserver = {
  readonly onDeadLetter: (topic: string, errorCode: string) => void
}

/** For the log: in groups, since a long number may look like that of a card, and would be made unreadable. */
export const shownOffset = (offset: bigint): string => offset.toLocaleString('en')

const labels = ['topic', 'group'] as const
const groups: Readonly<Record<string, string | undefined>> = readers

/** The broker's metrics: the depth of each queue, and the messages it gave up. Every process tells of every queue. */
export const observeBroker = (
  metrics: Metrics | undefined,
  queues: () => Promise<readonly QueueState[]>,
): BrokerObserver => {
  const letters = metrics?.counter('spigw_broker_dead_letters_total', 'Messages put in dlq.', [
    'topic',
    'code',
  ])
  gaugeQueues(metrics, labels, {
    ask: async () =>
      // We report nothing about queues that we cannot query.
      (await queues().catch(() => [])).flatMap((state) => {
        const group = groups[state.topic]
        return group === undefined ? [] : [{ labels: { topic: state.topic, group }, state }]
      }),
    gauges: [
      ['spigw_broker_queue_depth', 'Messages that wait for a group.', depthOf],
      [
        'spigw_broker_queue_age_seconds',
        'Age of the oldest message that waits for a group.',
        ageOf,
      ],
      [
        'spigw_broker_queue_partitions_read',
        'Partitions of a queue that a live process reads; 0: nobody does.',
        ({ partitionsRead }) => partitionsRead,
      ],
    ],
  })
  return { onDeadLetter: (topic, code) => letters?.inc({ topic, code }) }
}

export const depthOf = ({ depth }: Backlog): number => depth
export const ageOf = ({ ageSeconds }: Backlog): number => ageSeconds

type Measured<L extends string> = {
  readonly labels: Readonly<Record<L, string>>
  readonly state: QueueState
}

/** Gauges of queues: one query for all of a scrape. */
export const gaugeQueues = <L extends string>(
  metrics: Metrics | undefined,
  labels: readonly L[],
  of: {
    readonly ask: () => Promise<readonly Measured<L>[]>
    readonly gauges: readonly (readonly [
      name: string,
      help: string,
      value: (state: QueueState) => number | undefined,
    ])[]
  },
): void => {
  let asked: Promise<readonly Measured<L>[]> | undefined
  const ask = (): Promise<readonly Measured<L>[]> => {
    asked ??= of.ask().finally(() => {
      asked = undefined
    })
    return asked
  }
  for (const [name, help, value] of of.gauges) {
    metrics?.gauge(name, help, labels, async (gauge: Gauge<L>) => {
      const all = await ask()
      gauge.reset()
      for (const { labels, state } of all) {
        const measured = value(state)
        if (measured !== undefined) gauge.set(labels, measured)
      }
    })
  }
}
