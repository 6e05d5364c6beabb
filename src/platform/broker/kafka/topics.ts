import { Admin } from '@platformatic/kafka'
import { protocolErrorCodes as codes, hasProtocolError } from './errors.ts'
import { recordBatchBytesMax } from './sizes.ts'
import { type ClusterOptions, clientOptions, closeClient, type Wire } from './wire.ts'

/** What a topic is made with when the cluster does not have it. */
export type TopicSettings = {
  readonly partitions: number
  /** Undefined: the cluster's default. */
  readonly replicas: number | undefined
  readonly retentionDays: number
}

export type Topics = {
  /** Makes the topic when it is not there; asked once for each. */
  readonly ensure: (name: string) => Promise<void>
  /** It may have been deleted: ask again. */
  readonly forget: (name: string) => void
  readonly close: () => Promise<void>
}

const dayMs = 86_400_000
/** A new topic is known to all brokers within this. */
const visibleWithinMs = 10_000
const visibleEveryMs = 50

export const openTopics = (
  cluster: ClusterOptions,
  settings: TopicSettings,
  control: Wire,
): Topics => {
  const admin = new Admin(clientOptions(cluster))
  const known = new Map<string, Promise<void>>()
  const create = async (name: string): Promise<void> => {
    try {
      await admin.createTopics({
        topics: [name],
        partitions: settings.partitions,
        // -1 is the cluster's default.
        replicas: settings.replicas ?? -1,
        configs: [
          { name: 'max.message.bytes', value: String(recordBatchBytesMax) },
          { name: 'retention.ms', value: String(settings.retentionDays * dayMs) },
          { name: 'cleanup.policy', value: 'delete' },
        ],
      })
    } catch (error) {
      if (!hasProtocolError(error, codes.topicAlreadyExists)) throw error
    }
    const end = performance.now() + visibleWithinMs
    while (!(await isUsable(control, name))) {
      if (performance.now() > end) throw new Error(`topic ${name} was made and does not appear`)
      await Bun.sleep(visibleEveryMs)
    }
  }
  const ensure = async (name: string): Promise<void> => {
    if (!(await isUsable(control, name))) await create(name)
  }
  return {
    ensure: (name) => {
      const found = known.get(name) ?? ensure(name)
      known.set(name, found)
      found.catch(() => known.delete(name))
      return found
    },
    forget: (name) => {
      known.delete(name)
    },
    close: () => closeClient(admin),
  }
}

/** There, and every partition has a leader. */
const isUsable = async (control: Wire, name: string): Promise<boolean> => {
  try {
    const topic = await control.topic(name, 0)
    return topic?.leaders.every((leader) => leader >= 0) ?? false
  } catch (error) {
    if (hasProtocolError(error, codes.leaderNotAvailable)) return false
    throw error
  }
}
