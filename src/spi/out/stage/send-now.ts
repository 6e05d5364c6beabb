import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import { OverloadedError, type Queryable } from '#src/platform/database/index.ts'
import { inTimeOr } from '#src/platform/runtime/index.ts'
import {
  type LateDeps,
  type OutboundMessage,
  requeueMessages,
  storeForSending,
} from '../../messages/index.ts'
import { releaseToQueue } from './entries.ts'
import type { IsLate } from './limits.ts'
import type { OutboundMetrics } from './metrics.ts'
import { type Accepted, recordSent } from './sent.ts'
import type { Sign } from './signing.ts'
import type { MessageOutcome, Transport } from './transport.ts'

/** A message that is sent within the request that made it; we fix its bytes before we store it. */
export type ReadyMessage = {
  readonly message: OutboundMessage
  readonly bytes: Uint8Array
  /** After this moment the queue may take it over. */
  readonly requeueAfter: Date
}

export type SendNow = ReturnType<typeof createSendNow>

/** Time for the two transactions around the sending. */
const leaseMarginMs = 5_000

/**
 * Sends without the queue. The caller runs the steps, because its answer commits with them: `prepare`, `store`, `send`,
 * then `noteAccepted` or `handOver`. If anything ends in between, the queue gets the message with the same bytes.
 */
export const createSendNow = (
  deps: LateDeps & {
    readonly sign: Sign
    /** Another process signs, so its time says nothing about how much there is to do here. */
    readonly isSignedElsewhere: boolean
    readonly transport: Transport
    readonly outbox: Pick<TransactionalBroker, 'publishIn'>
    readonly metrics: OutboundMetrics
    readonly isLate: IsLate
    readonly timeoutMs: number
  },
) => {
  const { sign, isSignedElsewhere, transport, outbox, metrics, timeoutMs } = deps
  const leaseMs = timeoutMs + leaseMarginMs
  return {
    /** How long `prepare` and `send` wait, each. */
    timeoutMs,
    isSignedElsewhere,
    /** How long the queue leaves a message alone. */
    leaseMs,
    /** @throws Error when the signature does not come in time */
    prepare: async (message: OutboundMessage): Promise<ReadyMessage> => {
      const bytes = await inTimeOr(sign(message.envelope), timeoutMs, undefined)
      if (bytes === undefined) throw new Error('no signature in time')
      return { message, bytes, requeueAfter: new Date(Date.now() + leaseMs) }
    },
    /** False when we know its BizMsgIdr already. */
    store: (tx: Queryable, { message, bytes, requeueAfter }: ReadyMessage) =>
      storeForSending(tx, message, { signed: bytes, requeueAfter }),
    /** Never rejects: an outcome that we do not know is `unknown`. */
    send: async ({ message: { id, type, channel }, bytes }: ReadyMessage) => {
      metrics.change(1)
      const outcome = await within(timeoutMs, transport({ id, type, channel, bytes }))
      metrics.change(-1)
      metrics.onSync(outcome.kind)
      return outcome
    },
    noteAccepted: (tx: Queryable, { message }: ReadyMessage, outcome: Accepted) => {
      const endToEndId = message.transactions[0]?.endToEndId ?? null
      return recordSent(tx, { ...message, endToEndId }, outcome, deps)
    },
    /** Puts the message on the queue, unless somebody has put it there already. */
    handOver: async (tx: Queryable, ready: ReadyMessage, { kind }: MessageOutcome) => {
      const { message, requeueAfter } = ready
      const isInDoubt = kind !== 'refused' && kind !== 'unreachable'
      const released = await releaseToQueue(tx, { id: message.id, requeueAfter, isInDoubt })
      await requeueMessages(tx, outbox, released)
    },
  }
}

/** The same, but waits for others do not count as work here. */
export const waitingAway = (
  sendNow: SendNow,
  away: <T>(wait: Promise<T>) => Promise<T>,
): SendNow => ({
  ...sendNow,
  prepare: (message) => {
    const ready = sendNow.prepare(message)
    return sendNow.isSignedElsewhere ? away(ready) : ready
  },
  send: (ready) => away(sendNow.send(ready)),
})

/** Returns the outcome, or `unknown` if we wait too long. The request itself goes on: others may be in it. */
const within = (ms: number, sending: Promise<MessageOutcome>): Promise<MessageOutcome> => {
  const known = sending.catch(
    (error: unknown): MessageOutcome =>
      error instanceof OverloadedError
        ? { kind: 'unreachable', reason: String(error), isDown: false }
        : { kind: 'unknown', reason: String(error) },
  )
  return inTimeOr<MessageOutcome, MessageOutcome>(known, ms, {
    kind: 'unknown',
    reason: 'no answer in time',
  })
}
