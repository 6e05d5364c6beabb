import {
  type Delivery,
  deadLetterOf,
  type OutgoingMessage,
  PoisonMessageError,
  readers,
  type TransactionalBroker,
  topics,
} from '#src/platform/broker/index.ts'
import {
  type Client,
  createGatherer,
  isRowFault,
  isTransientDatabaseError,
  OverloadedError,
  type Queryable,
} from '#src/platform/database/index.ts'
import { inSpan } from '#src/platform/observe/index.ts'
import {
  applyRemembered,
  type Channel,
  type LateAnswer,
  type LateDeps,
  noteRepetitions,
  outboundHeaders,
  recordChanges,
  type StatusChange,
  statusEvent,
  unsignedMessageOf,
} from '../../messages/index.ts'
import { SigningError } from '../signing/index.ts'
import { type AsideDeps, asideMs, type InHand, isTurnedAway } from './aside.ts'
import { isRetried, messageIdOf, reopen } from './dead-letters.ts'
import { setAside } from './entries.ts'
import { type IsLate, sentLateAt } from './limits.ts'
import type { OutboundMetrics } from './metrics.ts'
import { refusalText, refusedCode, repetitionText } from './outcome-text.ts'
import { createSendings, type Sending, type Sendings } from './sendings.ts'
import type { Sign } from './signing.ts'
import { findOutbound, noteDoubt, type QueuedOutbound } from './store.ts'
import { isBoundToChannel, type MessageOutcome, type Transport } from './transport.ts'
import { createTurns, type Told, type Turns, type TurnsDeps, untold } from './turns.ts'

export const group = readers[topics.outbound]
/** Results that one transaction writes. */
const recordedMax = 400
/** Results that come while one runs, or soon after its start, share the next. */
const transactionsMax = 1
const spacingMs = 40
const waitingMax = 5_000
/** Less is not enough to keep the bytes. Those that were kept are sent once, or again as they are. */
const leaseLeftLeastMs = 500

export type HandleDeps = LateDeps &
  TurnsDeps &
  AsideDeps & {
    readonly sql: Client
    readonly broker: Pick<
      TransactionalBroker,
      'leaseLeftMs' | 'publishIn' | 'settleIn' | 'settling'
    >
    readonly sign: Sign
    readonly transport: Transport
    readonly isLate: IsLate
    readonly metrics: OutboundMetrics
  }

/** We do not know its outcome, or nothing was stored: we must send the same bytes again. */
class NotSentError extends Error {
  override readonly name: string = 'NotSentError'
}

/** No channel has taken it. */
class ChannelAwayError extends NotSentError {
  override readonly name = 'ChannelAwayError'
}

type Final = Extract<MessageOutcome, { kind: 'accepted' | 'refused' }>
type Result = {
  readonly delivery: Delivery
  readonly stored: QueuedOutbound
  readonly outcome: Final
}

/** What we send, and what we store of the message if we have just signed it. */
type Ready = Pick<Sending, 'bytes' | 'unsigned'>

type Parts = HandleDeps & {
  readonly sendings: Sendings
  readonly turns: Turns
  readonly record: (result: Result) => Promise<void>
}

/**
 * Signs and sends queued messages. We keep the bytes of a message before the first of them goes out. If it may have
 * gone out before, we send the same bytes again, and the central bank takes them for the same message; we skip one
 * whose status says that it was sent.
 */
export const createHandler = (deps: HandleDeps) => {
  const { sql, metrics } = deps
  const record = createGatherer<Result, void>({
    write: async (results) => {
      const late = await sql.begin((tx) => recordResults(tx, results, deps))
      for (const one of late) reportLate(one, deps)
      return results.map(() => undefined)
    },
    rowsMax: recordedMax,
    writersMax: transactionsMax,
    waitingMax,
    spacingMs,
    isRowFault,
  })
  const turns = createTurns(deps)
  const parts = { ...deps, sendings: createSendings(sql), turns, record }
  return {
    handle: async (batch: readonly Delivery[], onProgress: () => void): Promise<void> => {
      metrics.onBatch(batch.length)
      const known = await findOutbound(sql, batch.map(messageIdOf))
      const isAlone = batch.length === 1
      const given = batch.map((delivery) => ({
        delivery,
        stored: inHand(known.get(messageIdOf(delivery)), delivery),
      }))
      const told = turns.tell(given.filter(isStored))
      const going = { isAlone, onProgress }
      await settled(given.map((one) => sendTold(one, told, going, parts)))
    },
    isTransient: (error: unknown) =>
      error instanceof NotSentError ||
      error instanceof SigningError ||
      error instanceof OverloadedError ||
      isTransientDatabaseError(error),
    /** The health of the channels and of signing tells it. */
    isToldElsewhere: (error: unknown) =>
      error instanceof ChannelAwayError || error instanceof SigningError,
  }
}

const inHand = (stored: QueuedOutbound | undefined, { value }: Delivery): InHand | undefined =>
  stored && { ...stored, isBound: isBoundToChannel(stored.type, value) }

type Given = { readonly delivery: Delivery; readonly stored: InHand | undefined }

const isStored = (one: Given): one is Given & { readonly stored: InHand } =>
  one.stored !== undefined

/** Waits for all, so that none still runs when one fails. */
const settled = async (work: readonly Promise<void>[]): Promise<void> => {
  const failed = (await Promise.allSettled(work)).find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** How one of a batch goes out. */
type Going = {
  /** The batch is of it alone. */
  readonly isAlone: boolean
  /** The channel whose tokens are taken for it. */
  readonly paidOn: Channel | undefined
  /** Called while it waits for the interface. */
  readonly onProgress: () => void
}

/** Only who may stand in a line waits to be told of it. */
const sendTold = async (
  one: Given,
  told: Promise<Told>,
  going: Omit<Going, 'paidOn'>,
  parts: Parts,
): Promise<void> => {
  const isAsked = isStored(one) && parts.turns.mayWait(one.stored)
  const { paid, away } = isAsked ? await told : untold
  if (away.has(one.delivery)) return
  await sendOne({ ...one, ...going, paidOn: paid.get(one.delivery) }, parts)
}

const sendOne = async (
  { delivery, stored: found, ...going }: Given & Going,
  parts: Parts,
): Promise<void> => {
  const stored =
    found !== undefined && isRetried(delivery, found)
      ? inHand(await reopen(found, parts), delivery)
      : found
  // A decided message has no bytes any more. The watch asks for one whose outcome is UNKNOWN.
  if (stored !== undefined && stored.status !== 'QUEUED') return
  const prepare = stored === undefined ? undefined : preparationOf(delivery, stored, parts.sign)
  if (stored === undefined || prepare === undefined) {
    throw new PoisonMessageError('outbound_message_unknown', 'no message of the gateway')
  }
  if (stored.isInDoubt && stored.finalXml === undefined) {
    throw new PoisonMessageError('sent_bytes_lost', 'the central bank may have other bytes of it')
  }
  // If the central bank may have the message already, nobody knows that it failed: it waits.
  if (!stored.isInDoubt && parts.ways(stored).length === 0) {
    throw new PoisonMessageError('channel_not_configured', `${stored.channel} is not configured`)
  }
  const { type, channel } = stored
  const options = {
    kind: 'consumer',
    parent: delivery.headers[outboundHeaders.traceparent],
    attributes: { 'trilho.spi.message_type': type, 'trilho.spi.channel': channel },
  } as const
  await inSpan(`send ${type}`, options, async () => {
    const startedMs = performance.now()
    parts.metrics.change(1)
    try {
      const ready = await prepare()
      const signedMs = performance.now()
      if (parts.broker.leaseLeftMs(delivery) < leaseLeftLeastMs) {
        throw new NotSentError('another process may send it by now')
      }
      const outcome = await transmit(stored, ready, going, parts)
      if (outcome === undefined) return
      const sentMs = performance.now()
      const result = { delivery, stored, outcome }
      await parts.record(result)
      report(result, { startedMs, signedMs, sentMs }, parts)
    } finally {
      parts.metrics.change(-1)
    }
  })
}

/**
 * Returns the explicit answer; throws without one and leaves the message as it is, with what the central bank may have
 * of it. Returns undefined when we set it aside.
 */
const transmit = async (
  stored: InHand,
  { bytes, unsigned }: Ready,
  { isAlone, paidOn, onProgress }: Going,
  parts: Parts,
): Promise<Final | undefined> => {
  const { id, type, channel, isInDoubt, inDoubtSince } = stored
  const { sql, sendings, transport, turns } = parts
  const isOurs = isInDoubt
    ? inDoubtSince !== null || (await sendings.hold(id))
    : await sendings.begin({ id, bytes, unsigned })
  if (!isOurs) throw new NotSentError('another process has begun to send it, or took it back')
  const comesAgain = turns.mayWait(stored)
  const outcome = await transport({ id, type, channel, bytes, comesAgain, paidOn, onProgress })
  if (outcome.kind === 'accepted' || outcome.kind === 'refused') return outcome
  if (outcome.kind === 'unknown') await noteUnclear(stored, outcome, sql)
  else if (!isInDoubt) await sendings.withdraw(id)
  if (isTurnedAway(outcome) && comesAgain) {
    await turns.wait(stored)
    return undefined
  }
  const reason = `${outcome.kind}: ${outcome.reason}`
  const waitMs = asideMs(stored, outcome, isAlone, parts)
  if (waitMs === undefined) throw new ChannelAwayError(reason)
  await setAside(sql, id, new Date(Date.now() + waitMs))
  const fields = { id, type, channel, reason, wait_ms: waitMs }
  const isRefused = outcome.kind === 'unreachable' && outcome.refusal !== undefined
  parts.logger[isRefused ? 'error' : 'info'](fields, 'set aside, so that it holds up no other')
  return undefined
}

/** Notes it for the watch, and in the history if the message had gone out before. */
const noteUnclear = (
  { id, isInDoubt }: QueuedOutbound,
  outcome: MessageOutcome,
  sql: Client,
): Promise<unknown> => {
  const now = new Date()
  if (!isInDoubt) return noteDoubt(sql, id, now)
  return sql.begin(async (tx) => {
    await noteDoubt(tx, id, now)
    await noteRepetitions(tx, [{ id, detail: repetitionText(outcome) }])
  })
}

/** Returns the bytes that are final already, else those that we sign now; undefined if there are none to send. */
const preparationOf = (
  delivery: Delivery,
  { finalXml }: QueuedOutbound,
  sign: Sign,
): (() => Promise<Ready>) | undefined => {
  if (finalXml !== undefined) return async () => ({ bytes: finalXml(), unsigned: undefined })
  const unsigned = unsignedMessageOf(delivery)
  return unsigned === undefined
    ? undefined
    : async () => ({ bytes: await sign(unsigned), unsigned })
}

/** Writes statuses, events and dead letters, and applies answers that came before: a fixed number of statements for any number of results. */
const recordResults = async (
  tx: Queryable,
  results: readonly Result[],
  deps: HandleDeps,
): Promise<readonly LateAnswer[]> => {
  const { broker, emitEvents, isLate } = deps
  const repeated = results.filter(({ stored }) => stored.isInDoubt)
  if (repeated.length > 0) {
    await noteRepetitions(
      tx,
      repeated.map(({ stored: { id }, outcome }) => ({ id, detail: repetitionText(outcome) })),
    )
  }
  const changes = results.map((result) => changeOf(result, isLate))
  // Its row is the fence of a delivery: whoever lost it changes nothing.
  const settling = broker.settling(results.map(({ delivery }) => delivery))
  const { moved, cited } = await recordChanges(tx, changes, [], settling && [settling])
  const byId = new Map(results.map(({ stored }) => [stored.id, stored]))
  await emitEvents(
    tx,
    changes.flatMap((change) => {
      const stored = byId.get(change.id)
      return stored === undefined || !moved.has(change.id) ? [] : [statusEvent(stored, change)]
    }),
  )
  const letters = results.flatMap(lettersOf)
  if (letters.length > 0) await broker.publishIn(tx, letters)
  return applyRemembered(
    tx,
    results.flatMap(({ stored: { id, type }, outcome }) =>
      outcome.kind === 'accepted'
        ? [{ id, type, resourceId: outcome.resourceId, isCited: cited.has(id) }]
        : [],
    ),
    deps,
  )
}

/** An answer that came before its message was known to be sent. */
const reportLate = (
  { sent: { type, bizMsgIdr }, change: { id, status, detail } }: LateAnswer,
  { metrics, logger }: HandleDeps,
): void => {
  metrics.onStatus(type, status)
  const fields = { id, type, biz_msg_idr: bizMsgIdr, status, detail }
  logger.info(fields, 'sent message is answered: its answer came before the interface confirmed it')
}

/** True when refused and surely never stored: an attempt without an answer may have been stored. */
const isRefused = ({ stored, outcome }: Result): boolean =>
  outcome.kind === 'refused' && !stored.isInDoubt

/**
 * 201 for bytes that went out before means the same message. 4xx says that this request was not stored; it says nothing
 * about bytes that went out before.
 */
const changeOf = ({ stored, outcome }: Result, isLate: IsLate): StatusChange => {
  const { id, isInDoubt } = stored
  if (outcome.kind === 'accepted') {
    const { channel: detail, resourceId } = outcome
    const sentAt = sentLateAt(stored)
    return { id, status: 'SENT', detail, resourceId, isLate: isLate(stored), sentAt }
  }
  const detail = refusalText(outcome)
  return isInDoubt
    ? { id, status: 'UNKNOWN', detail }
    : { id, status: 'FAILED', detail, errorCode: refusedCode }
}

const lettersOf = (result: Result): readonly OutgoingMessage[] => {
  const { delivery, outcome } = result
  if (outcome.kind !== 'refused' || !isRefused(result)) return []
  const errorCode = refusedCode
  const { attempt } = delivery
  return [deadLetterOf({ delivery, group, errorCode, attempt, firstFailure: new Date() })]
}

const report = (
  result: Result,
  times: { readonly startedMs: number; readonly signedMs: number; readonly sentMs: number },
  { metrics, isLate, logger }: HandleDeps,
): void => {
  const { outcome } = result
  const { id, type, bizMsgIdr, endToEndId } = result.stored
  metrics.onStatus(type, changeOf(result, isLate).status)
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
    logger.error({ ...fields, problem: refusalText(outcome) }, 'message refused')
  }
}
