import { type Client, isTransientDatabaseError } from '#src/platform/database/index.ts'
import { createLoop, type Loop } from '#src/platform/jobs/index.ts'
import { createOutageLog, type Logger } from '#src/platform/observe/index.ts'
import { eventsChannel } from './events.ts'
import { fanOut, markPublished, takeOutbox } from './store.ts'

/** What of the broker is used; the platform's broker is one. */
export type EventBroker = {
  publish(
    messages: readonly {
      readonly topic: string
      readonly key?: string | undefined
      readonly value: Uint8Array
    }[],
  ): Promise<void>
  consume(options: {
    readonly topic: string
    readonly group: string
    readonly batchSizeMax: number
    readonly handler: (batch: readonly { readonly value: Uint8Array }[]) => Promise<void>
    readonly isTransient?: (error: unknown) => boolean
  }): { drain(): Promise<void>; stop(): Promise<void> }
}

const topic = 'webhook.events'
const group = 'webhooks'
const batchSizeMax = 500
/** How often the outbox is looked at without being told: what a crash has left. */
const sweepMs = 1_000

export type Relay = {
  readonly start: () => Promise<void>
  readonly drain: () => Promise<void>
  readonly watched: Loop
}

/**
 * Brings events from the outbox to deliveries: through the broker's `webhook.events`, or at once where
 * there is no broker. An event may pass twice; the second time changes nothing.
 */
export const createRelay = (deps: {
  readonly sql: Client
  readonly broker: EventBroker | undefined
  readonly onDeliveries: () => void
  readonly logger: Logger
}): Relay => {
  const { sql, broker, logger } = deps
  const watched = createLoop('outbox of webhook events')
  const outage = createOutageLog(logger, {
    level: 'error',
    away: 'webhook events could not be relayed',
    back: 'webhook events are relayed again',
  })
  let running: Promise<void> | undefined
  let isWanted = false
  let isDraining = false
  let timer: ReturnType<typeof setInterval> | undefined
  let unlisten: (() => Promise<void>) | undefined
  let consumer: ReturnType<EventBroker['consume']> | undefined

  const relayBatch = (): Promise<number> =>
    sql.begin(async (tx) => {
      const events = await takeOutbox(tx, batchSizeMax)
      if (events.length === 0) return 0
      const ids = events.map(({ id }) => id)
      if (broker === undefined) {
        await fanOut(tx, ids)
      } else {
        await broker.publish(
          events.map(({ id, subject, type }) => ({
            topic,
            key: subject,
            value: Buffer.from(JSON.stringify({ id, type })),
          })),
        )
      }
      await markPublished(tx, ids)
      return events.length
    })

  const relayAll = async (): Promise<void> => {
    try {
      do {
        isWanted = false
        const count = await watched.round(relayBatch)
        if (count > 0 && broker === undefined) deps.onDeliveries()
        if (count === batchSizeMax) isWanted = true
      } while (isWanted && !isDraining)
      outage.worked()
    } catch (error) {
      outage.failed(error)
    }
    running = undefined
  }

  const wake = (): void => {
    isWanted = true
    if (!isDraining) running ??= relayAll()
  }

  return {
    watched,
    start: async () => {
      consumer = broker?.consume({
        topic,
        group,
        batchSizeMax,
        // An event is no dead letter because the database is away.
        isTransient: isTransientDatabaseError,
        handler: async (batch) => {
          await fanOut(sql, batch.map(eventIdOf))
          deps.onDeliveries()
        },
      })
      timer = setInterval(wake, sweepMs)
      try {
        unlisten = (await sql.listen(eventsChannel, wake, wake)).unlisten
      } catch (error) {
        logger.warn({ err: error }, 'events are looked for every second: listening failed')
      }
      wake()
    },
    drain: async () => {
      isDraining = true
      clearInterval(timer)
      await consumer?.stop()
      await unlisten?.().catch(() => undefined)
      await running
    },
  }
}

const eventIdOf = ({ value }: { readonly value: Uint8Array }): string => {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
  const id = typeof parsed === 'object' && parsed !== null && 'id' in parsed ? parsed.id : undefined
  if (typeof id !== 'string') throw new Error('a message of webhook.events names no event')
  return id
}
