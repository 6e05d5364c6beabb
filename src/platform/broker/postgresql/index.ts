import {
  afterCommit,
  type Client,
  createGatherer,
  type Gate,
  isRowFault,
  isTransientDatabaseError,
  OverloadedError,
  type Queryable,
  type Rider,
  storedOr,
} from '#src/platform/database/index.ts'
import type { Logger, Metrics } from '#src/platform/observe/index.ts'
import { BrokerUnavailableError } from '../errors.ts'
import { refuseTooLarge } from '../partition.ts'
import { type Broker, type Delivery, type OutgoingMessage, topics } from '../types.ts'
import { backlogOf, createSampler, readSamples } from './backlog.ts'
import { checkOrder } from './check.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { createNotifier, type Notifier } from './notifier.ts'
import { insertMessages, isLetter, queueing } from './publish.ts'
import { createReading } from './reading.ts'

export type PostgresBrokerDeps = {
  readonly logger: Logger
  readonly sql: Client
  /** Names the same database, because consuming opens two connections of its own. */
  readonly dsn: string
  /** Their connections are made only while it is open. */
  readonly gate?: Pick<Gate, 'demandOpen'>
  readonly metrics?: Metrics
  /** Tests set these; otherwise the defaults apply. */
  readonly times?: Partial<BrokerTimes>
}

export type BrokerTimes = {
  /** How long a process that died or froze keeps its lanes from the others. */
  readonly leaseMs: number
  /** How often we look for messages that nobody told of, while other processes are heard. */
  readonly searchEveryMs: number
  /** And while they are not. */
  readonly deafSearchEveryMs: number
  /** How often we look for what committed very late. */
  readonly sweepEveryMs: number
  readonly sampleEveryMs: number
}

/** A broker that takes part in the transactions of its database. */
export type TransactionalBroker = Broker & {
  /** Publishes when the transaction commits, or never: state and event together, without an outbox. */
  publishIn(transaction: Queryable, messages: readonly OutgoingMessage[]): Promise<void>
  /** The same within a statement of that transaction, for messages none of which is a dead letter. */
  publishing(transaction: Queryable, messages: readonly OutgoingMessage[]): Promise<Rider>
  /**
   * Settles messages with the transaction in which their effects are. Its row is the fence of a message: of two
   * processes that handle the same one, only one commits.
   *
   * @throws DeliveryLostError when one is settled already: let it end the transaction
   */
  settleIn(transaction: Queryable, deliveries: readonly Delivery[]): Promise<void>
  /** The same within a statement of that transaction; undefined where there is no row to settle. */
  settling(deliveries: readonly Delivery[]): Rider | undefined
  /**
   * How long no other process may handle the message, by a clock that runs on even while the process stands still; ask
   * before an effect outside of the database.
   */
  leaseLeftMs(delivery: Delivery): number
}

const timesDefault: BrokerTimes = {
  leaseMs: 6_000,
  searchEveryMs: 2_000,
  deafSearchEveryMs: 250,
  sweepEveryMs: 60_000,
  sampleEveryMs: 10_000,
}

/**
 * Queues in PostgreSQL, for installations without Kafka, and the outbox of those with it. A message is a row until it
 * is settled; a lane of a topic has one reader at a time, by a lease, and is read in its order. We rely on no
 * transaction id, session lock or statistic: none of them survives a dump, a frozen process or a pooler.
 *
 * Why not a kept library: pg-boss and graphile-worker are job queues. They hand out single jobs by `SKIP LOCKED`, so
 * two messages of one key run at once or in either order unless each key is a queue of its own, and each costs an
 * update and a delete of its own.
 */
export const createPostgresBroker = (deps: PostgresBrokerDeps): TransactionalBroker => {
  const { sql } = deps
  const times = { ...timesDefault, ...deps.times }
  const lanes = createLanes()
  const notifier = createNotifier(sql, {
    hear: (ids) => reading.hear(ids),
    isOurs: (lane) => reading.isOurs(lane),
    logger: deps.logger,
  })
  const publication = createPublication(sql, lanes, notifier)
  const reading = createReading(deps, { times, lanes, notifier, publish: publication.publish })
  const sampler = createSampler(deps, times.sampleEveryMs)
  return {
    kind: 'postgresql',
    ...publication,
    ...reading.broker,
    backlog: (topic) => backlogOf(sql, topic),
    queues: () => readSamples(sql),
    ping: async () => void (await sql`select 1`),
    checks: () => storedOr([], () => checkOrder(sql)),
    start: async () => {
      // Otherwise the first transaction that names a topic keeps all others that name it waiting until its end.
      await lanes.of(Object.values(topics), sql).catch((err: unknown) => {
        deps.logger.warn({ err }, 'lanes are made when messages come: the database is away')
      })
      await sampler.start()
    },
    stop: async () => {
      await reading.stop()
      await sampler.stop()
      await notifier.close()
    },
  }
}

/** Publications that share a statement, those that wait, and how large one may be to share: larger ones go alone. */
const publicationsMax = 32
/** From so many on, publications are worth a statement beside one that runs. */
const besideMin = 8
const waitingMax = 5_000
const sharedBytesMax = 131_072

const isShared = (messages: readonly OutgoingMessage[]): boolean =>
  !messages.some(isLetter) &&
  messages.reduce((sum, { value }) => sum + value.length, 0) <= sharedBytesMax

/** Publishes messages. During a statement, new messages gather for the next; an unstorable message fails alone. */
const createPublication = (
  sql: Client,
  lanes: Lanes,
  notifier: Notifier,
): Pick<TransactionalBroker, 'publish' | 'publishIn' | 'publishing'> => {
  const insert = async (messages: readonly OutgoingMessage[]): Promise<void> =>
    notifier.tell(await insertMessages(sql, lanes, messages))
  const share = createGatherer<readonly OutgoingMessage[], undefined>({
    write: async (all) => {
      await insert(all.flat())
      return all.map(() => undefined)
    },
    rowsMax: publicationsMax,
    writersMax: 2,
    besideMin,
    waitingMax,
    isRowFault,
  })
  return {
    publish: async (messages) => {
      refuseTooLarge(messages)
      try {
        await (isShared(messages) ? share(messages) : insert(messages))
      } catch (error) {
        if (!isTransientDatabaseError(error) && !(error instanceof OverloadedError)) throw error
        throw new BrokerUnavailableError('the database has not taken the messages', {
          cause: error,
        })
      }
    },
    publishIn: async (transaction, messages) => {
      const ids = await insertMessages(transaction, lanes, messages)
      afterCommit(transaction, () => notifier.tell(ids))
    },
    publishing: (transaction, messages) =>
      queueing(transaction, lanes, messages, (ids) => {
        afterCommit(transaction, () => notifier.tell(ids))
      }),
  }
}
