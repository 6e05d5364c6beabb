import { type Client, withDeadlockRetries } from '#src/platform/database/index.ts'
import { createJob, type Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import {
  applyCrossed,
  endBooked,
  endUnawaited,
  firstPlace,
  type LateAnswer,
  type LateDeps,
  reportedEnds,
} from '../../messages/index.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { Receivables } from './received.ts'
import { createStuckWalk } from './stuck.ts'

const everyMs = 60_000
/** The SPI ends a payment within the minute. Who has none after that missed the report, until a person looks. */
const endedWithinMs = 60_000
const missedWithinMs = 2 * dayMs
/** How long a round walks on among SENT and among UNKNOWN messages; the next round does the rest. */
const walkMsMax = 30_000

export type PendingDeps = LateDeps & {
  readonly sql: Client
  readonly receivables?: Receivables | undefined
  readonly metrics: WorkerMetrics
  readonly logger: Logger
}

/** The rare look for answers that crossed the record of their sending. */
export const createPending = (deps: PendingDeps): Job => {
  const { sql, logger } = deps
  let place = firstPlace
  let unknownPlace = firstPlace
  const endStuck = deps.receivables && createStuckWalk(sql, deps.receivables)
  return createJob({
    name: 'remembered answers',
    everyMs,
    isVital: true,
    fleet: { sql },
    logger,
    run: async () => {
      for (const late of await withDeadlockRetries(sql, (tx) => applyCrossed(tx, deps))) {
        reportLate(late, deps)
      }
      await endMissed(deps)
      await endStuck?.(new Date(Date.now() - endedWithinMs))
      place = await walkOn(place, async (from) => {
        const { ended, place: next } = await sql.begin((tx) => endUnawaited(tx, from, deps))
        for (const { sent, change } of ended) deps.metrics.onStatusChange(sent.type, change.status)
        if (ended.length > 0) {
          logger.info({ messages: ended.length }, 'sent messages have ended that wait for nothing')
        }
        return next
      })
      unknownPlace = await walkOn(unknownPlace, async (from) => {
        const { ended, place: next } = await endBooked(sql, from, deps)
        for (const { sent, change } of ended) {
          deps.metrics.onStatusChange(sent.type, change.status)
          const { id, type } = sent
          logger.info({ id, type }, 'sent message has ended: it is told to be booked')
        }
        return next
      })
    },
  })
}

/**
 * Walks from a place until nothing is after it, or the time of a round is over.
 *
 * @param walk - returns where it ended; undefined: there is nothing after it
 * @returns where the next round begins
 */
const walkOn = async (
  from: string,
  walk: (place: string) => Promise<string | undefined>,
): Promise<string> => {
  const endMs = performance.now() + walkMsMax
  let place = from
  do {
    const next = await walk(place)
    if (next === undefined) return firstPlace
    place = next
  } while (performance.now() < endMs)
  return place
}

/** Ends payments whose report was stored at the moment at which they were: neither saw the other. */
const endMissed = async ({ sql, receivables }: PendingDeps): Promise<void> => {
  if (receivables === undefined) return
  const nowMs = Date.now()
  const [from, to] = [new Date(nowMs - missedWithinMs), new Date(nowMs - endedWithinMs)]
  const ends = await reportedEnds(sql, await receivables.pending(sql, from, to))
  if (ends.length === 0) return
  await withDeadlockRetries(sql, (tx) => receivables.end(tx, ends, new Date(nowMs)))
}

export const reportLate = (
  { change: { id, status, detail }, sent: { type, bizMsgIdr } }: LateAnswer,
  { metrics, logger }: Pick<PendingDeps, 'metrics' | 'logger'>,
): void => {
  metrics.onStatusChange(type, status)
  logger.info(
    { id, type, biz_msg_idr: bizMsgIdr, status, detail },
    'sent message is answered: the answer had come before its PI-ResourceId was recorded',
  )
}
