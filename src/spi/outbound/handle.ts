import { createGatherer, OverloadedError } from '#src/platform/batching/index.ts'
import {
  type Delivery,
  deadLetterOf,
  PoisonMessageError,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import {
  type Client,
  isTransientDatabaseError,
  type Queryable,
} from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/telemetry/index.ts'
import { inSpan } from '#src/platform/tracing/index.ts'
import {
  changeStatuses,
  type EmitEvents,
  outboundHeaders,
  type StatusChange,
  statusEvent,
  unsignedMessageOf,
} from '../messages/index.ts'
import { SignatureServiceError } from '../signing/index.ts'
import type { OutboundMetrics } from './metrics.ts'
import type { Sign } from './signing.ts'
import { findOutbound, noteDoubt, type QueuedOutbound } from './store.ts'
import type { MessageOutcome, Transport } from './transport.ts'

export const group = 'spi-outbound'
/** Results written by one transaction. */
const recordedMax = 200
const transactionsMax = 2
const waitingMax = 5_000

export type HandleDeps = {
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'publishIn' | 'wake'>
  readonly sign: Sign
  readonly transport: Transport
  readonly emitEvents: EmitEvents
  readonly metrics: OutboundMetrics
  readonly logger: Logger
}

/** Its outcome is not known, or nothing was stored: the same bytes are to be sent again. */
class NotSentError extends Error {
  override readonly name = 'NotSentError'
}

type Final = Extract<MessageOutcome, { kind: 'accepted' | 'refused' }>
type Result = {
  readonly delivery: Delivery
  readonly stored: QueuedOutbound
  readonly bytes: Uint8Array
  readonly outcome: Final
}

export type OutboundHandler = {
  readonly handle: (batch: readonly Delivery[]) => Promise<void>
  readonly isTransient: (error: unknown) => boolean
}

/**
 * Signs and sends what is queued. A message that was sent before the process could note it is sent again with the same
 * bytes, which the central bank takes for the same message; one whose state says that it was sent is passed over.
 */
export const createHandler = (deps: HandleDeps): OutboundHandler => {
  const { sql, metrics } = deps
  const record = createGatherer<Result, void>({
    write: async (results) => {
      await sql.begin((tx) => recordResults(tx, results, deps))
      if (results.some(isRefused)) deps.broker.wake([topics.deadLetters])
      return results.map(() => undefined)
    },
    rowsMax: recordedMax,
    writersMax: transactionsMax,
    waitingMax,
    isRowFault: (error) => !isTransientDatabaseError(error),
  })
  return {
    handle: async (batch) => {
      metrics.onBatch(batch.length)
      const known = await findOutbound(sql, batch.map(idOf))
      await settled(
        batch.map((delivery) => sendOne(delivery, known.get(idOf(delivery)), deps, record)),
      )
    },
    isTransient: (error) =>
      error instanceof NotSentError ||
      error instanceof SignatureServiceError ||
      error instanceof OverloadedError ||
      isTransientDatabaseError(error),
  }
}

const idOf = ({ headers }: Delivery): string => headers[outboundHeaders.messageId] ?? ''

/** Waits for all, so that none is left running when one fails. */
const settled = async (work: readonly Promise<void>[]): Promise<void> => {
  const failed = (await Promise.allSettled(work)).find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

const sendOne = async (
  delivery: Delivery,
  stored: QueuedOutbound | undefined,
  deps: HandleDeps,
  record: (result: Result) => Promise<void>,
): Promise<void> => {
  const prepare = stored === undefined ? undefined : preparationOf(delivery, stored, deps.sign)
  if (stored === undefined || prepare === undefined) {
    throw new PoisonMessageError('outbound_message_unknown', 'no message of the gateway')
  }
  // One whose outcome is UNKNOWN is asked for by the watch.
  if (stored.status !== 'QUEUED') return
  const { type, channel } = stored
  const options = {
    kind: 'consumer',
    parent: delivery.headers[outboundHeaders.traceparent],
    attributes: { 'trilho.spi.message_type': type, 'trilho.spi.channel': channel },
  } as const
  await inSpan(`send ${type}`, options, async () => {
    const startedMs = performance.now()
    deps.metrics.change(1)
    try {
      const bytes = await prepare()
      const signedMs = performance.now()
      const outcome = await deps.transport({ type, channel, bytes })
      if (outcome.kind !== 'accepted' && outcome.kind !== 'refused') {
        if (outcome.kind === 'unknown' && !stored.isInDoubt) {
          await noteDoubt(deps.sql, { id: stored.id, xml: bytes }, new Date())
        }
        throw new NotSentError(`${outcome.kind}: ${outcome.reason}`)
      }
      const sentMs = performance.now()
      const result = { delivery, stored, bytes, outcome }
      await record(result)
      report(result, { startedMs, signedMs, sentMs }, deps)
    } finally {
      deps.metrics.change(-1)
    }
  })
}

/**
 * How the bytes to send come about: what may be with the central bank already, or what is signed now. Undefined when
 * there are none.
 */
const preparationOf = (
  delivery: Delivery,
  { isInDoubt, finalXml }: QueuedOutbound,
  sign: Sign,
): (() => Promise<Uint8Array>) | undefined => {
  const unsigned = unsignedMessageOf(delivery)
  if (unsigned !== undefined && !(isInDoubt && finalXml !== undefined)) {
    return () => sign(unsigned)
  }
  return finalXml === undefined ? undefined : async () => finalXml
}

/** Documents and statuses, events and dead letters: a fixed number of statements for any number of results. */
const recordResults = async (
  tx: Queryable,
  results: readonly Result[],
  { broker, emitEvents }: HandleDeps,
): Promise<void> => {
  const changes = results.map(changeOf)
  const moved = await changeStatuses(tx, changes)
  const byId = new Map(results.map(({ stored }) => [stored.id, stored]))
  await emitEvents(
    tx,
    changes.flatMap((change) => {
      const stored = byId.get(change.id)
      return stored === undefined || !moved.has(change.id) ? [] : [statusEvent(stored, change)]
    }),
  )
  const refused = results.filter(isRefused)
  if (refused.length > 0) await broker.publishIn(tx, refused.map(letterOf))
}

/** Refused, and surely never stored: an attempt without an answer may have been. */
const isRefused = ({ stored, outcome }: Result): boolean =>
  outcome.kind === 'refused' && !stored.isInDoubt

const changeOf = ({ stored: { id, isInDoubt }, bytes, outcome }: Result): StatusChange =>
  outcome.kind === 'accepted'
    ? {
        ...{ id, status: 'SENT', detail: outcome.channel },
        ...{ resourceId: outcome.resourceId, sent: bytes },
      }
    : { id, status: isInDoubt ? 'UNKNOWN' : 'FAILED', detail: problemText(outcome) }

/** The last part of the problem's type names it: `https://icom…/error/forbidden`. */
const problemText = ({ status, problem }: Extract<Final, { kind: 'refused' }>): string =>
  `${status} ${problem.type.slice(problem.type.lastIndexOf('/') + 1).slice(0, 64)}`.trimEnd()

const letterOf = ({ delivery }: Result) =>
  deadLetterOf({
    delivery,
    group,
    errorCode: 'refused_by_interface',
    attempt: delivery.attempt,
    firstFailure: new Date(),
  })

const report = (
  result: Result,
  times: { readonly startedMs: number; readonly signedMs: number; readonly sentMs: number },
  { metrics, logger }: HandleDeps,
): void => {
  const { outcome } = result
  const { id, type, bizMsgIdr, endToEndId } = result.stored
  metrics.onStatus(type, changeOf(result).status)
  const fields = {
    id,
    type,
    biz_msg_idr: bizMsgIdr,
    end_to_end_id: endToEndId,
    sign_ms: Math.round(times.signedMs - times.startedMs),
    send_ms: Math.round(times.sentMs - times.signedMs),
    total_ms: Math.round(performance.now() - times.startedMs),
  }
  if (outcome.kind === 'accepted') {
    const { channel, resourceId } = outcome
    logger.info({ ...fields, channel, resource_id: resourceId }, 'message sent')
  } else {
    logger.error({ ...fields, problem: problemText(outcome) }, 'message refused')
  }
}
