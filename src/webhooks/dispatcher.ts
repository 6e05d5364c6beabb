import type { Client } from '#src/platform/database/index.ts'
import {
  createJob,
  createLoop,
  type Loop,
  nothingFound,
  type Round,
} from '#src/platform/jobs/index.ts'
import { inSpan, isTracing, type Logger, serverOf } from '#src/platform/observe/index.ts'
import { afterAttempt } from './domain.ts'
import { type SentForm, sentBody } from './events.ts'
import { createLanes, type Lane, notePace } from './lanes.ts'
import { lowOf } from './lows.ts'
import { createOutcomeWriter, type DeliveryCounter, type OutcomeWriter } from './outcomes.ts'
import { type ClaimedDelivery, claimDue } from './queue.ts'
import type { AttemptResult, Sender } from './sender.ts'

/** The facts that sending to an endpoint needs. */
export type ActiveEndpoint = SentForm & {
  readonly id: string
  readonly account: string
  /** The URL as it was set. */
  readonly url: string
  /** The URL that deliveries go to. */
  readonly target: string
  /** The present secret's key, and the previous one's while both are valid. */
  readonly keys: readonly Uint8Array[]
}

export type DispatcherDeps = {
  readonly sql: Client
  readonly send: Sender
  readonly activeEndpoints: () => Promise<readonly ActiveEndpoint[]>
  readonly concurrencyMax: number
  readonly timeoutMs: number
  readonly deliveries: DeliveryCounter
  readonly logger: Logger
}

export type Dispatcher = {
  /** Call it when something may be due. */
  readonly kick: () => void
  readonly start: () => void
  /** Takes nothing new; resolves when running attempts have ended and their outcomes are written. */
  readonly drain: () => Promise<void>
  /** Attempts, and the writing of their outcomes. */
  readonly loops: readonly Loop[]
}

/** How often we look for retries that came due. */
const pollMs = 500
/** The same while nothing is due. */
const pollRestMs = 5_000
/** How long we gather kicks: a few claims of many rows cost less than many claims of few. */
const gatherMs = 3
const leaseMarginSeconds = 30
/** Sends due deliveries, each endpoint at its own pace. */
export const createDispatcher = (deps: DispatcherDeps): Dispatcher => {
  const { sql, logger } = deps
  const lanes = createLanes(deps.concurrencyMax)
  const outcomes = createOutcomeWriter(sql, deps.deliveries, logger)
  const attempts = createLoop('webhook attempts')
  const running = new Set<Promise<void>>()

  /**
   * If others hold places for long, the first kind takes every free one; so each kind is first at every second look.
   */
  let failingFirst = true

  const take = async ({ signal }: Round): Promise<unknown> => {
    const active = await deps.activeEndpoints()
    const endpoints = new Map(active.map((one) => [one.id, one]))
    lanes.keep(active)
    failingFirst = !failingFirst
    let [count, isWhole] = [0, true]
    for (const isFailing of [failingFirst, !failingFirst]) {
      const free = lanes.free(active, isFailing)
      if (free.rooms.size === 0) continue
      if (signal.aborted) break
      const leaseSeconds = deps.timeoutMs / 1000 + leaseMarginSeconds
      const lows = lanes.lows(active, free)
      if (lows.size > 0) isWhole = false
      const claimed = await claimDue(sql, free, leaseSeconds, lows)
      count += claimed.length
      for (const delivery of claimed) {
        const endpoint = endpoints.get(delivery.endpointId)
        if (endpoint !== undefined) launch(delivery, endpoint)
      }
    }
    return count === 0 && isWhole ? nothingFound : undefined
  }

  const looks = createJob({
    name: 'due webhook deliveries',
    everyMs: pollMs,
    restMs: pollRestMs,
    gatherMs,
    isVital: true,
    logger,
    run: take,
  })

  const launch = (delivery: ClaimedDelivery, endpoint: ActiveEndpoint): void => {
    const lane = lanes.begin(endpoint)
    lane.low = lowOf(delivery.dueAt)
    const work = attempts.begin()
    const run = attempt(deps, outcomes, delivery, endpoint, lane).finally(() => {
      work.end()
      lane.running--
      running.delete(run)
      looks.kick()
    })
    running.add(run)
  }

  return {
    kick: looks.kick,
    loops: [attempts, outcomes.watched],
    start: () => void looks.start(),
    drain: async () => {
      await looks.stop()
      await Promise.all(running)
      await outcomes.settled()
    },
  }
}

/** Makes one attempt and records what follows from it. */
const attempt = async (
  { send, concurrencyMax }: DispatcherDeps,
  outcomes: OutcomeWriter,
  delivery: ClaimedDelivery,
  endpoint: ActiveEndpoint,
  lane: Lane,
): Promise<void> => {
  const { url, target, keys } = endpoint
  const body = sentBody(endpoint, { ...delivery, id: delivery.eventId })
  const result = await tracedSend(delivery, target, () =>
    send({ url: target, keys, eventId: delivery.eventId, attempt: delivery.attempt, body }),
  )
  const step = afterAttempt(delivery.attempt, result.outcome, Math.random())
  notePace(lane, step.state === 'delivered', concurrencyMax)
  outcomes.add({ delivery, url, result, step })
}

/** Opens a span in the trace that caused the event. */
const tracedSend = (
  { type, attempt, traceparent }: ClaimedDelivery,
  url: string,
  send: () => Promise<AttemptResult>,
): Promise<AttemptResult> => {
  if (!isTracing()) return send()
  const attributes = {
    'http.request.method': 'POST',
    ...serverOf(url),
    'trilho.webhook.event_type': type,
    'trilho.webhook.attempt': attempt,
  }
  const parent = traceparent ?? undefined
  return inSpan('webhook attempt', { kind: 'client', parent, attributes }, async (span) => {
    const result = await send()
    span.set({ 'http.response.status_code': result.statusCode })
    if (result.errorClass !== undefined) span.fail(result.errorClass)
    return result
  })
}
