import { backoffMs } from '#src/platform/broker/index.ts'
import { afterCommit, type Client, type Queryable } from '#src/platform/database/index.ts'
import { createJob, type Job, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import { inSpan, type Logger } from '#src/platform/observe/index.ts'
import {
  changeStatuses,
  knownForMs,
  type LateDeps,
  noteRepetitions,
  type RepetitionOutcome,
  setRepetitionOutcomes,
  statusEvent,
} from '../../messages/index.ts'
import type { AnswerLimits, IsLate } from './limits.ts'
import type { OutboundMetrics } from './metrics.ts'
import { repetitionText, sentAgain, sentIsLost } from './outcome-text.ts'
import { recordSent } from './sent.ts'
import {
  hasUnanswered,
  lockDoubtful,
  lockOverdue,
  lockUnanswered,
  type Search,
  type StoredOutbound,
  takeAskedFor,
  type Unanswered,
} from './store.ts'
import type { Transport } from './transport.ts'

export type WatchDeps = LateDeps & {
  readonly sql: Client
  readonly transport: Transport
  readonly limits: AnswerLimits
  readonly isLate: IsLate
  readonly metrics: OutboundMetrics
  readonly logger: Logger
  /** How often we look for unanswered messages, and how soon we send one again, at first and at most. */
  readonly times?: Partial<WatchTimes> | undefined
}

export type WatchTimes = {
  readonly everyMs: number
  readonly reaskFirstMs: number
  readonly reaskMaxMs: number
}

const timesDefault: WatchTimes = { everyMs: 5_000, reaskFirstMs: 30_000, reaskMaxMs: 900_000 }
/** While none is, the time between two looks grows to so many times that. */
const restFactor = 2
/** Messages sent again in one round. */
const reaskedMax = 100
/** Messages that one transaction marks, and transactions of one round. */
export const markedMax = 500
export const marksMax = 20
/** How far we look back at most while nobody has looked through to the end, as after a long outage. */
const lookBackMaxMs = 30 * 24 * 3_600_000

/**
 * Watches messages that nobody has answered in time, or that we may not have sent: their outcome is UNKNOWN, never
 * failed, and we send the same bytes again until an explicit answer comes. The central bank recognises them.
 */
export const createWatch = (deps: WatchDeps): Job => {
  const { settlementLimitMs, scheduledLimitMs } = deps.limits
  const times = { ...timesDefault, ...deps.times }
  const { restingAt, ask } = createAsking(deps, times)
  /** When we last looked for overdue messages to the end: what was made long before is marked. */
  let lookedMs = Number.NEGATIVE_INFINITY

  const round = async ({ advance: onProgress }: Round): Promise<unknown> => {
    const nowMs = Date.now()
    const oldestMs = nowMs - knownForMs
    const limits = {
      to: new Date(nowMs - settlementLimitMs),
      scheduledTo: new Date(nowMs - scheduledLimitMs),
    }
    const marked = {
      ...limits,
      from: new Date(Math.max(nowMs - lookBackMaxMs, lookedMs - knownForMs)),
    }
    const toAsk = { ...limits, from: new Date(oldestMs), except: restingAt(nowMs) }
    // Mostly there is nothing: one statement says so, without a transaction.
    if (!(await hasUnanswered(deps.sql, marked, toAsk))) {
      lookedMs = nowMs
      return nothingFound
    }
    if (await markOverdue(deps, { ...marked, limit: markedMax })) lookedMs = nowMs
    const messages = await findToAsk(deps, { ...toAsk, limit: reaskedMax })
    const asked = await Promise.allSettled(
      messages.map((message) => ask(message, nowMs, onProgress)),
    )
    const outcomes = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await setRepetitionOutcomes(deps.sql, outcomes)
    const failed = asked.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return undefined
  }

  return createJob({
    name: 'watch of unanswered messages',
    everyMs: times.everyMs,
    restMs: restFactor * times.everyMs,
    isVital: true,
    logger: deps.logger,
    run: round,
  })
}

/** Sends a message again, and knows when each is due for it. */
const createAsking = (deps: WatchDeps, times: WatchTimes) => {
  const { logger } = deps
  /** When we send each again, by id; holds at most the messages that wait since the last day. */
  const due = new Map<string, { readonly atMs: number; readonly asked: number }>()

  const ask = async (
    message: ToAsk,
    nowMs: number,
    onProgress: () => void,
  ): Promise<RepetitionOutcome> => {
    const asked = (due.get(message.id)?.asked ?? 0) + 1
    const retry = {
      attemptsMax: asked,
      backoffFirstMs: times.reaskFirstMs,
      backoffMaxMs: times.reaskMaxMs,
    }
    due.set(message.id, { atMs: nowMs + times.reaskFirstMs / 2 + backoffMs(asked, retry), asked })
    const { id, type, channel, repetition } = message
    const bytes = bytesOf(message, logger)
    if (bytes === undefined) return { id, repetition, detail: sentIsLost }
    const parent = message.traceparent ?? undefined
    const outcome = await inSpan(`send again ${type}`, { parent }, () =>
      deps.transport({ type, channel, bytes, onProgress }),
    )
    if (outcome.kind === 'unreachable' && !outcome.isDown) {
      // Nothing went out: it comes again when the channel takes it, and does not count.
      due.set(id, { atMs: Date.now() + (outcome.retryAfterMs ?? 0), asked: asked - 1 })
      return { id, repetition, detail: repetitionText(outcome) }
    }
    deps.metrics.onReasked()
    if (outcome.kind === 'accepted' && message.resourceId === null) {
      await deps.sql.begin((tx) => recordSent(tx, message, outcome, deps))
    }
    logger.warn(
      { id, type, biz_msg_idr: message.bizMsgIdr, repetition, outcome: outcome.kind },
      'nobody has answered: the same message was sent again',
    )
    return { id, repetition, detail: repetitionText(outcome) }
  }

  return {
    ask,
    /** Those that are not due yet. */
    restingAt: (nowMs: number): readonly string[] => {
      for (const [id, { atMs }] of due) if (atMs < nowMs - knownForMs) due.delete(id)
      return [...due].filter(([, { atMs }]) => atMs > nowMs).map(([id]) => id)
    },
  }
}

/**
 * Marks messages without an answer in time, many at once; we ask for them again one by one.
 *
 * @returns false when there may be more
 */
const markOverdue = async (
  deps: WatchDeps,
  search: Parameters<typeof lockOverdue>[1],
): Promise<boolean> => {
  for (let marks = 0; marks < marksMax; marks++) {
    const found = await deps.sql.begin(async (tx) => {
      const messages = await lockOverdue(tx, search)
      await markUnknown(tx, messages, 'no answer in time', deps)
      return messages.length
    })
    if (found < search.limit) return true
  }
  return false
}

type ToAsk = Unanswered & { readonly repetition: number }

/** The same bytes as before; undefined when they cannot be made, and nothing may go out in their place. */
const bytesOf = ({ id, type, sentXml }: ToAsk, logger: Logger): Uint8Array | undefined => {
  try {
    return sentXml()
  } catch (err) {
    logger.error({ err, id, type }, 'nobody has answered, and the message cannot be sent again')
    return undefined
  }
}

/** Writes to their history before the first byte goes out: if the process dies, it shows that we were about to ask. */
const findToAsk = ({ sql, ...deps }: WatchDeps, search: Search) =>
  sql.begin(async (tx): Promise<readonly ToAsk[]> => {
    const wanted = await takeAskedFor(tx, search)
    const but = (taken: readonly Unanswered[]): Search => ({
      ...search,
      except: [...search.except, ...taken.map(({ id }) => id)],
    })
    const unanswered = await lockUnanswered(tx, but(wanted))
    const doubtful = await lockDoubtful(tx, but([...wanted, ...unanswered]))
    const queued = doubtful.filter(({ status }) => status !== 'UNKNOWN')
    await markUnknown(tx, queued, 'not known to be sent', deps)
    const messages = [...wanted, ...unanswered, ...doubtful]
    if (messages.length === 0) return []
    const numbers = await noteRepetitions(
      tx,
      messages.map(({ id }) => ({ id, detail: sentAgain })),
    )
    return messages.flatMap((message) => {
      const repetition = numbers.get(message.id)
      return repetition === undefined ? [] : [{ ...message, repetition }]
    })
  })

const markUnknown = async (
  tx: Queryable,
  messages: readonly StoredOutbound[],
  detail: string,
  { emitEvents, metrics }: Pick<WatchDeps, 'emitEvents' | 'metrics'>,
): Promise<void> => {
  if (messages.length === 0) return
  const status = 'UNKNOWN' as const
  const moved = await changeStatuses(
    tx,
    messages.map(({ id }) => ({ id, status, detail })),
  )
  const effective = messages.filter(({ id }) => moved.has(id))
  await emitEvents(
    tx,
    effective.map((message) => statusEvent(message, { id: message.id, status, detail })),
  )
  afterCommit(tx, () => {
    for (const { type } of effective) metrics.onStatus(type, status)
  })
}
