import {
  afterCommit,
  type Client,
  type Queryable,
  type Transaction,
} from '#src/platform/database/index.ts'
import { createJob, type Job, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import { inSpan, type Logger } from '#src/platform/observe/index.ts'
import { backoffMs } from '#src/platform/runtime/index.ts'
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
  hasAskedFor,
  hasToAsk,
  hasToMark,
  lockDoubtful,
  lockOverdue,
  lockUnanswered,
  noteReasks,
  type StoredOutbound,
  takeAskedFor,
  takeBackReask,
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
/** While none is, the time between two looks grows up to this many times. */
const restFactor = 2
/** Messages of one kind that are sent again at once, and how often one round does so while there are more. */
const reaskedMax = 100
const reasksMax = 5
/** Messages that one transaction marks, and transactions of one round. */
export const markedMax = 500
export const marksMax = 20
/** How far we look back at most while nobody has looked through to the end, as after a long outage. */
const lookBackMaxMs = 30 * 24 * 3_600_000

/**
 * Watches messages that nobody has answered in time, or that we may not have sent: their outcome is UNKNOWN, never
 * failed, and we send the same bytes again for a day, or until an explicit answer comes. The central bank recognises them.
 * However slow it is, they are marked in time, and what a person wants sent again does not wait for what is asked by
 * itself.
 */
export const createWatch = (deps: WatchDeps): Pick<Job, 'start' | 'stop'> => {
  const { sql, limits, logger } = deps
  const times = { ...timesDefault, ...deps.times }
  const ask = createAsking(deps, times)
  const overdueAt = (nowMs: number) => ({
    from: new Date(nowMs - knownForMs),
    to: new Date(nowMs - limits.settlementLimitMs),
    scheduledTo: new Date(nowMs - limits.scheduledLimitMs),
  })
  const job = (name: string, run: (round: Round) => Promise<unknown>): Job =>
    createJob({
      name,
      everyMs: times.everyMs,
      restMs: restFactor * times.everyMs,
      isVital: true,
      logger,
      run,
    })

  // Mostly there is nothing: one statement says so, without a transaction.
  const asking = job('watch of unanswered messages', async ({ advance, signal }) => {
    const search = overdueAt(Date.now())
    if (!(await hasToAsk(sql, search))) return nothingFound
    for (let asks = 0; asks < reasksMax && !signal.aborted; asks++) {
      const { count, isTurnedAway } = await ask(
        (tx) => lockUnanswered(tx, { ...search, limit: reaskedMax }),
        advance,
      )
      if (count < reaskedMax || isTurnedAway) break
    }
    return undefined
  })
  const resending = job('resends that were asked for', async ({ advance }) => {
    if (!(await hasAskedFor(sql))) return nothingFound
    const { from } = overdueAt(Date.now())
    return ask((tx) => takeAskedFor(tx, { from, limit: reaskedMax }), advance)
  })
  /** When we last looked for overdue messages to the end: what was made long before is marked. */
  let lookedMs = Number.NEGATIVE_INFINITY
  const marking = job('search for unanswered messages', async () => {
    const nowMs = Date.now()
    const inDoubt = overdueAt(nowMs)
    const from = new Date(Math.max(nowMs - lookBackMaxMs, lookedMs - knownForMs))
    const overdue = { ...inDoubt, from }
    if (!(await hasToMark(sql, overdue, inDoubt))) {
      lookedMs = nowMs
      return nothingFound
    }
    const isThrough = await mark(deps, 'no answer in time', (tx) =>
      lockOverdue(tx, { ...overdue, limit: markedMax }),
    )
    if (isThrough) lookedMs = nowMs
    await mark(deps, 'not known to be sent', (tx) =>
      lockDoubtful(tx, { ...inDoubt, limit: markedMax }),
    )
    asking.kick()
    return undefined
  })

  const jobs = [marking, asking, resending]
  return {
    start: async () => {
      await Promise.all(jobs.map(({ start }) => start()))
    },
    stop: async () => {
      await Promise.all(jobs.map(({ stop }) => stop()))
    },
  }
}

type Asked = {
  readonly noted: RepetitionOutcome
  /** The channel takes no more for now. */
  readonly isTurnedAway?: boolean
}

/** Sends messages again, and keeps the whole fleet from doing so before each is due. */
const createAsking = (deps: WatchDeps, times: WatchTimes) => {
  const { sql, logger } = deps

  const ask = async (message: ToAsk, onProgress: () => void): Promise<Asked> => {
    const { id, type, channel, repetition, reasks } = message
    const bytes = bytesOf(message, logger)
    if (bytes === undefined) return { noted: { id, repetition, detail: sentIsLost } }
    const parent = message.traceparent ?? undefined
    const outcome = await inSpan(`send again ${type}`, { parent }, () =>
      deps.transport({ id, type, channel, bytes, onProgress }),
    )
    if (outcome.kind === 'unreachable' && !outcome.isDown) {
      // Nothing went out: it comes again when the channel takes it, and does not count.
      await takeBackReask(sql, { id, reasks, pauseMs: outcome.retryAfterMs ?? 0 })
      return { noted: { id, repetition, detail: repetitionText(outcome) }, isTurnedAway: true }
    }
    deps.metrics.onReasked()
    if (outcome.kind === 'accepted' && message.resourceId === null) {
      await sql.begin((tx) => recordSent(tx, message, outcome, deps))
    }
    logger.warn(
      { id, type, biz_msg_idr: message.bizMsgIdr, repetition, outcome: outcome.kind },
      'nobody has answered: the same message was sent again',
    )
    return { noted: { id, repetition, detail: repetitionText(outcome) } }
  }

  return async (
    lock: (tx: Transaction) => Promise<readonly Unanswered[]>,
    onProgress: () => void,
  ): Promise<{ readonly count: number; readonly isTurnedAway: boolean }> => {
    const messages = await sql.begin(async (tx) => noteAsked(tx, await lock(tx), times))
    const asked = await Promise.allSettled(messages.map((message) => ask(message, onProgress)))
    const outcomes = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await setRepetitionOutcomes(
      sql,
      outcomes.map(({ noted }) => noted),
    )
    const failed = asked.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return { count: messages.length, isTurnedAway: outcomes.some((one) => one.isTurnedAway) }
  }
}

/**
 * Marks messages that nobody has told us of in time, many at once; we ask for them one by one.
 *
 * @returns false when there may be more
 */
const mark = async (
  deps: WatchDeps,
  detail: string,
  lock: (tx: Transaction) => Promise<readonly StoredOutbound[]>,
): Promise<boolean> => {
  for (let marks = 0; marks < marksMax; marks++) {
    const found = await deps.sql.begin(async (tx) => {
      const messages = await lock(tx)
      await markUnknown(tx, messages, detail, deps)
      return messages.length
    })
    if (found < markedMax) return true
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

/**
 * Writes to their history, and when they are due again, before the first byte goes out: if the process dies, it shows that
 * we were about to ask.
 */
const noteAsked = async (
  tx: Transaction,
  messages: readonly Unanswered[],
  { reaskFirstMs, reaskMaxMs }: WatchTimes,
): Promise<readonly ToAsk[]> => {
  if (messages.length === 0) return []
  const numbers = await noteRepetitions(
    tx,
    messages.map(({ id }) => ({ id, detail: sentAgain })),
  )
  const asked = messages.flatMap((message): readonly ToAsk[] => {
    const repetition = numbers.get(message.id)
    const reasks = message.reasks + 1
    return repetition === undefined ? [] : [{ ...message, reasks, repetition }]
  })
  await noteReasks(
    tx,
    asked.map(({ id, reasks }) => {
      const growing = {
        attemptsMax: reasks,
        backoffFirstMs: reaskFirstMs,
        backoffMaxMs: reaskMaxMs,
      }
      return { id, reasks, pauseMs: reaskFirstMs / 2 + backoffMs(reasks, growing) }
    }),
  )
  return asked
}

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
