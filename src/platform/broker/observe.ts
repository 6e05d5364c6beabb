import type { Gauge, Metrics } from '../observe/index.ts'
import type { Backlog } from './types.ts'

export type BrokerObserver = {
  readonly onConsume: (consumed: { readonly topic: string; readonly group: string }) => void
  readonly onDeadLetter: (topic: string, errorCode: string) => void
}

/** The broker's metrics: what waits, measured at each scrape, and what it gave up. */
export const observeBroker = (
  metrics: Metrics | undefined,
  backlog: (topic: string, group: string) => Promise<Backlog>,
): BrokerObserver => {
  const consumed = new Map<string, { readonly topic: string; readonly group: string }>()
  const letters = metrics?.counter('spigw_broker_dead_letters_total', 'Messages put in dlq.', [
    'topic',
    'code',
  ])
  gaugeBacklogs(metrics, {
    labels: ['topic', 'group'],
    depth: ['spigw_broker_queue_depth', 'Messages that wait for a group.'],
    age: ['spigw_broker_queue_age_seconds', 'Age of the oldest message that waits for a group.'],
    // We report nothing about a queue that we cannot query.
    ask: async () => {
      const asked = [...consumed.values()].map(async (labels) => {
        const waiting = await backlog(labels.topic, labels.group).catch(() => undefined)
        return waiting === undefined ? [] : [{ labels, waiting }]
      })
      return (await Promise.all(asked)).flat()
    },
  })
  return {
    onConsume: ({ topic, group }) => consumed.set(`${topic}\0${group}`, { topic, group }),
    onDeadLetter: (topic, code) => letters?.inc({ topic, code }),
  }
}

type Named = readonly [name: string, help: string]
type Waiting<L extends string> = {
  readonly labels: Readonly<Record<L, string>>
  readonly waiting: Backlog
}

/** How many messages wait, and how old the oldest is: one query for both gauges of a scrape. */
export const gaugeBacklogs = <L extends string>(
  metrics: Metrics | undefined,
  of: {
    readonly labels: readonly L[]
    readonly depth: Named
    readonly age: Named
    readonly ask: () => Promise<readonly Waiting<L>[]>
  },
): void => {
  let asked: Promise<readonly Waiting<L>[]> | undefined
  const ask = (): Promise<readonly Waiting<L>[]> => {
    asked ??= of.ask().finally(() => {
      asked = undefined
    })
    return asked
  }
  const gauge = ([name, help]: Named, value: (waiting: Backlog) => number): void => {
    metrics?.gauge(name, help, of.labels, async (one: Gauge<L>) => {
      const all = await ask()
      one.reset()
      for (const { labels, waiting } of all) one.set(labels, value(waiting))
    })
  }
  gauge(of.depth, ({ depth }) => depth)
  gauge(of.age, ({ ageSeconds }) => ageSeconds)
}
