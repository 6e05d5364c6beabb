import { Admin, findErrorBy } from '@platformatic/kafka'
import { dayMs } from '#src/platform/runtime/index.ts'
import { type ClusterOptions, clientOptions, closeClient, topicOf } from './client.ts'
import { recordBatchBytesMax } from './sizes.ts'

/** How we create a topic that the cluster does not have. */
export type TopicSettings = {
  readonly partitions: number
  /** Undefined: the cluster's default. */
  readonly replicas: number | undefined
  readonly retentionDays: number
}

export type Topics = {
  /** Creates the topic if it is missing; asks once for each topic. */
  readonly ensure: (name: string) => Promise<void>
  /** The topic may have been deleted: the next `ensure` asks again. */
  readonly forget: (name: string) => void
  readonly close: () => Promise<void>
}

/** All brokers know a new topic within this time. */
const visibleWithinMs = 10_000
const visibleEveryMs = 50

export const openTopics = (cluster: ClusterOptions, settings: TopicSettings): Topics => {
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
      if (!isAnswer(error, 'TOPIC_ALREADY_EXISTS')) throw error
    }
    const end = performance.now() + visibleWithinMs
    while (!(await isUsable(admin, name))) {
      if (performance.now() > end) throw new Error(`topic ${name} was made and does not appear`)
      await Bun.sleep(visibleEveryMs)
    }
  }
  const ensure = async (name: string): Promise<void> => {
    if (!(await isUsable(admin, name))) await create(name)
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

/** True when the topic exists and every partition has a leader. */
const isUsable = async (admin: Admin, name: string): Promise<boolean> => {
  try {
    const topic = await topicOf(admin, name, { isAnew: true })
    return topic?.partitions.every(({ leader }) => leader >= 0) ?? false
  } catch (error) {
    if (isAnswer(error, 'LEADER_NOT_AVAILABLE')) return false
    throw error
  }
}

const isAnswer = (error: unknown, apiId: string): boolean =>
  error instanceof Error && findErrorBy(error, 'apiId', apiId) !== null
