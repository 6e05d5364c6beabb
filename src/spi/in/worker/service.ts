import type { Delivery, TransactionalBroker } from '#src/platform/broker/index.ts'
import {
  type Client,
  createGatherer,
  isRowFault,
  isStatementCanceled,
  isTransientDatabaseError,
  OverloadedError,
  type Queryable,
} from '#src/platform/database/index.ts'
import { currentTraceparent, inSpan, type Logger } from '#src/platform/observe/index.ts'
import type { Backoff } from '#src/platform/runtime/index.ts'
import type { NewMessage } from '../../messages/index.ts'
import { inboundHeaders } from '../pull/index.ts'
import { type Applied, type ApplyDeps, applyBatch } from './apply.ts'
import type { WorkerMetrics } from './metrics.ts'
import { reportLate } from './pending.ts'
import type { ReadInbound } from './read.ts'
import { SlowDatabaseError, SlowMessageError, smallOneLike, storeAlone } from './slow.ts'

/** Messages that one transaction stores. */
const batchMessagesMax = 250
/** Transactions at once: we fill the next while one commits. */
const transactionsMax = 2
/** From so many on, a transaction beside a running one is worth its cost, which is that of twenty messages. */
const besideMin = 100
/** Messages read and not yet stored, at most, over the partitions of both topics. */
const waitingMax = 5_000

export type WorkerServiceDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'publishIn' | 'settling'>
  /** At once, or by a promise where the message is large. */
  readonly read: (delivery: Delivery) => ReadInbound | Promise<ReadInbound>
  readonly apply: Omit<ApplyDeps, 'outbox' | 'settling'>
  readonly slowBackoff: Backoff
  readonly metrics: WorkerMetrics
  readonly logger: Logger
}

/** Reads messages one by one and stores them together, over all partitions. */
export const createWorkerService = (deps: WorkerServiceDeps) => {
  const { slowBackoff } = deps
  const write = createWriter(deps)
  const probe = createProbe(deps)
  /** The values of what was written when a statement ran into the time limit: each goes alone from then on. */
  const suspects = new WeakSet<Uint8Array>()
  const storeTogether = createGatherer<ReadInbound, void>({
    write: async (batch) => {
      try {
        return await write(batch)
      } catch (error) {
        if (isStatementCanceled(error))
          for (const { delivery } of batch) suspects.add(delivery.value)
        throw error
      }
    },
    rowsMax: batchMessagesMax,
    writersMax: transactionsMax,
    besideMin,
    waitingMax,
    isRowFault,
  })
  const store = (inbound: ReadInbound): Promise<unknown> => {
    const { value, attempt } = inbound.delivery
    return attempt > 1 || suspects.has(value)
      ? storeAlone(
          () => write([inbound], true),
          () => probe(inbound),
        )
      : storeTogether(inbound)
  }
  return {
    /** Resolves when all of a batch are stored. */
    handle: async (batch: readonly Delivery[]): Promise<void> => {
      await Promise.all(batch.map((delivery) => traced(delivery, deps.read, store)))
    },
    isTransient: (error: unknown) =>
      isTransientDatabaseError(error) ||
      error instanceof OverloadedError ||
      error instanceof SlowDatabaseError,
    /** A slow message has minutes until it goes to `dlq`, since its part of the database may be slow for a while. */
    backoffAfter: (error: unknown) => (error instanceof SlowMessageError ? slowBackoff : undefined),
  }
}

/** Opens a span in the trace that fetched the message or sent it to the topic. */
const traced = (
  delivery: Delivery,
  read: WorkerServiceDeps['read'],
  store: (inbound: ReadInbound) => Promise<unknown>,
): Promise<unknown> => {
  const parent = delivery.headers[inboundHeaders.traceparent]
  return inSpan('receive message', { kind: 'consumer', parent }, async (span) => {
    const found = read(delivery)
    const inbound = found instanceof Promise ? await found : found
    const { type, channel, warnings } = inbound.message
    span.rename(`receive ${type ?? 'unreadable'}`)
    span.set({
      'trilho.spi.message_type': type,
      'trilho.spi.channel': channel,
      'trilho.spi.warnings': warnings.length,
    })
    return store({ ...inbound, message: { ...inbound.message, traceparent: currentTraceparent() } })
  })
}

const createWriter =
  ({ sql, broker, apply, metrics, logger }: WorkerServiceDeps) =>
  async (batch: readonly ReadInbound[], isAlone = false): Promise<readonly undefined[]> => {
    const startMs = performance.now()
    const settling = broker.settling(batch.map(({ delivery }) => delivery))
    const applied = await sql.begin(async (tx) => {
      if (isAlone) await limitLockWaits(tx)
      return applyBatch(tx, batch, { ...apply, outbox: broker, settling })
    })
    const seconds = (performance.now() - startMs) / 1000
    metrics.onBatch(batch.length, seconds)
    report(batch, applied, seconds, metrics, logger)
    return batch.map(() => undefined)
  }

class TakenBackError extends Error {}

/** Stores a small message like one that takes too long, and takes it back. */
const createProbe =
  ({ sql, broker, apply }: WorkerServiceDeps) =>
  async (inbound: ReadInbound): Promise<void> => {
    const small = smallOneLike(inbound, apply.now())
    const stored = sql.begin(async (tx) => {
      await applyBatch(tx, [small], { ...apply, outbox: broker, settling: undefined })
      throw new TakenBackError()
    })
    await stored.catch((error: unknown) => {
      if (!(error instanceof TakenBackError)) throw error
    })
  }

/** A message that waits for another's lock is not slow itself, so that wait ends sooner, with another error. */
const limitLockWaits = (tx: Queryable) => tx`
  select set_config('lock_timeout', (1000 * extract(epoch from
    current_setting('statement_timeout')::interval / 2))::int::text, true)`

const report = (
  batch: readonly ReadInbound[],
  applied: Applied,
  seconds: number,
  metrics: WorkerMetrics,
  logger: Logger,
): void => {
  const storeMs = Math.round(seconds * 1000)
  const nowMs = Date.now()
  for (const inbound of batch) {
    const message = applied.stored.get(inbound)
    if (message === undefined) {
      metrics.onDuplicate()
      const { resourceId, bizMsgIdr } = inbound.message
      const fields = { resource_id: resourceId, biz_msg_idr: bizMsgIdr }
      if (!applied.misnamed.has(inbound)) logger.info(fields, 'message is known already')
      else logger.error(fields, 'message has the ids of another one: it is in dlq')
      continue
    }
    const waitedMs = Math.max(0, nowMs - (message.receivedAt?.getTime() ?? nowMs))
    metrics.onStored(message, waitedMs / 1000)
    logStored(message, { inbound, storeMs, waitedMs }, logger)
  }
  for (const late of applied.late) reportLate(late, { metrics, logger })
  for (const { id, status, detail } of applied.changes) {
    const sent = applied.sent.get(id)
    metrics.onStatusChange(sent?.type ?? '', status)
    const fields = { id, type: sent?.type, biz_msg_idr: sent?.bizMsgIdr, status, detail }
    logger.info(fields, 'sent message is answered')
  }
}

const logStored = (
  message: NewMessage,
  times: { readonly inbound: ReadInbound; readonly storeMs: number; readonly waitedMs: number },
  logger: Logger,
): void => {
  const { warnings } = message
  const fields = {
    id: message.id,
    type: message.type,
    channel: message.channel,
    resource_id: message.resourceId,
    biz_msg_idr: message.bizMsgIdr,
    end_to_end_id: message.transactions[0]?.endToEndId,
    status: message.status,
    signature: message.signature,
    read_ms: Number(times.inbound.readMs.toFixed(2)),
    store_ms: times.storeMs,
    total_ms: times.waitedMs,
  }
  if (message.status === 'FAILED') {
    logger.error({ ...fields, code: message.errorCode }, 'message cannot be read')
  } else if (warnings.length > 0) {
    logger.warn({ ...fields, warnings }, 'message received, with warnings')
  } else {
    logger.info(fields, 'message received')
  }
}
