import { count } from './format.ts'

/** A queue of the broker, read from the metrics. */
export type Queue = {
  readonly name: string
  readonly depth: number
  readonly ageSeconds: number
  /** The depth is exact below this; from here on there may be more. */
  readonly countedMax: number
}

/** The gateway counts each partition in PostgreSQL up to the first, a whole queue in Kafka up to the second. */
const [laneDepthMax, backlogCountMax] = [100, 100_000]

const none: Queue = { name: '', depth: 0, ageSeconds: 0, countedMax: backlogCountMax }

const sample =
  /^spigw_broker_queue_(depth|age_seconds|partitions_read)\{topic="([^"]*)"[^}]*\} (\S+)$/

/** Several processes report the same queue: the largest value counts. Only PostgreSQL reports partitions. */
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

/** `800+`: more may wait than were counted. */
export const depthText = ({ depth, countedMax }: Queue): string =>
  `${count(depth)}${depth >= countedMax ? '+' : ''}`
