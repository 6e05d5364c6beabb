import type { Logger, Metrics } from '#src/platform/telemetry/index.ts'
import { BrokerUnavailableError, PoisonMessageError, PublishRefusedError } from './errors.ts'
import type { TransactionalBroker } from './postgresql/index.ts'
import { tracedBroker } from './traced.ts'
import {
  type Broker,
  backlogCountMax,
  type Consumer,
  type Delivery,
  type OutgoingMessage,
} from './types.ts'

/** Topic of the log in the database that holds what transactions publish, until it is in the broker. */
export const outboxTopic = 'outbox'
const relayGroup = 'relay'
/** On a message in the outbox: where it is going. */
const topicHeader = 'outbox-topic'
const relayedMax = 200

export type OutboxDeps = {
  /** Outside of the database. */
  readonly broker: Broker
  /** The log in the database. */
  readonly log: TransactionalBroker
  readonly metrics?: Metrics | undefined
  readonly logger: Logger
}

/**
 * Lets a broker outside of the database take part in its transactions: what a transaction publishes is kept in a log
 * there, and relayed right after the commit. The log is the embedded broker's, so the relay has its order by key, its
 * sharing between processes and its repetition after a crash: every message arrives at least once.
 */
export const withOutbox = ({ broker, log, metrics, logger }: OutboxDeps): TransactionalBroker => {
  const target = tracedBroker(broker)
  const outbox = tracedBroker(log)
  let relay: Consumer | undefined
  observe(log, metrics)
  return {
    ...target,
    publishIn: (transaction, messages) => outbox.publishIn(transaction, messages.map(addressed)),
    wake: () => outbox.wake([outboxTopic]),
    backlog: async (topic, group) => {
      const [there, here] = await Promise.all([
        target.backlog(topic, group),
        log.backlog(outboxTopic, relayGroup),
      ])
      // What is in the outbox may be for this topic.
      return {
        depth: Math.min(there.depth + here.depth, backlogCountMax),
        ageSeconds: Math.max(there.ageSeconds, here.ageSeconds),
      }
    },
    start: async () => {
      await log.start()
      await target.start()
      relay = outbox.consume({
        topic: outboxTopic,
        group: relayGroup,
        batchSizeMax: relayedMax,
        handler: (batch) => relayTo(target, batch),
        isTransient: (error) => error instanceof BrokerUnavailableError,
      })
      logger.info({ broker: target.kind }, 'what transactions publish goes through the outbox')
    },
    stop: async () => {
      await relay?.stop()
      await target.stop()
      await log.stop()
    },
  }
}

/** What the broker refuses it will refuse again; only a batch may be refused for what one of its messages is. */
const relayTo = async (target: Broker, batch: readonly Delivery[]): Promise<void> => {
  try {
    await target.publish(batch.map(outgoing))
  } catch (error) {
    if (!(error instanceof PublishRefusedError) || batch.length > 1) throw error
    throw new PoisonMessageError('refused_by_broker', error.message, { cause: error })
  }
}

const addressed = ({ topic, headers, ...message }: OutgoingMessage): OutgoingMessage => ({
  ...message,
  topic: outboxTopic,
  headers: { ...headers, [topicHeader]: topic },
})

const outgoing = ({ key, value, headers: all, publishedAt }: Delivery): OutgoingMessage => {
  const { [topicHeader]: topic, ...headers } = all
  if (topic === undefined) throw new Error('a message in the outbox does not say where it goes')
  return { topic, key, value, headers, publishedAt }
}

const observe = (log: Broker, metrics: Metrics | undefined): void => {
  const age = metrics?.gauge(
    'spigw_broker_outbox_age_seconds',
    'Age of the oldest message of the outbox that is not in the broker yet.',
  )
  metrics?.gauge(
    'spigw_broker_outbox_depth',
    'Messages of the outbox that are not in the broker yet.',
    [],
    async (depth) => {
      const waiting = await log.backlog(outboxTopic, relayGroup).catch(() => undefined)
      if (waiting === undefined) return
      depth.set(waiting.depth)
      age?.set(waiting.ageSeconds)
    },
  )
}
