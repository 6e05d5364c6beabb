import type { HealthCheck } from '#src/platform/http/index.ts'
import { createOutageLog, type Logger, type OutageLog } from '#src/platform/observe/index.ts'
import type { Channel } from '../../messages/index.ts'
import { accessRefusedCode, isAccessRefused } from './refusal.ts'
import type { MessageOutcome } from './transport.ts'

/** Requests in a row without a clear answer, or attempts of any without one in time, after which a channel is taken for down. */
export const failuresMax = 3
/** Afterwards one request looks whether it answers again. */
export const downMs = 5_000

/** A request of several was refused, which says nothing of any one of them. */
export class RefusedTogetherError extends Error {
  override readonly name = 'RefusedTogetherError'
}

/** Which channels answer and grant access. A channel that is down has one request at a time look whether it is back. */
export type ChannelHealth = {
  /** False: what waits for this channel had better go elsewhere, where there is an elsewhere. */
  readonly isUp: (channel: Channel) => boolean
  readonly noted: (
    channel: Channel,
    request: () => Promise<readonly MessageOutcome[]>,
  ) => Promise<readonly MessageOutcome[]>
  /** An attempt has had no answer in time; its request may go on. */
  readonly noteLate: (channel: Channel) => void
  readonly check: () => HealthCheck
}

type State = {
  /** In a row without an answer. */
  failures: number
  downUntilMs: number
  /** Requests under way that look whether it is back. */
  looking: number
  /** In a row that were refused as those of a stranger. */
  accessRefusals: number
  readonly outage: OutageLog
  readonly access: OutageLog
}

const remedy = `trilho dlq retry --all --code ${accessRefusedCode}`

export const createChannelHealth = ({
  channels,
  logger,
  nowMs = () => performance.now(),
}: {
  readonly channels: readonly Channel[]
  readonly logger: Logger
  /** Other than the system's in tests. */
  readonly nowMs?: () => number
}): ChannelHealth => {
  const states = new Map<Channel, State>()
  const stateOf = (channel: Channel): State => {
    const known = states.get(channel)
    if (known !== undefined) return known
    const state = newState(channel, logger)
    states.set(channel, state)
    return state
  }
  return {
    isUp: (channel) => {
      const { looking, downUntilMs } = stateOf(channel)
      // A look may hang for long: what else waits is not to hang with it.
      return looking === 0 && nowMs() >= downUntilMs
    },
    noted: async (channel, request) => {
      const state = stateOf(channel)
      const isLook = state.failures >= failuresMax
      if (isLook) state.looking++
      try {
        const outcomes = await request()
        noteOutcome(state, outcomes[0], nowMs())
        return outcomes
      } catch (error) {
        if (error instanceof RefusedTogetherError) answered(state)
        throw error
      } finally {
        if (isLook) state.looking--
      }
    },
    noteLate: (channel) => failed(stateOf(channel), nowMs()),
    check: () => healthOf(channels, stateOf),
  }
}

const failed = (state: State, nowMs: number): void => {
  state.failures++
  if (state.failures < failuresMax) return
  state.downUntilMs = nowMs + downMs
  state.outage.failed(undefined, { requests_without_answer: state.failures })
}

const answered = (state: State): void => {
  state.failures = 0
  state.downUntilMs = 0
  state.outage.worked()
}

const noteOutcome = (state: State, one: MessageOutcome | undefined, nowMs: number): void => {
  const isAnswered = one?.kind !== 'unknown' && !(one?.kind === 'unreachable' && one.isDown)
  if (isAnswered) answered(state)
  // `noteLate` has told of a late one already.
  else if (one?.kind !== 'unknown' || one.isLate !== true) failed(state, nowMs)
  if (one?.kind === 'refused' && isAccessRefused(one)) {
    state.accessRefusals++
    state.access.failed(undefined, { status: one.status, problem: one.problem.type })
  } else if (one?.kind === 'accepted' || one?.kind === 'refused') {
    state.accessRefusals = 0
    state.access.worked()
  }
}

const healthOf = (
  channels: readonly Channel[],
  stateOf: (channel: Channel) => State,
): HealthCheck => {
  const detail = Object.fromEntries(
    channels.map((channel) => {
      const { failures, accessRefusals } = stateOf(channel)
      const up = failures < failuresMax
      const about = { up, access_refused: accessRefusals > 0, refusals: accessRefusals }
      return [channel.toLowerCase(), about]
    }),
  )
  const takes = Object.values(detail).filter((one) => one.up && !one.access_refused).length
  const status = takes === channels.length ? 'ok' : takes === 0 ? 'down' : 'degraded'
  // Messages are taken and kept all the same: not a reason to take no traffic.
  return { status, ready: true, detail }
}

const newState = (channel: Channel, logger: Logger): State => ({
  failures: 0,
  downUntilMs: 0,
  looking: 0,
  accessRefusals: 0,
  outage: createOutageLog(logger, {
    level: 'error',
    away: 'a channel takes no messages',
    back: 'the channel takes messages again',
    about: { channel },
  }),
  access: createOutageLog(logger, {
    level: 'error',
    away: 'the message interface refuses us access: every message sent now ends FAILED in dlq. Mend certificate or admission, then retry them',
    back: 'the message interface grants us access again: retry what FAILED meanwhile',
    about: { channel, remedy },
  }),
})
