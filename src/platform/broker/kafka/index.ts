import type { Metrics } from '#src/platform/observe/index.ts'
import { inTime } from '#src/platform/runtime/index.ts'
import type { Engine } from '../engine.ts'
import { BrokerUnavailableError } from '../errors.ts'
import { observeBroker } from '../observe.ts'
import { type Broker, readers } from '../types.ts'
import type { Cluster, ClusterDeps } from './cluster.ts'

/** Shorter than a health check may take, so that we tell a silent cluster from a check that hangs. */
const pingTimeoutMs = 400
/** When Kafka is away, a scrape goes on after this time without these figures. */
const backlogTimeoutMs = 3_000

export type KafkaBrokerDeps = ClusterDeps & { readonly metrics?: Metrics }

/** Topics in Apache Kafka, 3.5 or newer. Nothing is connected before `start`, which does not wait for Kafka. */
export const createKafkaBroker = (deps: KafkaBrokerDeps): Broker => {
  const engines = new Set<Engine>()
  const observer = observeBroker(deps.metrics, async () => {
    const asked = Object.entries(readers).map(async ([topic, group]) => {
      const waiting = await broker.backlog(topic, group).catch(() => undefined)
      return waiting === undefined ? [] : [{ ...waiting, topic, partitionsRead: undefined }]
    })
    return (await Promise.all(asked)).flat()
  })
  let cluster: Cluster | undefined
  const opened = (): Cluster => {
    if (cluster === undefined) throw new BrokerUnavailableError('the broker is not started')
    return cluster
  }
  const broker: Broker = {
    kind: 'kafka',
    publish: async (messages) => opened().publish(messages),
    consume: (options) => {
      const engine = opened().consume(options, observer.onDeadLetter)
      engines.add(engine)
      const stop = async (): Promise<void> => {
        await engine.stop()
        engines.delete(engine)
      }
      return { drain: engine.drain, stop }
    },
    backlog: async (topic, group) => inTime(opened().backlog(topic, group), backlogTimeoutMs),
    ping: async () => inTime(opened().ping(), pingTimeoutMs),
    checks: async () => {
      const { checkCluster } = await import('./check.ts')
      return checkCluster(deps.cluster, deps.topics)
    },
    loops: () => [...engines].map(({ watched }) => watched),
    start: async () => {
      // The library takes a fifth of a second and 80 MB to load; a process without Kafka must not pay for it.
      const { openCluster } = await import('./cluster.ts')
      cluster ??= openCluster(deps)
    },
    stop: async () => {
      await Promise.all([...engines].map((engine) => engine.stop()))
      await cluster?.close()
      cluster = undefined
    },
  }
  return broker
}
