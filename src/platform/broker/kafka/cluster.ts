import { Admin } from '@platformatic/kafka'
import type { Logger } from '#src/platform/observe/index.ts'
import { type Engine, startEngine } from '../engine.ts'
import type { Backlog, ConsumeOptions } from '../types.ts'
import { topics as topicNames } from '../types.ts'
import { backlogOf } from './backlog.ts'
import { type ClusterOptions, clientOptions, closeClient } from './client.ts'
import { plainError } from './errors.ts'
import { sessionTimeoutDefaultMs } from './group.ts'
import { joinGroup } from './member.ts'
import { openPublisher, type Publisher } from './publisher.ts'
import { openTopics, type TopicSettings } from './topics.ts'

export type ClusterDeps = {
  readonly cluster: ClusterOptions
  readonly topics: TopicSettings
  readonly publishTimeoutMs?: number | undefined
  readonly sessionTimeoutMs?: number | undefined
  readonly logger: Logger
}

export type Cluster = {
  readonly publish: Publisher['publish']
  readonly consume: (
    options: ConsumeOptions,
    onDeadLetter: (topic: string, errorCode: string) => void,
  ) => Engine
  readonly backlog: (topic: string, group: string) => Promise<Backlog>
  readonly ping: () => Promise<void>
  readonly close: () => Promise<void>
}

/** As in the other brokers, a group belongs to one topic, so we name it after both. */
const groupIdOf = (topic: string, group: string): string => `${group}.${topic}`

const topicsRetryMs = 1_000
/** A cluster that has just started, or a partition with a new leader, answers within this. */
const controlRetry = { retries: 10, retryDelay: 100 }

/** Everything that needs the client library: we load it only if Kafka is used. */
export const openCluster = ({
  cluster,
  topics: settings,
  publishTimeoutMs,
  sessionTimeoutMs = sessionTimeoutDefaultMs,
  logger,
}: ClusterDeps): Cluster => {
  const control = new Admin({ ...clientOptions(cluster), ...controlRetry })
  const topics = openTopics(cluster, settings)
  const publisher = openPublisher(cluster, topics, publishTimeoutMs)
  const closing = new AbortController()
  const prepared = prepare(topics.ensure, logger, closing.signal)
  return {
    publish: publisher.publish,
    consume: (options, onDeadLetter) => {
      const { topic, group } = options
      let engine: Engine | undefined
      const source = joinGroup({
        cluster,
        control,
        topic,
        sessionTimeoutMs,
        logger,
        groupId: groupIdOf(topic, group),
        ensureTopic: () => topics.ensure(topic),
        onNews: () => engine?.wake(),
      })
      engine = startEngine(source, options, { publish: publisher.publish, onDeadLetter, logger })
      return engine
    },
    backlog: (topic, group) => backlogOf(control, groupIdOf(topic, group), topic),
    ping: async () => {
      await control.metadata({ topics: [], forceUpdate: true, retries: 0 })
    },
    close: async () => {
      closing.abort()
      await Promise.all([publisher.close(), topics.close(), closeClient(control)])
      await prepared
    },
  }
}

/** Creates the topics of the specification as soon as the cluster answers. */
const prepare = async (
  ensure: (topic: string) => Promise<void>,
  logger: Logger,
  closing: AbortSignal,
): Promise<void> => {
  let isAway = false
  for (const topic of Object.values(topicNames)) {
    while (!closing.aborted) {
      try {
        await ensure(topic)
        break
      } catch (error) {
        if (!isAway && !closing.aborted) {
          const fields = { topic, err: plainError(error) }
          logger.warn(fields, 'a topic can be neither found nor made: trying again')
        }
        isAway = true
        await Bun.sleep(topicsRetryMs)
      }
    }
  }
}
