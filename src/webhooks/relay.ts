import {
  type Consumer,
  readers,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import { type Client, isTransientDatabaseError } from '#src/platform/database/index.ts'
import { createJob, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { eventsChannel } from './events.ts'
import { bringEvents, fanOut, hasUnpublished, markPublished, takeOutbox } from './outbox.ts'

/** The part of the broker that we use. */
export type EventBroker = Pick<TransactionalBroker, 'publishIn' | 'consume' | 'settleIn'>

const topic = topics.webhookEvents
const group = readers[topic]
const batchSizeMax = 500
/** How often we look into the outbox unasked, for what a crash has left. */
const sweepMs = 1_000
/** The same while nothing is found unasked: then whoever emits is heard. */
const sweepRestMs = 5_000

export type Relay = {
  readonly start: () => Promise<void>
  readonly drain: () => Promise<void>
}

type RelayDeps = {
  readonly sql: Client
  readonly broker: EventBroker | undefined
  /** Other databases, without endpoints, in which we emit events. */
  readonly elsewhere?: readonly Client[]
  /** Accounts whose endpoints are told of what belongs to no account. */
  readonly institution: readonly string[]
  /** Says for which endpoints. */
  readonly onDeliveries: (endpoints: readonly string[]) => void
  readonly logger: Logger
}

/**
 * Turns events of the outbox into deliveries: through the broker's `webhook.events`, or directly if there is
 * no broker. An event may pass twice; the second time changes nothing.
 */
export const createRelay = (deps: RelayDeps): Relay => {
  const { sql, broker, elsewhere = [], institution, logger } = deps
  let unlisten: (() => Promise<void>) | undefined
  let consumer: Consumer | undefined

  /** Behind a pooler of transactions nobody is heard. */
  let isHearing = true
  let isTold = false
  const hear = (): void => {
    isHearing = true
    isTold = true
    outbox.kick()
  }

  const relayAll = async ({ signal, advance }: Round): Promise<unknown> => {
    const wasTold = isTold
    isTold = false
    if (!wasTold && !(await hasUnpublished(sql))) return isHearing ? nothingFound : undefined
    if (!wasTold) isHearing = false
    for (let count = batchSizeMax; count === batchSizeMax && !signal.aborted; ) {
      count = await relayBatch(deps)
      advance()
    }
    return undefined
  }
  const outbox = createJob({
    name: 'outbox of webhook events',
    everyMs: sweepMs,
    restMs: sweepRestMs,
    isVital: true,
    run: relayAll,
    logger,
  })
  const others = elsewhere.map((from) =>
    createJob({
      name: 'webhook events of another database',
      everyMs: sweepMs,
      isVital: true,
      run: async ({ signal, advance }) => {
        for (let count = batchSizeMax; count === batchSizeMax && !signal.aborted; ) {
          count = await bringEvents(from, sql, batchSizeMax)
          advance()
          if (count > 0) hear()
        }
      },
      logger,
    }),
  )

  return {
    start: async () => {
      consumer = broker?.consume({
        topic,
        group,
        batchSizeMax,
        // An absent database must not turn an event into a dead letter.
        isTransient: isTransientDatabaseError,
        handler: async (batch) => {
          const ids = batch.map(eventIdOf)
          const endpoints = await sql.begin(async (tx) => {
            const told = await fanOut(tx, ids, institution)
            await broker.settleIn(tx, batch)
            return told
          })
          deps.onDeliveries(endpoints)
        },
      })
      try {
        unlisten = (await sql.listen(eventsChannel, hear, hear)).unlisten
      } catch (error) {
        isHearing = false
        logger.warn({ err: error }, 'events are looked for every second: listening failed')
      }
      for (const job of [outbox, ...others]) await job.start()
    },
    drain: async () => {
      await consumer?.stop()
      await unlisten?.().catch(() => undefined)
      for (const job of [...others, outbox]) await job.stop()
    },
  }
}

/** @returns how many events it took */
const relayBatch = async (deps: RelayDeps): Promise<number> => {
  const { sql, broker, institution, onDeliveries } = deps
  const { count, endpoints } = await sql.begin(async (tx) => {
    const events = await takeOutbox(tx, batchSizeMax)
    if (events.length === 0) return { count: 0, endpoints: [] }
    const ids = events.map(({ id }) => id)
    const told = broker === undefined ? await fanOut(tx, ids, institution) : []
    if (broker !== undefined) {
      await broker.publishIn(
        tx,
        events.map(({ id, subject, type }) => ({
          topic,
          key: subject,
          value: Buffer.from(JSON.stringify({ id, type })),
        })),
      )
    }
    await markPublished(tx, ids)
    return { count: events.length, endpoints: told }
  })
  if (endpoints.length > 0) onDeliveries(endpoints)
  return count
}

const eventIdOf = ({ value }: { readonly value: Uint8Array }): string => {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  const id = typeof parsed === 'object' && parsed !== null && 'id' in parsed ? parsed.id : undefined
  if (typeof id !== 'string') throw new Error('a message of webhook.events names no event')
  return id
}
