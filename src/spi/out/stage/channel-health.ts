import { type HealthCheck, roundTrip } from '#src/platform/http/index.ts'
import { createOutageLog, type Logger, type OutageLog } from '#src/platform/observe/index.ts'
import type { Channel } from '../../messages/index.ts'
import type { Refusal } from './outcome-text.ts'
import type { MessageOutcome } from './transport.ts'

/** So many requests in a row without a clear answer, or attempts without one in time, mean a channel is down. */
export const failuresMax = 3
/** After this time one request tests whether the channel answers again. */
export const downMs = 5_000

/** After so many messages refused access in a row, each alone, we take it that the interface refuses us. */
export const accessRefusalsMin = 2
/** How many of them we know by name, so that they keep no other out. Any more of them pause the channel each time. */
export const refusedMax = 10
/** How many refused messages we remember, to tell which are to blame themselves. */
const suspectsMax = 1_000

/** The interface refused a request of several messages, which says nothing about any one of them. */
export class RefusedTogetherError extends Error {
  override readonly name = 'RefusedTogetherError'
}

export type ChannelHealth = ReturnType<typeof createChannelHealth>

type State = {
  /** Failures in a row. */
  failures: number
  downUntilMs: number
  /** Milliseconds since 1970. */
  answeredAtMs: number
  /** While it refuses us access: when a look comes. Otherwise 0. */
  pausedUntilMs: number
  /** Requests under way that test whether the channel is back. */
  looking: number
  /** Messages refused access alone since it last let one in, none of them known to be to blame; {@link refusedMax} at most. */
  readonly refused: Set<string>
  /** How many requests it has let in. */
  grants: number
  /** Messages refused since they were last let in, each with the number of `grants` when it first was. */
  readonly suspects: Map<string, number>
  /** How long the last answered request took, with its waits and repetitions. */
  roundTripMs: number | undefined
  readonly outage: OutageLog
  readonly access: OutageLog
}

/** Knows which channels answer and grant access. One request at a time tests whether a channel that is down is back. */
export const createChannelHealth = ({
  channels,
  logger,
  lookAfterMs = downMs,
  nowMs = () => performance.now(),
}: {
  readonly channels: readonly Channel[]
  readonly logger: Logger
  /** Tests set these; otherwise they are {@link downMs} and the system's clock. */
  readonly lookAfterMs?: number | undefined
  readonly nowMs?: () => number
}) => {
  const states = new Map<Channel, State>()
  const stateOf = (channel: Channel): State => {
    const known = states.get(channel)
    if (known !== undefined) return known
    const state = newState(channel, logger)
    states.set(channel, state)
    return state
  }
  return {
    /** False: messages for this channel should take another, if there is one. */
    isUp: (channel: Channel) => {
      const { looking, downUntilMs, pausedUntilMs } = stateOf(channel)
      // A test may hang for long: other requests must not hang with it.
      return looking === 0 && nowMs() >= Math.max(downUntilMs, pausedUntilMs)
    },
    /** True while it refuses us access, but for one request at a time that looks whether it still does. */
    isPaused: (channel: Channel) => {
      const { looking, pausedUntilMs } = stateOf(channel)
      return pausedUntilMs > 0 && (looking > 0 || nowMs() < pausedUntilMs)
    },
    /** True when the channel refuses it and has let in others since it first did. */
    isToBlame: (channel: Channel, id: string) => isToBlame(stateOf(channel), id),
    /** @param ids of the messages in the request, in their order */
    noted: async (
      channel: Channel,
      request: () => Promise<readonly MessageOutcome[]>,
      ids: readonly string[],
    ) => {
      const state = stateOf(channel)
      const isLook =
        state.failures >= failuresMax || (state.pausedUntilMs > 0 && !isKnown(state, ids))
      if (isLook) state.looking++
      try {
        const startMs = nowMs()
        const outcomes = await request()
        const [one] = outcomes
        // It had to wait, mostly for a bucket of our own, so it says nothing about the channel.
        if (one?.kind === 'unreachable' && !one.isDown) return outcomes
        noteOutcome(state, one, nowMs() + lookAfterMs, ids)
        if (state.failures === 0) state.roundTripMs = nowMs() - startMs
        return outcomes
      } catch (error) {
        if (error instanceof RefusedTogetherError) {
          answered(state)
          suspect(state, ids)
        }
        throw error
      } finally {
        if (isLook) state.looking--
      }
    },
    /** True when the channel has answered anything after a moment, in milliseconds since 1970. */
    hasAnsweredSince: (channel: Channel, sinceMs: number) =>
      stateOf(channel).answeredAtMs > sinceMs,
    /** An attempt got no answer in time; its request may go on. */
    noteLate: (channel: Channel) => failed(stateOf(channel), nowMs() + lookAfterMs),
    check: () => healthOf(channels, stateOf),
  }
}

/** @param lookAtMs when a request may look whether the channel is back */
const failed = (state: State, lookAtMs: number): void => {
  state.failures++
  if (state.failures < failuresMax) return
  state.downUntilMs = lookAtMs
  state.outage.failed(undefined, { requests_without_answer: state.failures })
}

const answered = (state: State): void => {
  state.failures = 0
  state.downUntilMs = 0
  state.answeredAtMs = Date.now()
  state.outage.worked()
}

const suspect = ({ suspects, grants }: State, ids: readonly string[]): void => {
  for (const id of ids) if (!suspects.has(id)) suspects.set(id, grants)
  for (const id of suspects.keys()) {
    if (suspects.size <= suspectsMax) return
    suspects.delete(id)
  }
}

const isToBlame = ({ suspects, grants }: State, id: string): boolean =>
  (suspects.get(id) ?? grants) < grants

/** True when the refusal of these tells nothing more: they are to blame themselves, or have been refused before. */
const isKnown = (state: State, ids: readonly string[]): boolean =>
  ids.every((id) => state.refused.has(id) || isToBlame(state, id))

/** The first one refused may be to blame itself, so it does not stop those behind it, and no message stops them twice. */
const noteRefusal = (
  state: State,
  { status, problem }: Omit<Refusal, 'kind'>,
  lookAtMs: number,
  ids: readonly string[],
): void => {
  answered(state)
  suspect(state, ids)
  if (!isKnown(state, ids)) {
    const isRoom = state.refused.size < refusedMax
    if (isRoom) for (const id of ids) state.refused.add(id)
    if (state.refused.size >= accessRefusalsMin) state.pausedUntilMs = lookAtMs
  }
  // Until one message is let in, we report that the interface refuses us, even if we hold up no other for it.
  if (state.refused.size > 0) state.access.failed(undefined, { status, problem: problem.type })
}

const noteOutcome = (
  state: State,
  one: MessageOutcome | undefined,
  lookAtMs: number,
  ids: readonly string[],
): void => {
  if (one?.kind === 'unreachable' && one.refusal !== undefined) {
    noteRefusal(state, one.refusal, lookAtMs, ids)
    return
  }
  const isAnswered = one?.kind !== 'unknown' && one?.kind !== 'unreachable'
  if (isAnswered) answered(state)
  // `noteLate` has counted a late one already.
  else if (one?.kind !== 'unknown' || one.isLate !== true) failed(state, lookAtMs)
  if (one?.kind === 'accepted' || one?.kind === 'refused') {
    state.refused.clear()
    state.pausedUntilMs = 0
    state.grants++
    for (const id of ids) state.suspects.delete(id)
    state.access.worked()
  }
}

const healthOf = (
  channels: readonly Channel[],
  stateOf: (channel: Channel) => State,
): HealthCheck => {
  const detail = Object.fromEntries(
    channels.map((channel) => {
      const { failures, refused, roundTripMs } = stateOf(channel)
      const up = failures < failuresMax
      const about = { up, access_refused: refused.size > 0, refusals: refused.size }
      return [channel.toLowerCase(), { ...about, round_trip_ms: roundTrip(roundTripMs) }]
    }),
  )
  const takes = Object.values(detail).filter((one) => one.up && !one.access_refused).length
  const status = takes === channels.length ? 'ok' : takes === 0 ? 'down' : 'degraded'
  // We take and keep messages anyway, so this is no reason to refuse traffic.
  return { status, ready: true, detail }
}

const newState = (channel: Channel, logger: Logger): State => ({
  failures: 0,
  downUntilMs: 0,
  answeredAtMs: 0,
  pausedUntilMs: 0,
  looking: 0,
  refused: new Set(),
  grants: 0,
  suspects: new Map(),
  roundTripMs: undefined,
  outage: createOutageLog(logger, {
    level: 'error',
    away: 'a channel takes no messages',
    back: 'the channel takes messages again',
    about: { channel },
  }),
  access: createOutageLog(logger, {
    level: 'error',
    away: 'the message interface refuses us access: what is to be sent waits. Mend certificate or admission',
    back: 'the message interface grants us access again',
    about: { channel },
  }),
})
