import { type TransactionalBroker, topics } from '#src/platform/broker/index.ts'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { costOf, type Line, lines } from '../../link/index.ts'
import { firstPlace, requeueMessages } from '../../messages/index.ts'
import {
  hasOverdue,
  lockLine,
  noteCalled,
  type Overdue,
  type Requeued,
  takeOverdue,
  type Waiting,
} from './entries.ts'

export type RequeueDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'backlog' | 'publishIn'>
  /** The group of the consumers of `spi.outbound`. */
  readonly group: string
  /** The tokens that there are for who stands in a line. */
  readonly room: (line: Line) => Promise<number>
  /** A message whose entry is on the queue for longer than this should have been sent. */
  readonly queuedLongMs: number
  /** Called with how many had lost their entry. */
  readonly onRequeued: (messages: number) => void
  readonly logger: Logger
}

/** Messages of one transaction, and transactions of one round. */
const requeuedMax = 200
const transactionsMax = 10
/** Clocks differ, and an entry is older than its row by the length of a transaction. */
const slackMs = 10_000
/** By then a called message has its tokens, or its entry stands in the queue and others may have them. */
const calledForMs = 5_000

/**
 * Puts QUEUED messages without a queue entry on the queue: it was purged, the process that sent the message without a
 * queue died, the message was set aside, or it is the first in its line and the channel has room. Whether an entry is
 * lost, we ask only of messages older than everything in the queue, however long the central bank is away. One entry
 * too many does no harm.
 */
export const createRequeue = (deps: RequeueDeps) => async (): Promise<void> => {
  const { sql, broker, group, queuedLongMs } = deps
  const now = new Date()
  const queuedBefore = new Date(now.getTime() - queuedLongMs)
  if (!(await hasOverdue(sql, { now, lostBefore: queuedBefore }))) return
  const { depth, ageSeconds } = await broker.backlog(topics.outbound, group)
  const waitedMs = depth === 0 ? 0 : ageSeconds * 1000 + slackMs
  const lostBefore = new Date(Math.min(queuedBefore.getTime(), now.getTime() - waitedMs))
  const overdue = { now, lostBefore }
  await inRounds(deps, async (tx) => {
    const requeued = await takeOverdue(tx, { ...overdue, limit: requeuedMax })
    return { requeued, isLast: requeued.length < requeuedMax }
  })
  for (const line of lines) await callLine(deps, line, overdue)
}

/** Calls the first of a line, as many as the bucket has tokens for; those whom an earlier round called are of them. */
const callLine = async (
  deps: RequeueDeps,
  line: Line,
  { now, lostBefore }: Overdue,
): Promise<void> => {
  const calledAfter = new Date(now.getTime() - calledForMs)
  let room = await deps.room(line)
  let after = firstPlace
  const mayGo = ({ xml, requeuedAt }: Waiting): boolean => {
    if (room <= 0) return false
    room -= costOf(xml).cost
    return requeuedAt === null || requeuedAt < lostBefore
  }
  if (room <= 0) return
  await inRounds(deps, async (tx) => {
    const limit = requeuedMax
    const waiting = await lockLine(tx, line, { after, lostBefore, calledAfter, limit })
    const called = waiting.filter(mayGo)
    await noteCalled(
      tx,
      called.map(({ id }) => id),
      now,
    )
    after = waiting.at(-1)?.id ?? after
    return {
      requeued: called.map((one) => ({ ...one, isLost: one.requeuedAt !== null })),
      isLast: waiting.length < limit || room <= 0,
    }
  })
}

type Round = { readonly requeued: readonly Requeued[]; readonly isLast: boolean }

const inRounds = async (
  { sql, broker, onRequeued, logger }: RequeueDeps,
  take: (tx: Transaction) => Promise<Round>,
): Promise<void> => {
  for (let transactions = 0; transactions < transactionsMax; transactions++) {
    const { requeued, isLast } = await sql.begin(async (tx) => {
      const round = await take(tx)
      if (round.requeued.length > 0) await requeueMessages(tx, broker, round.requeued)
      return round
    })
    const lost = requeued.filter((one) => one.isLost)
    if (lost.length > 0) {
      onRequeued(lost.length)
      const ids = lost.slice(0, 10).map(({ id }) => id)
      logger.warn({ messages: lost.length, ids }, 'queued messages were not in the queue')
    }
    const others = requeued.length - lost.length
    if (others > 0)
      logger.debug({ messages: others }, 'messages are back on the queue at their time')
    if (isLast) return
  }
}
