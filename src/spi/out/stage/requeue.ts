import { type TransactionalBroker, topics } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { requeueMessages } from '../../messages/index.ts'
import { hasOverdue, requeuePauseMs, takeLost } from './store.ts'

export type RequeueDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'backlog' | 'publishIn'>
  /** The group of the consumers of `spi.outbound`. */
  readonly group: string
  /** A message that is queued for longer than this should have been sent. */
  readonly queuedLongMs: number
  readonly onRequeued: (messages: number) => void
  readonly logger: Logger
}

/** Messages of one transaction, and transactions of one round. */
const requeuedMax = 200
const transactionsMax = 10
/** Clocks differ, and an entry is older than its row by the length of a transaction. */
const slackMs = 10_000

/**
 * Puts QUEUED messages whose queue entry is missing on the queue: it was purged, the process that sent the message
 * without a queue died, or the message was set aside. We touch only messages older than
 * everything in the queue, however long the central bank is away. One entry too many does no harm.
 */
export const createRequeue = (deps: RequeueDeps) => async (): Promise<void> => {
  const { sql, broker, group, queuedLongMs, onRequeued, logger } = deps
  const now = new Date()
  const queuedBefore = new Date(now.getTime() - queuedLongMs)
  if (!(await hasOverdue(sql, { now, queuedBefore }))) return
  const { depth, ageSeconds } = await broker.backlog(topics.outbound, group)
  const waitedMs = depth === 0 ? 0 : ageSeconds * 1000 + slackMs
  const entriesBefore = new Date(now.getTime() - waitedMs)
  const limits = { now, queuedBefore, entriesBefore, pauseMs: requeuePauseMs, limit: requeuedMax }
  for (let transactions = 0; transactions < transactionsMax; transactions++) {
    const requeued = await sql.begin(async (tx) => {
      const messages = await takeLost(tx, limits)
      if (messages.length > 0) await requeueMessages(tx, broker, messages)
      return messages
    })
    if (requeued.length === 0) return
    const lost = requeued.filter(({ isLost }) => isLost)
    if (lost.length > 0) {
      onRequeued(lost.length)
      const ids = lost.slice(0, 10).map(({ id }) => id)
      logger.warn({ messages: lost.length, ids }, 'queued messages were not in the queue')
    }
    const others = requeued.length - lost.length
    if (others > 0)
      logger.debug({ messages: others }, 'messages are back on the queue at their time')
    if (requeued.length < requeuedMax) return
  }
}
