import { goAlone, type Rider, textArray } from '#src/platform/database/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import { type Engine, startEngine } from '../engine.ts'
import { DeliveryLostError } from '../errors.ts'
import { observeBroker } from '../observe.ts'
import { type Broker, type ConsumeOptions, type Delivery, topics } from '../types.ts'
import { readSamples } from './backlog.ts'
import type { BrokerTimes, PostgresBrokerDeps, TransactionalBroker } from './index.ts'
import { type Lanes, laneOf } from './lanes.ts'
import { createLeases, type Leases } from './leases.ts'
import { joinTopic } from './member.ts'
import type { Notifier } from './notifier.ts'
import { createSearch, notice } from './search.ts'
import { openSession, type Session } from './session.ts'
import { createSweep } from './sweep.ts'

export type ReadingParts = {
  readonly times: BrokerTimes
  readonly lanes: Lanes
  readonly notifier: Notifier
  readonly publish: Broker['publish']
}

export type Reading = {
  readonly broker: Pick<
    TransactionalBroker,
    'consume' | 'loops' | 'settling' | 'settleIn' | 'leaseLeftMs'
  >
  /** Something was published. @returns whether any of it is new to this process */
  readonly hear: (ids: readonly bigint[]) => boolean
  /** True while this process holds the lease of a lane. */
  readonly isOurs: (lane: number) => boolean
  readonly stop: () => Promise<void>
}

const renewalsOfLease = 3
const readTimeoutMs = 40_000

/**
 * How messages get out. All consumers of the process share one connection that keeps its leases, and nothing else,
 * since they are lost if it waits; and one that reads and searches.
 */
export const createReading = (deps: PostgresBrokerDeps, parts: ReadingParts): Reading => {
  const { sql, dsn, gate, logger } = deps
  const { times, lanes, notifier, publish } = parts
  const { leaseMs } = times
  const engines = new Map<string, Engine>()
  const { onDeadLetter } = observeBroker(deps.metrics, () => readSamples(sql))
  const settledWithin = new Set<bigint>()
  const keeper = openSession(dsn, leaseMs, gate)
  const reader = openSession(dsn, readTimeoutMs, gate)
  const wake = (topic: string | undefined): void => {
    if (topic !== undefined) engines.get(topic)?.wake()
  }
  const leases = createLeases({ session: keeper, leaseMs, onClaimed: wake })
  const hear = (ids: readonly bigint[]): boolean => {
    const isNew = notice(leases, ids)
    for (const id of ids) wake(leases.find(laneOf(id))?.topic)
    return isNew
  }
  const owned = () => [...engines.keys()].flatMap(leases.of)
  const untilMsOf = (lane: number): number => leases.find(lane)?.untilMs ?? Number.NEGATIVE_INFINITY
  const settling = (deliveries: readonly Delivery[]): Rider => {
    const ids = deliveries.map(({ offset }) => offset)
    return {
      name: 'settled',
      ctes: (tx) => tx`settled as (
        delete from broker_queue where id = any(${textArray(ids)}::text::bigint[])
        returning id::text as told
      )`,
      done: ({ length }) => {
        const lost = ids.length - length
        if (lost > 0) throw new DeliveryLostError(`${lost} of ${ids.length} are settled already`)
        for (const id of ids) settledWithin.add(id)
      },
    }
  }
  const jobs = createJobs(deps, parts, { leases, reader, owned, hear })
  const [renewing] = jobs

  const consume = (options: ConsumeOptions): Engine => {
    const { topic } = options
    if (topic === topics.deadLetters) throw new Error('dead letters are kept, not consumed')
    if (engines.has(topic)) throw new Error(`${topic} is consumed by this process already`)
    const source = joinTopic(options, { sql, lanes, leases, reader, settledWithin })
    const engine = startEngine(source, options, { publish, onDeadLetter, logger })
    engines.set(topic, engine)
    notifier.listen()
    for (const job of jobs) void job.start()
    renewing.kick()
    const stop = async (): Promise<void> => {
      await engine.stop()
      engines.delete(topic)
    }
    return { ...engine, stop }
  }

  return {
    hear,
    isOurs: (lane) => untilMsOf(lane) > performance.now(),
    broker: {
      consume,
      loops: () => [...engines.values()].map(({ watched }) => watched),
      settling,
      settleIn: async (transaction, deliveries) => {
        if (deliveries.length > 0) await goAlone(transaction, settling(deliveries))
      },
      leaseLeftMs: ({ offset }) => untilMsOf(laneOf(offset)) - performance.now(),
    },
    stop: async () => {
      await Promise.all([...engines.values()].map((engine) => engine.stop()))
      engines.clear()
      await Promise.all(jobs.map((job) => job.stop()))
      await Promise.all([keeper, reader].map((session) => session.close()))
    },
  }
}

/** The regular work of a consuming process: at rest, two statements in two seconds. */
const createJobs = (
  { sql, logger }: PostgresBrokerDeps,
  { times, lanes, notifier }: ReadingParts,
  of: {
    readonly leases: Leases
    readonly reader: Session
    readonly owned: () => ReturnType<Leases['of']>
    readonly hear: Reading['hear']
  },
) => {
  const search = createSearch(of.reader)
  const sweep = createSweep(sql)
  let searchedMs = Number.NEGATIVE_INFINITY
  const vital = { isVital: true, logger }
  return [
    createJob({
      ...vital,
      name: 'leases of the broker',
      everyMs: times.leaseMs / renewalsOfLease,
      run: () => of.leases.turn(lanes),
    }),
    createJob({
      ...vital,
      name: 'search of the queues',
      everyMs: times.deafSearchEveryMs,
      run: async () => {
        const nowMs = performance.now()
        if (notifier.isHearing() && nowMs - searchedMs < times.searchEveryMs) return
        const found = await search.look(of.owned())
        // A failed search repeats at once: a round without a question would look like a success.
        searchedMs = nowMs
        if (of.hear(found)) notifier.missed()
      },
    }),
    createJob({
      name: 'late messages of the queues',
      everyMs: times.sweepEveryMs,
      logger,
      run: async () => of.hear(await sweep.look(of.owned())),
    }),
  ] as const
}
