import { type Client, rowCount } from '#src/platform/database/index.ts'
import { createJob, type Job } from '#src/platform/jobs/index.ts'
import { createOutageLog, type Logger, type OutageLog } from '#src/platform/observe/index.ts'
import { type Backlog, laneDepthMax, type QueueState } from '../types.ts'
import { isUnread } from '../unread.ts'
import { beginning } from './lanes.ts'

/** A sample that is older says nothing of now. */
const sampleSecondsMax = 60

type Row = {
  readonly topic: string
  readonly depth: number
  readonly age: number | null
  readonly lanesRead: number
}

/** The messages that wait in a topic. Reads no more than {@link laneDepthMax} rows of each lane, in its order. */
export const backlogOf = async (sql: Client, topic: string): Promise<Backlog> => {
  const [row] = await sql<Row[]>`
    select coalesce(sum(depth), 0)::int as depth,
      extract(epoch from now() - min(oldest))::float8 as age
    from broker_lanes cross join ${waiting(sql)}
    where topic = ${topic}`
  return { depth: row?.depth ?? 0, ageSeconds: Math.max(0, row?.age ?? 0) }
}

const waiting = (sql: Client) => sql`
  lateral (
    select count(*) as depth, min(published_at) as oldest from (
      select published_at from broker_queue
      where id > (lane::bigint << 44) + ${beginning(sql)} and id < (lane + 1)::bigint << 44
      order by id limit ${rowCount(sql, laneDepthMax)}
    ) first
  ) waiting`

/** All queues at the last sample. */
export const readSamples = async (sql: Client): Promise<readonly QueueState[]> => {
  const rows = await sql<Row[]>`
    select ${sampled(sql)} from broker_backlogs
    where sampled_at > now() - make_interval(secs => ${sampleSecondsMax})`
  return rows.map(stateOf)
}

const sampled = (sql: Client) => sql`
  topic, depth, extract(epoch from now() - oldest_at)::float8 as age, lanes_read as "lanesRead"`

const stateOf = ({ topic, depth, age, lanesRead }: Row): QueueState => ({
  topic,
  depth,
  ageSeconds: Math.max(0, age ?? 0),
  partitionsRead: lanesRead,
})

/** Measures all queues, one process of the fleet for all; logs a queue in which messages wait that nobody reads. */
export const createSampler = (
  { sql, logger }: { readonly sql: Client; readonly logger: Logger },
  everyMs: number,
): Job => {
  const outages = new Map<string, OutageLog>()
  const outageOf = (topic: string): OutageLog => {
    const outage = outages.get(topic) ?? unread(logger, topic)
    outages.set(topic, outage)
    return outage
  }
  return createJob({
    name: 'depth of the queues',
    everyMs,
    fleet: { sql, isBrief: true },
    logger,
    run: async () => {
      for (const queue of await sample(sql)) {
        const { topic, depth, ageSeconds } = queue
        if (!isUnread(queue)) outages.get(topic)?.worked()
        else outageOf(topic).failed(undefined, { depth, age_seconds: Math.round(ageSeconds) })
      }
    },
  })
}

const unread = (logger: Logger, topic: string): OutageLog =>
  createOutageLog(logger, {
    level: 'error',
    away: 'messages wait in a queue that no process reads',
    back: 'the queue is read again',
    about: { topic },
  })

const sample = async (sql: Client): Promise<readonly QueueState[]> => {
  const rows = await sql<Row[]>`
    insert into broker_backlogs (topic, depth, oldest_at, lanes_read, sampled_at)
    select topic, sum(depth)::int, min(oldest), count(*) filter (where until > now())::int, now()
    from broker_lanes cross join ${waiting(sql)}
    group by topic order by topic
    on conflict (topic) do update set depth = excluded.depth, oldest_at = excluded.oldest_at,
      lanes_read = excluded.lanes_read, sampled_at = excluded.sampled_at
    returning ${sampled(sql)}`
  return rows.map(stateOf)
}
