import { count } from './format.ts'

/** A queue of the broker, as the metrics tell of it. */
export type Queue = {
  readonly name: string
  readonly depth: number
  readonly ageSeconds: number
  /** As far as it is counted at least: from here on there may be more. */
  readonly countedMax: number
}

/** Each partition of a queue in PostgreSQL is counted so far, and all of one in Kafka. */
const [laneDepthMax, backlogCountMax] = [100, 100_000]

const none: Queue = { name: '', depth: 0, ageSeconds: 0, countedMax: backlogCountMax }

const sample =
  /^spigw_broker_queue_(depth|age_seconds|partitions_read)\{topic="([^"]*)"[^}]*\} (\S+)$/

/** Several processes tell of the same: the largest counts. Only a queue in PostgreSQL tells of its partitions. */
export const queuesIn = (metrics: string): readonly Queue[] => {
  const queues = new Map<string, Queue>()
  for (const line of metrics.split('\n')) {
    const [, metric, name, value] = sample.exec(line) ?? []
    if (metric === undefined || name === undefined) continue
    const before = queues.get(name) ?? none
    queues.set(name, { ...before, name, ...changeBy(metric, Number(value), before) })
  }
  return [...queues.values()]
}

const changeBy = (metric: string, value: number, before: Queue): Partial<Queue> => {
  if (metric === 'depth') return { depth: Math.max(before.depth, value) }
  if (metric === 'age_seconds') return { ageSeconds: Math.max(before.ageSeconds, value) }
  return { countedMax: laneDepthMax }
}

/** `800+` where more may wait than were counted. */
export const depthText = ({ depth, countedMax }: Queue): string =>
  `${count(depth)}${depth >= countedMax ? '+' : ''}`
