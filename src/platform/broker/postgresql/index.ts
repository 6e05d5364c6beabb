import {
  type Client,
  isTransientDatabaseError,
  type Queryable,
} from '#src/platform/database/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import type { BrokerDeps } from '../deps.ts'
import { type Engine, startEngine } from '../engine.ts'
import { BrokerUnavailableError } from '../errors.ts'
import { observeBroker } from '../observe.ts'
import {
  type Backlog,
  type Broker,
  backlogCountMax,
  type ConsumeOptions,
  type OutgoingMessage,
} from '../types.ts'
import { createHeldBackWatch } from './held-back.ts'
import { createMaintenance } from './maintenance.ts'
import { joinGroup } from './member.ts'
import { insertMessages } from './publish.ts'

export type PostgresBrokerDeps = BrokerDeps & {
  readonly sql: Client
  /** The same database: every consumer opens its own connection. */
  readonly dsn: string
  readonly retentionDays: number
  readonly metrics?: Metrics
}

/** A broker that takes part in the transactions of its database. */
export type TransactionalBroker = Broker & {
  /** Publishes when the transaction commits, or never: state and event together, without an outbox. */
  publishIn(transaction: Queryable, messages: readonly OutgoingMessage[]): Promise<void>
  /** Call it after that commit: consumers then look at once instead of within a quarter of a second. */
  wake(topics: Iterable<string>): void
}

const channel = 'trilho_broker'
const notifyAfterMs = 2

/**
 * A log in PostgreSQL, for installations without Kafka.
 *
 * Why not a kept library: pg-boss and graphile-worker are job queues. They hand out single jobs by
 * `SKIP LOCKED`, so two messages of one key run at once or in either order unless each key is a queue of its own,
 * a message has one taker and not one per group, and each costs an update and a delete. Here a partition has one
 * reader at a time, a group is a position in the log, and a batch costs one read and one small update.
 */
export const createPostgresBroker = (deps: PostgresBrokerDeps): TransactionalBroker => {
  const { sql, dsn, logger } = deps
  const engines = new Map<string, Set<Engine>>()
  const observer = observeBroker(deps.metrics, (topic, group) => backlogOf(sql, topic, group))
  const maintenance = createMaintenance(deps)
  const heldBack = createHeldBackWatch(deps)
  const notifier = createNotifier(sql, (topic) => {
    for (const engine of engines.get(topic) ?? []) engine.wake()
  })
  let listening: Promise<{ unlisten: () => Promise<void> }> | undefined

  const publish = async (messages: readonly OutgoingMessage[]): Promise<void> => {
    try {
      await insertMessages(sql, messages)
    } catch (error) {
      if (!isTransientDatabaseError(error)) throw error
      throw new BrokerUnavailableError('the database has not taken the messages', { cause: error })
    }
    notifier.wake(messages.map(({ topic }) => topic))
  }

  const consume = (options: ConsumeOptions): Engine => {
    const engine = startEngine(joinGroup(dsn, options), options, {
      publish,
      onDeadLetter: observer.onDeadLetter,
      logger,
    })
    const all = engines.get(options.topic) ?? new Set()
    engines.set(options.topic, all.add(engine))
    observer.onConsume(options)
    listening ??= sql.listen(channel, notifier.heard)
    listening.catch((error: unknown) => logger.warn({ err: error }, 'LISTEN failed: polling'))
    const stop = async (): Promise<void> => {
      await engine.stop()
      all.delete(engine)
    }
    return { ...engine, stop }
  }

  return {
    kind: 'postgresql',
    isDurable: true,
    publish,
    publishIn: insertMessages,
    wake: notifier.wake,
    consume,
    backlog: (topic, group) => backlogOf(sql, topic, group),
    ping: async () => (await sql`select 1`).length === 1,
    loops: () => [...engines.values()].flatMap((all) => [...all].map(({ watched }) => watched)),
    start: async () => {
      void heldBack.start()
      await maintenance.start()
    },
    stop: async () => {
      await Promise.all([heldBack.stop(), maintenance.stop()])
      await Promise.all([...engines.values()].flatMap((all) => [...all].map((one) => one.stop())))
      const listener = await listening?.catch(() => undefined)
      await listener?.unlisten().catch(() => {})
    },
  }
}

/**
 * Tells consumers that there is news: those of this process directly, the others by NOTIFY. We send it outside of the
 * publishing transactions, because NOTIFY makes the commits of a server wait for each other, and gather it over a few
 * milliseconds.
 */
const createNotifier = (
  sql: Client,
  ring: (topic: string) => void,
): {
  readonly wake: (topics: Iterable<string>) => void
  readonly heard: (payload: string) => void
} => {
  const fresh = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const send = (): void => {
    timer = undefined
    const payload = JSON.stringify([...fresh])
    fresh.clear()
    // A lost notification does no harm: consumers also look by themselves.
    sql`select pg_notify(${channel}, ${payload})`.catch(() => {})
  }
  return {
    wake: (topics) => {
      for (const topic of new Set(topics)) {
        ring(topic)
        fresh.add(topic)
      }
      if (fresh.size > 0 && timer === undefined) timer = setTimeout(send, notifyAfterMs)
    },
    heard: (payload) => {
      const topics: unknown = JSON.parse(payload)
      if (Array.isArray(topics)) for (const topic of topics) ring(String(topic))
    },
  }
}

const backlogOf = async (sql: Client, topic: string, group: string): Promise<Backlog> => {
  const [row] = await sql<{ depth: number; age: number | null }[]>`
    select count(*)::int as depth, extract(epoch from now() - min(published_at))::float8 as age
    from (
      select log.published_at from broker_log log
      left join broker_positions at on at.topic = log.topic and at.group_name = ${group}
        and at.partition = log.partition
      where log.topic = ${topic} and (at.xid is null or (log.xid, log.id) > (at.xid, at.id))
      limit ${backlogCountMax}
    ) waiting`
  return { depth: row?.depth ?? 0, ageSeconds: Math.max(0, row?.age ?? 0) }
}
