import type { Emit } from '#src/events/index.ts'
import {
  type Delivery,
  type Discard,
  deadLetterHeaders,
  type OutgoingMessage,
  type TransactionalBroker,
} from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import { endingReturns, type Receivables } from '../../in/worker/received.ts'
import {
  changeStatuses,
  endMessages,
  outboundHeaders,
  type StatusChange,
  statusEvent,
} from '../../messages/index.ts'
import type { OutboundMetrics } from './metrics.ts'
import { withdraw } from './sendings.ts'
import { findOutbound, noteDoubt, type QueuedOutbound } from './store.ts'

export type DeadLetterDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'publishIn' | 'settleIn'>
  readonly emitEvents: Emit
  readonly metrics: OutboundMetrics
}

export const messageIdOf = ({ headers }: Delivery): string =>
  headers[outboundHeaders.messageId] ?? ''

/**
 * Takes a message that goes to `dlq` out of QUEUED, or we would think that its queue entry was lost: it becomes FAILED,
 * or UNKNOWN if the central bank may have bytes of it, in the transaction that writes the letter.
 */
export const createBury =
  ({ sql, broker, emitEvents, metrics }: DeadLetterDeps) =>
  async (letter: OutgoingMessage, delivery: Delivery, errorCode: string): Promise<void> => {
    const id = messageIdOf(delivery)
    const ended = await sql.begin(async (tx) => {
      await broker.publishIn(tx, [letter])
      await broker.settleIn(tx, [delivery])
      const stored = (await findOutbound(tx, [id])).get(id)
      if (stored?.status !== 'QUEUED') return undefined
      if (stored.isInDoubt) await noteDoubt(tx, id, new Date())
      const change: StatusChange = stored.isInDoubt
        ? { id, status: 'UNKNOWN', detail: errorCode }
        : { id, status: 'FAILED', detail: errorCode, errorCode }
      if ((await changeStatuses(tx, [change])).size === 0) return undefined
      await emitEvents(tx, [statusEvent(stored, change)])
      return { type: stored.type, status: change.status }
    })
    if (ended !== undefined) metrics.onStatus(ended.type, ended.status)
  }

/** True when somebody took the message out of `dlq` to have it sent after all. */
export const isRetried = ({ headers }: Delivery, stored: QueuedOutbound): boolean =>
  stored.status === 'FAILED' && headers[deadLetterHeaders.retried] === 'true'

/** Makes a FAILED message QUEUED again; it never reached the central bank, so if we sign, we sign it anew. */
export const reopen = async (
  stored: QueuedOutbound,
  { sql, emitEvents }: Pick<DeadLetterDeps, 'sql' | 'emitEvents'>,
): Promise<QueuedOutbound | undefined> => {
  const { id } = stored
  const change = { id, status: 'QUEUED', detail: 'taken out of dlq' } as const
  await sql.begin(async (tx) => {
    if ((await changeStatuses(tx, [change])).size === 0) return
    await withdraw(tx, [id])
    await emitEvents(tx, [statusEvent(stored, change)])
  })
  return (await findOutbound(sql, [id])).get(id)
}

/** What holds a sum. */
const payingTypes: ReadonlySet<string> = new Set(['pacs.004', 'pacs.008'])

/** Ends the FAILED payment or return of a letter that is thrown away: nothing sends it any more, so it holds no sum. */
export const createDiscard = (
  emit: Emit,
  receivables: Pick<Receivables, 'end'> | undefined,
): Discard => {
  const emitEvents = endingReturns(emit, receivables)
  return async (tx, { headers }) => {
    const id = headers[outboundHeaders.messageId] ?? ''
    if (!payingTypes.has((await findOutbound(tx, [id])).get(id)?.type ?? '')) return
    // UNKNOWN is not FAILED: only an answer ends it. The lock keeps another from reopening it meanwhile.
    const failed = await tx`
      select from spi_messages where id = ${id} and status = 'FAILED' for update`
    if (failed.length === 0) return
    await endMessages(tx, [{ id, status: 'REJECTED', detail: 'never_sent' }], { emitEvents })
  }
}
