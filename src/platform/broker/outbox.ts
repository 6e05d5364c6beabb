import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { BrokerUnavailableError, PoisonMessageError, PublishRefusedError } from './errors.ts'
import { ageOf, depthOf, gaugeQueues, shownOffset } from './observe.ts'
import { addressed, isAddressed, outboxTopic, unaddressed } from './outbox-message.ts'
import type { TransactionalBroker } from './postgresql/index.ts'
import { tracedBroker } from './traced.ts'
import {
  type Broker,
  backlogCountMax,
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type OutgoingMessage,
  readers,
  topics,
} from './types.ts'

const relayGroup = 'relay'
const relayedMax = 200
/** A lease that ends sooner may be another's before Kafka has the messages. */
const leaseLeftLeastMs = 500
const keptMax = 50

export type OutboxDeps = {
  /** The broker outside of the database. */
  readonly broker: Broker
  /** The log in the database. */
  readonly log: TransactionalBroker
  /** Undefined: only the letter tells what the broker outside refuses. */
  readonly refusals?: Refusals | undefined
  readonly metrics?: Metrics | undefined
  readonly logger: Logger
}

export type Refusals = {
  /** The client of the log's database. */
  readonly sql: Client
  /** Ends what a message was to do that goes to `dlq` from the outbox, in the transaction that writes its letter. */
  readonly end: (tx: Transaction, message: OutgoingMessage, errorCode: string) => Promise<void>
}

/**
 * Lets a broker outside of the database take part in its transactions. We keep what a transaction publishes in a log
 * there, and relay it right after the commit. The log is the embedded broker's, so the relay has its order by key, its
 * sharing between processes and its repetition after a crash: every message arrives at least once.
 */
export const withOutbox = (deps: OutboxDeps): TransactionalBroker => {
  const { broker, log, refusals, metrics, logger } = deps
  const target = tracedBroker(broker)
  const outbox = tracedBroker(log)
  let consumers: readonly Consumer[] = []
  observe(log, metrics)
  return {
    ...target,
    publishIn: (transaction, messages) => outbox.publishIn(transaction, messages.map(addressed)),
    publishing: (transaction, messages) => outbox.publishing(transaction, messages.map(addressed)),
    // Positions in the broker outside are written after the effects, whose keys tell what was handled twice.
    settleIn: async () => {},
    settling: () => undefined,
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    checks: async () => (await Promise.all([target.checks?.() ?? [], log.checks?.() ?? []])).flat(),
    queues: () => log.queues?.() ?? Promise.resolve([]),
    backlog: async (topic, group) => {
      const [there, here] = await Promise.all([
        target.backlog(topic, group),
        log.backlog(outboxTopic, relayGroup),
      ])
      // The outbox may hold messages for this topic.
      return {
        depth: Math.min(there.depth + here.depth, backlogCountMax),
        ageSeconds: Math.max(there.ageSeconds, here.ageSeconds),
      }
    },
    loops: () => [...log.loops(), ...target.loops()],
    start: async () => {
      await log.start()
      await target.start()
      const relay = outbox.consume({
        topic: outboxTopic,
        group: relayGroup,
        batchSizeMax: relayedMax,
        handler: (batch) => {
          const isOurs = batch.every((one) => log.leaseLeftMs(one) > leaseLeftLeastMs)
          if (!isOurs) throw new BrokerUnavailableError('the lease of the outbox ends')
          return relayTo(target, batch)
        },
        isTransient: isAway,
        isToldElsewhere: isAway,
        ...(refusals === undefined ? {} : { bury: buryIn(outbox, refusals) }),
      })
      consumers = [relay, keepLetters(target, log, logger)]
      logger.info({ broker: target.kind }, 'what transactions publish goes through the outbox')
    },
    stop: async () => {
      await Promise.all(consumers.map((consumer) => consumer.stop()))
      await target.stop()
      await log.stop()
    },
  }
}

const isAway = (error: unknown): boolean => error instanceof BrokerUnavailableError

const buryIn =
  (outbox: TransactionalBroker, { sql, end }: Refusals): NonNullable<ConsumeOptions['bury']> =>
  (letter, delivery, errorCode) =>
    sql.begin(async (tx) => {
      await outbox.publishIn(tx, [letter])
      await outbox.settleIn(tx, [delivery])
      if (isAddressed(delivery)) await end(tx, unaddressed(delivery), errorCode)
    })

/** Publishes a refused batch one by one, since one message may be to blame; the broker would refuse that one again. */
const relayTo = async (target: Broker, batch: readonly Delivery[]): Promise<void> => {
  try {
    await target.publish(batch.map(unaddressed))
  } catch (error) {
    if (!(error instanceof PublishRefusedError) || batch.length > 1) throw error
    throw new PoisonMessageError('refused_by_broker', error.message, { cause: error })
  }
}

/**
 * Copies dead letters to the log, where people find them with the same command as without Kafka. If the log cannot hold
 * one, it stays where it is: to bury it again would never end.
 */
const keepLetters = (target: Broker, log: Broker, logger: Logger): Consumer =>
  target.consume({
    topic: topics.deadLetters,
    group: readers[topics.deadLetters],
    batchSizeMax: keptMax,
    isTransient: isAway,
    handler: async (batch) => {
      try {
        await log.publish(
          batch.map(({ topic, key, value, headers }) => ({ topic, key, value, headers })),
        )
      } catch (error) {
        if (error instanceof BrokerUnavailableError || batch.length > 1) throw error
        const [{ partition, offset } = { partition: -1, offset: -1n }] = batch
        const fields = { partition, offset: shownOffset(offset), err: error }
        logger.error(fields, 'a dead letter cannot be kept in the database')
      }
    },
  })

const observe = (log: Broker, metrics: Metrics | undefined): void =>
  gaugeQueues(metrics, [], {
    ask: async () =>
      ((await log.queues?.()) ?? [])
        .filter(({ topic }) => topic === outboxTopic)
        .map((state) => ({ labels: {}, state })),
    gauges: [
      [
        'spigw_broker_outbox_depth',
        'Messages of the outbox that are not in the broker yet.',
        depthOf,
      ],
      [
        'spigw_broker_outbox_age_seconds',
        'Age of the oldest message of the outbox that is not in the broker yet.',
        ageOf,
      ],
    ],
  })
