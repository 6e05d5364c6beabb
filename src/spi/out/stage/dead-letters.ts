import type { Emit } from '#src/events/index.ts'
import {
  type Delivery,
  deadLetterHeaders,
  type LetterSubjects,
  type OutgoingMessage,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import { afterCommit, type Client, type Transaction } from '#src/platform/database/index.ts'
import type { Metrics } from '#src/platform/observe/index.ts'
import { endingReturns, type Receivables, type Recurrences } from '../../in/worker/received.ts'
import {
  changeStatuses,
  endMessages,
  neverSent,
  outboundHeaders,
  type StatusChange,
  statusEvent,
} from '../../messages/index.ts'
import { noteQueued } from './entries.ts'
import { createOnStatus, type OutboundMetrics } from './metrics.ts'
import { withdraw } from './sendings.ts'
import {
  findFailedOrders,
  findOutbound,
  isPartlySettled,
  noteDoubt,
  type QueuedOutbound,
} from './store.ts'

export type DeadLetterDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'publishIn' | 'settleIn'>
  readonly emitEvents: Emit
  readonly metrics: OutboundMetrics
}

export const messageIdOf = ({ headers }: Pick<Delivery, 'headers'>): string =>
  headers[outboundHeaders.messageId] ?? ''

/**
 * Takes a message that goes to `dlq` out of QUEUED, or we would think that its queue entry was lost: it becomes FAILED,
 * or UNKNOWN if the central bank may have bytes of it. Call it in the transaction that writes the letter.
 */
const endQueued = async (
  tx: Transaction,
  id: string,
  errorCode: string,
  { emitEvents, onStatus }: Ends,
): Promise<void> => {
  const stored = (await findOutbound(tx, [id])).get(id)
  if (stored?.status !== 'QUEUED') return
  if (stored.isInDoubt) await noteDoubt(tx, id, new Date())
  const change: StatusChange = stored.isInDoubt
    ? { id, status: 'UNKNOWN', detail: errorCode }
    : { id, status: 'FAILED', detail: errorCode, errorCode }
  if ((await changeStatuses(tx, [change])).size === 0) return
  await emitEvents(tx, [statusEvent(stored, change)])
  afterCommit(tx, () => onStatus(stored.type, change.status))
}

type Ends = { readonly emitEvents: Emit; readonly onStatus: OutboundMetrics['onStatus'] }

export const createBury =
  ({ sql, broker, emitEvents, metrics }: DeadLetterDeps) =>
  (letter: OutgoingMessage, delivery: Delivery, errorCode: string): Promise<void> =>
    sql.begin(async (tx) => {
      await broker.publishIn(tx, [letter])
      await broker.settleIn(tx, [delivery])
      const { onStatus } = metrics
      await endQueued(tx, messageIdOf(delivery), errorCode, { emitEvents, onStatus })
    })

/** What becomes of a message that the broker refuses to take from the outbox: it never comes to its queue. */
export const createRefusals = (
  emit: Emit,
  receivables: Pick<Receivables, 'end'> | undefined,
  metrics: Metrics,
) => {
  const ends = { emitEvents: endingReturns(emit, receivables), onStatus: createOnStatus(metrics) }
  return async (
    tx: Transaction,
    { topic, headers = {} }: OutgoingMessage,
    errorCode: string,
  ): Promise<void> => {
    if (topic === topics.outbound) await endQueued(tx, messageIdOf({ headers }), errorCode, ends)
  }
}

/** True when somebody took the message out of `dlq` to have it sent after all. */
export const isRetried = ({ headers }: Delivery, stored: QueuedOutbound): boolean =>
  stored.status === 'FAILED' && headers[deadLetterHeaders.retried] === 'true'

/** Does for a letter that an earlier version retried what retrying it does now. */
export const reopen = async (
  stored: QueuedOutbound,
  { sql, emitEvents }: Pick<DeadLetterDeps, 'sql' | 'emitEvents'>,
): Promise<QueuedOutbound | undefined> => {
  await sql.begin((tx) => queueAgain(tx, stored, emitEvents))
  return (await findOutbound(sql, [stored.id])).get(stored.id)
}

/**
 * Makes a FAILED message QUEUED again; it never reached the central bank, so if we sign, we sign it anew. What has
 * settled in part did reach it, and is not sent again.
 */
const queueAgain = async (
  tx: Transaction,
  stored: QueuedOutbound,
  emitEvents: Emit,
): Promise<void> => {
  const { id } = stored
  if (await isPartlySettled(tx, id)) return
  const change = { id, status: 'QUEUED', detail: 'taken out of dlq' } as const
  if ((await changeStatuses(tx, [change])).size === 0) return
  await withdraw(tx, [id])
  // However old it is, its new entry is not taken for lost.
  await noteQueued(tx, id)
  await emitEvents(tx, [statusEvent(stored, change)])
}

/**
 * Payments, returns and what asks about mandates and charges hang on their letters when they FAILED: as long as one is
 * there the message can be sent, and holds its sum, or what it asks about. Thrown away by a person, it ends the message. Retried, it makes any message QUEUED at once: from then on it does
 * not depend on what the queue keeps.
 */
export const createLetterSubjects = (
  emit: Emit,
  receivables: Pick<Receivables, 'end'> | undefined,
  recurrences: Recurrences | undefined,
): LetterSubjects => {
  const emitEvents = endingReturns(emit, receivables)
  return {
    reopen: async (tx, letter) => {
      const id = messageIdOf(letter)
      const stored = (await findOutbound(tx, [id])).get(id)
      if (stored?.status === 'FAILED') await queueAgain(tx, stored, emitEvents)
    },
    held: async (sql, letters) => {
      const failed = await findFailedOrders(sql, letters.map(messageIdOf))
      return letters.filter((letter) => failed.has(messageIdOf(letter)))
    },
    end: async (tx, letter) => {
      const id = messageIdOf(letter)
      if (!(await findFailedOrders(tx, [id])).has(id)) return
      // The lock keeps another from reopening it meanwhile.
      const failed = await tx`
        select from spi_messages where id = ${id} and status = 'FAILED' for update`
      if (failed.length === 0) return
      const change = { id, status: 'REJECTED', detail: neverSent, errorCode: neverSent } as const
      await endMessages(tx, [change], { emitEvents, recurrences })
    },
  }
}
