import type { Metrics } from '../telemetry/index.ts'
import type { Backlog } from './types.ts'

export type BrokerObserver = {
  readonly onConsume: (consumed: { readonly topic: string; readonly group: string }) => void
  readonly onDeadLetter: (topic: string, errorCode: string) => void
}

/** The broker's metrics: what waits, asked when scraped, and what was given up. */
export const observeBroker = (
  metrics: Metrics | undefined,
  backlog: (topic: string, group: string) => Promise<Backlog>,
): BrokerObserver => {
  const consumed = new Map<string, { readonly topic: string; readonly group: string }>()
  const letters = metrics?.counter('spigw_broker_dead_letters_total', 'Messages put in dlq.', [
    'topic',
    'code',
  ])
  const labels = ['topic', 'group'] as const
  const age = metrics?.gauge(
    'spigw_broker_queue_age_seconds',
    'Age of the oldest message that waits for a group.',
    labels,
  )
  metrics?.gauge(
    'spigw_broker_queue_depth',
    'Messages that wait for a group.',
    labels,
    async (depth) => {
      const look = async (at: { readonly topic: string; readonly group: string }) => {
        const waiting = await backlog(at.topic, at.group).catch(() => undefined)
        if (waiting === undefined) return
        depth.set(at, waiting.depth)
        age?.set(at, waiting.ageSeconds)
      }
      await Promise.all([...consumed.values()].map(look))
    },
  )
  return {
    onConsume: ({ topic, group }) => consumed.set(`${topic}\0${group}`, { topic, group }),
    onDeadLetter: (topic, code) => letters?.inc({ topic, code }),
  }
}
