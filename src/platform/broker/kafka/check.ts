import { Admin, ConfigResourceTypes } from '@platformatic/kafka'
import { type Check, checkOf } from '#src/platform/lifecycle/feature.ts'
import { topics as topicNames } from '../types.ts'
import { type ClusterOptions, clientOptions, closeClient, topicOf } from './client.ts'
import { plainError } from './errors.ts'
import { recordBatchBytesMax } from './sizes.ts'
import type { TopicSettings } from './topics.ts'

const check = checkOf('Kafka')
const limitName = 'max.message.bytes'

/** Checks whether Kafka answers and its topics suit us. Changes nothing. */
export const checkCluster = async (
  cluster: ClusterOptions,
  settings: TopicSettings,
): Promise<readonly Check[]> => {
  const admin = new Admin(clientOptions(cluster))
  try {
    await admin.metadata({ topics: [], forceUpdate: true })
    const there: string[] = []
    for (const topic of Object.values(topicNames)) {
      if ((await topicOf(admin, topic)) !== undefined) there.push(topic)
    }
    const answers = check.ok(`${cluster.addresses.join(', ')} answers`)
    return [answers, ...missing(there, settings), ...(await tooLow(admin, there))]
  } catch (error) {
    return [
      check.failed(
        plainError(error).message,
        'check BROKER_ADDRESSES, TRILHO_BROKER_TLS, TRILHO_BROKER_SASL_MECHANISM, and the network between',
      ),
    ]
  } finally {
    await closeClient(admin)
  }
}

/** A topic of one replica loses what is not read yet when its broker is lost. */
const unsafe = (topics: readonly string[]): readonly Check[] =>
  topics.length === 0
    ? []
    : [
        check.warning(
          `one replica alone: ${topics.join(', ')}`,
          'raise the replicas of the topics to 3, and their min.insync.replicas to 2',
        ),
      ]

const missing = (there: readonly string[], settings: TopicSettings): readonly Check[] => {
  const absent = Object.values(topicNames).filter((topic) => !there.includes(topic))
  if (absent.length === 0) return []
  const replicas = settings.replicas ?? 'the cluster\u2019s number of'
  return [
    check.ok(
      `${absent.join(', ')}: to be made, with ${settings.partitions} partitions and ${replicas} replicas`,
    ),
  ]
}

const tooLow = async (admin: Admin, there: readonly string[]): Promise<readonly Check[]> => {
  if (there.length === 0) return []
  const described = await admin.describeConfigs({
    resources: there.map((resourceName) => ({
      resourceType: ConfigResourceTypes.TOPIC,
      resourceName,
      configurationKeys: [limitName],
    })),
  })
  const checks: Check[] = []
  const alone: string[] = []
  for (const { resourceName, configs } of described) {
    const limit = Number(configs.find((config) => config.name === limitName)?.value)
    const topic = await topicOf(admin, resourceName)
    const partitions = topic?.partitionsCount ?? 0
    if (topic?.partitions.some(({ replicas }) => replicas.length < 2)) alone.push(resourceName)
    const detail = `${resourceName}: ${partitions} partitions, messages up to ${limit} bytes`
    checks.push(
      limit >= recordBatchBytesMax
        ? check.ok(detail)
        : check.warning(
            `${detail}: a large one will be refused`,
            `set ${limitName}=${recordBatchBytesMax} on the topic`,
          ),
    )
  }
  return [...checks, ...unsafe(alone)]
}
