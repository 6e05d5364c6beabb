import { backoffMs } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/telemetry/index.ts'
import { changeStatuses, type EmitEvents, statusEvent } from '../messages/index.ts'
import { createRounds, type Rounds } from '../rounds.ts'
import type { OutboundMetrics } from './metrics.ts'
import { lockDoubtful, lockUnanswered, type Search, type Unanswered } from './store.ts'
import type { MessageOutcome, Transport } from './transport.ts'

export type WatchDeps = {
  readonly sql: Client
  readonly transport: Transport
  readonly emitEvents: EmitEvents
  readonly settlementLimitMs: number
  /** Of scheduled payments. */
  readonly scheduledLimitMs: number
  readonly metrics: OutboundMetrics
  readonly logger: Logger
  /** How often unanswered messages are looked for, and asked for again at first and at most. */
  readonly times?: Partial<WatchTimes>
}

export type WatchTimes = {
  readonly everyMs: number
  readonly reaskFirstMs: number
  readonly reaskMaxMs: number
}

const timesDefault: WatchTimes = { everyMs: 5_000, reaskFirstMs: 30_000, reaskMaxMs: 900_000 }
/** Asked for in one round. */
const reaskedMax = 100
/** The central bank knows a repetition for a day; what is older needs a person. */
const knownForMs = 24 * 3_600_000

/**
 * Messages that nobody has answered in time, or of which nobody knows whether they were sent: their outcome is UNKNOWN, never failed, and they are sent again with the
 * same bytes until an explicit answer comes. The central bank takes a repetition for the message it has and answers.
 */
export const createWatch = (deps: WatchDeps): Rounds => {
  const { settlementLimitMs, scheduledLimitMs, logger } = deps
  const times = { ...timesDefault, ...deps.times }
  /** When each is asked for again, by id; as many as wait in the last day at most. */
  const due = new Map<string, { readonly atMs: number; readonly asked: number }>()

  const round = async (): Promise<void> => {
    const nowMs = Date.now()
    const oldestMs = nowMs - knownForMs
    for (const [id, { atMs }] of due) if (atMs < oldestMs) due.delete(id)
    const resting = [...due].filter(([, { atMs }]) => atMs > nowMs).map(([id]) => id)
    const messages = await markUnknown(deps, {
      from: new Date(oldestMs),
      to: new Date(nowMs - settlementLimitMs),
      scheduledTo: new Date(nowMs - scheduledLimitMs),
      limit: reaskedMax,
      except: resting,
    })
    await Promise.all(messages.map((message) => ask(message, nowMs)))
  }

  const ask = async (message: Unanswered, nowMs: number): Promise<void> => {
    const asked = (due.get(message.id)?.asked ?? 0) + 1
    const retry = {
      attemptsMax: asked,
      backoffFirstMs: times.reaskFirstMs,
      backoffMaxMs: times.reaskMaxMs,
    }
    due.set(message.id, { atMs: nowMs + times.reaskFirstMs / 2 + backoffMs(asked, retry), asked })
    const { type, channel, sentXml } = message
    const outcome = await deps.transport({ type, channel, bytes: sentXml() })
    deps.metrics.onReasked()
    if (outcome.kind === 'accepted' && message.resourceId === null) {
      await noteSent(deps, message, outcome)
    }
    logger.warn(
      { id: message.id, type, biz_msg_idr: message.bizMsgIdr, asked, outcome: outcome.kind },
      'nobody has answered: the same message was sent again',
    )
  }

  return createRounds('watch of unanswered messages', times.everyMs, round, logger)
}

/** The sending is in doubt no more; the answer may still be. */
const noteSent = async (
  { sql, emitEvents, metrics }: WatchDeps,
  message: Unanswered,
  { resourceId, channel }: Extract<MessageOutcome, { kind: 'accepted' }>,
): Promise<void> => {
  const change = { id: message.id, status: 'SENT' as const, resourceId, detail: channel }
  const moved = await sql.begin(async (tx) => {
    const ids = await changeStatuses(tx, [change])
    if (ids.size > 0) await emitEvents(tx, [statusEvent(message, change)])
    return ids
  })
  if (moved.size > 0) metrics.onStatus(message.type, 'SENT')
}

const detailOf = ({ status }: Unanswered): string =>
  status === 'SENT' ? 'no answer in time' : 'not known to be sent'

const markUnknown = ({ sql, emitEvents, metrics }: WatchDeps, search: Search) =>
  sql.begin(async (tx): Promise<readonly Unanswered[]> => {
    const unanswered = await lockUnanswered(tx, search)
    const doubtful = await lockDoubtful(tx, {
      ...search,
      except: [...search.except, ...unanswered.map(({ id }) => id)],
    })
    const messages = [...unanswered, ...doubtful]
    const known = new Map(messages.map((message) => [message.id, message]))
    const changes = messages
      .filter(({ status }) => status !== 'UNKNOWN')
      .map((message) => ({
        id: message.id,
        status: 'UNKNOWN' as const,
        detail: detailOf(message),
      }))
    if (changes.length === 0) return messages
    const moved = await changeStatuses(tx, changes)
    const effective = changes.filter(({ id }) => moved.has(id))
    await emitEvents(
      tx,
      effective.flatMap((change) => {
        const message = known.get(change.id)
        return message === undefined ? [] : [statusEvent(message, change)]
      }),
    )
    for (const { id } of effective) metrics.onStatus(known.get(id)?.type ?? '', 'UNKNOWN')
    return messages
  })
