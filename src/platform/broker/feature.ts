import type { Client } from '../database/index.ts'
import type { HealthCheck } from '../http/index.ts'
import type { Feature } from '../lifecycle/index.ts'
import { type BookLine, bookCountedMax } from '../lifecycle/index.ts'
import { inTimeOr } from '../runtime/index.ts'
import type { CertificateUse } from '../security/index.ts'
import type { Broker, QueueState } from './types.ts'
import { isUnread } from './unread.ts'

/** Whoever asks for our health waits little longer, and takes a process without an answer for one that is not ready. */
const answerTimeoutMs = 400

/** The broker in the life of the process: started before those that consume, stopped after them. */
export const createBrokerFeature = (
  broker: Broker,
  sql: Client | undefined,
  certificates: readonly CertificateUse[] = [],
): Feature => ({
  name: 'broker',
  certificates,
  ...(sql === undefined ? {} : { book: () => bookOf(sql) }),
  start: () => broker.start(),
  stop: () => broker.stop(),
  loops: () => broker.loops(),
  checks: async () => (await broker.checks?.()) ?? [],
  health: async () => {
    const down = { status: 'down', ready: true, detail: { kind: broker.kind } } as const
    return inTimeOr(healthOf(broker), answerTimeoutMs, down).catch(() => down)
  },
})

const healthOf = async (broker: Broker): Promise<HealthCheck> => {
  const { kind } = broker
  await broker.ping()
  const unread = ((await broker.queues?.().catch(() => [])) ?? []).filter(isUnread)
  if (unread.length === 0) return { status: 'ok', ready: true, detail: { kind } }
  return { status: 'degraded', ready: true, detail: { kind, unread: unread.map(viewOf) } }
}

const viewOf = ({ topic, depth, ageSeconds }: QueueState) => ({
  topic,
  depth,
  age_seconds: Math.round(ageSeconds),
})

/** The messages that wait in the database's queues, by topic, and the dead letters. */
const bookOf = async (sql: Client): Promise<readonly BookLine[]> => {
  const queues = await sql<Omit<BookLine, 'last'>[]>`
    select 'messages of ' || topic as what, least(count(*), ${bookCountedMax})::int as open,
      min(at) as "oldestOpen"
    from broker_lanes cross join lateral (
      select published_at as at from broker_queue
      where id > lane::bigint << 44 and id < (lane + 1)::bigint << 44
      order by id limit ${bookCountedMax}
    ) waiting
    group by topic order by topic`
  const [letters] = await sql<Omit<BookLine, 'what' | 'last'>[]>`
    select count(*)::int as open, min(at) as "oldestOpen"
    from (
      select published_at as at from broker_dead_letters order by published_at limit ${bookCountedMax}
    ) letters`
  return [...queues, { what: 'dead letters', ...letters! }].map((line) => ({ ...line, last: null }))
}
