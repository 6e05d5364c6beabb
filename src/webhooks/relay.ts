import {
  type Consumer,
  readers,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import { type Client, isTransientDatabaseError } from '#src/platform/database/index.ts'
import { createJob, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { eventsChannel } from './hints.ts'
import { createWholeLooks, lowOf } from './lows.ts'
import { bringEvents, fanOut, hasUnpublished, markPublished, takeOutbox } from './outbox.ts'

/** The part of the broker that we use. */
export type EventBroker = Pick<TransactionalBroker, 'publishIn' | 'consume' | 'settleIn'>

const topic = topics.webhookEvents
const group = readers[topic]
const batchSizeMax = 500
/** How often we look into the outbox unasked, for what a crash has left. */
const sweepMs = 1_000
/** The same while sweeps find nothing: then we hear every emitter. */
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
  /** Accounts whose endpoints get the events that belong to no account. */
  readonly institution: readonly string[]
  /** Gets the endpoints of new deliveries. */
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

  const looks = createLooks(deps)
  const hear = (isBrought = false): void => {
    looks.told(isBrought)
    outbox.kick()
  }

  const outbox = createJob({
    name: 'outbox of webhook events',
    everyMs: sweepMs,
    restMs: sweepRestMs,
    isVital: true,
    run: looks.run,
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
          if (count > 0) hear(true)
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
        const onHeard = (): void => hear()
        unlisten = (await sql.listen(eventsChannel, onHeard, onHeard)).unlisten
      } catch (error) {
        looks.deaf()
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

/** Looks into the outbox. */
const createLooks = (deps: RelayDeps) => {
  /** False behind a pooler of transactions, where we hear nobody. */
  let isHearing = true
  let isTold = false
  /** True for events of another database, with the moments of their making there. */
  let isBrought = false
  const isWholeNow = createWholeLooks()
  let low: Date | undefined
  return {
    told: (brought: boolean): void => {
      isHearing = true
      isTold = true
      isBrought ||= brought
    },
    deaf: (): void => {
      isHearing = false
    },
    run: async ({ signal, advance }: Round): Promise<unknown> => {
      const wasTold = isTold
      isTold = false
      if (!wasTold && !(await hasUnpublished(deps.sql))) return isHearing ? nothingFound : undefined
      if (!wasTold) isHearing = false
      let from = isWholeNow(!wasTold || isBrought) ? undefined : low
      isBrought = false
      for (let count = batchSizeMax; count === batchSizeMax && !signal.aborted; ) {
        const taken = await relayBatch(deps, from)
        count = taken.count
        if (taken.last !== undefined) low = lowOf(taken.last)
        from = low
        advance()
      }
      return undefined
    },
  }
}

/** @returns how many events it took, and when the last of them was made */
const relayBatch = async (
  deps: RelayDeps,
  low: Date | undefined,
): Promise<{ readonly count: number; readonly last: Date | undefined }> => {
  const { sql, broker, institution, onDeliveries } = deps
  const { events, endpoints } = await sql.begin(async (tx) => {
    const events = await takeOutbox(tx, batchSizeMax, low)
    if (events.length === 0) return { events, endpoints: [] }
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
    return { events, endpoints: told }
  })
  if (endpoints.length > 0) onDeliveries(endpoints)
  return { count: events.length, last: events.at(-1)?.createdAt }
}

const eventIdOf = ({ value }: { readonly value: Uint8Array }): string => {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  const id = typeof parsed === 'object' && parsed !== null && 'id' in parsed ? parsed.id : undefined
  if (typeof id !== 'string') throw new Error('a message of webhook.events names no event')
  return id
}
