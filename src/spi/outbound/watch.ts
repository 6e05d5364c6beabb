import { backoffMs } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/telemetry/index.ts'
import { changeStatuses, type EmitEvents, statusEvent } from '../messages/index.ts'
import type { OutboundMetrics } from './metrics.ts'
import { lockUnanswered, type Unanswered } from './store.ts'
import type { Transport } from './transport.ts'

export type WatchDeps = {
  readonly sql: Client
  readonly transport: Transport
  readonly emitEvents: EmitEvents
  readonly settlementLimitMs: number
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

export type Watch = { readonly start: () => void; readonly stop: () => Promise<void> }

const timesDefault: WatchTimes = { everyMs: 5_000, reaskFirstMs: 30_000, reaskMaxMs: 900_000 }
/** Asked for in one round. */
const reaskedMax = 100
/** The central bank knows a repetition for a day; what is older needs a person. */
const knownForMs = 24 * 3_600_000

/**
 * Messages that nobody has answered in time: their outcome is UNKNOWN, never failed, and they are sent again with the
 * same bytes until an explicit answer comes. The central bank takes a repetition for the message it has and answers.
 */
export const createWatch = (deps: WatchDeps): Watch => {
  const { settlementLimitMs, logger } = deps
  const times = { ...timesDefault, ...deps.times }
  /** When each is asked for again, by id; as many as wait in the last day at most. */
  const due = new Map<string, { readonly atMs: number; readonly asked: number }>()
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<void> | undefined

  const round = async (): Promise<void> => {
    const nowMs = Date.now()
    const oldestMs = nowMs - knownForMs
    for (const [id, { atMs }] of due) if (atMs < oldestMs) due.delete(id)
    const resting = [...due].filter(([, { atMs }]) => atMs > nowMs).map(([id]) => id)
    const messages = await markUnknown(deps, resting, {
      from: new Date(oldestMs),
      to: new Date(nowMs - settlementLimitMs),
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
    const { type, channel, xml: bytes } = message
    const outcome = await deps.transport({ type, channel, bytes })
    deps.metrics.onReasked()
    logger.warn(
      { id: message.id, type, biz_msg_idr: message.bizMsgIdr, asked, outcome: outcome.kind },
      'nobody has answered: the same message was sent again',
    )
  }

  const look = (): void => {
    running ??= round()
      .catch((err: unknown) => logger.error({ err }, 'unanswered messages were not looked for'))
      .finally(() => {
        running = undefined
      })
  }
  return {
    start: () => {
      timer = setInterval(look, times.everyMs)
    },
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}

const markUnknown = (
  { sql, emitEvents, metrics }: WatchDeps,
  except: readonly string[],
  range: { readonly from: Date; readonly to: Date },
): Promise<readonly Unanswered[]> =>
  sql.begin(async (tx) => {
    const messages = await lockUnanswered(tx, range, reaskedMax, except)
    const changes = messages
      .filter(({ status }) => status === 'SENT')
      .map(({ id }) => ({ id, status: 'UNKNOWN' as const, detail: 'no answer in time' }))
    if (changes.length === 0) return messages
    const moved = await changeStatuses(tx, changes)
    const events = messages.flatMap((message) => {
      const change = changes.find(({ id }) => id === message.id)
      return change === undefined || !moved.has(message.id) ? [] : [statusEvent(message, change)]
    })
    await emitEvents(tx, events)
    for (const { type } of messages.filter(({ id }) => moved.has(id))) {
      metrics.onStatus(type, 'UNKNOWN')
    }
    return messages
  })
