import { type Channel, momentOf } from '../../messages/index.ts'
import type { ChannelHealth } from './channel-health.ts'
import type { QueuedOutbound } from './store.ts'
import type { MessageOutcome } from './transport.ts'

/** A message in hand. */
export type InHand = QueuedOutbound & {
  /** It goes by its own channel only. */
  readonly isBound: boolean
}

export type AsideDeps = {
  /** The channels that a message may take. */
  readonly ways: (message: Pick<InHand, 'channel' | 'isBound'>) => readonly Channel[]
  /** All configured channels. */
  readonly channels: readonly Channel[]
  readonly health: Pick<ChannelHealth, 'isUp' | 'hasAnsweredSince'>
  /** How long we set a message aside that does not stand in a line. */
  readonly setAsideMs: number
}

/** True when the channel asks us to wait. */
export const isTurnedAway = (
  outcome: MessageOutcome,
): outcome is Extract<MessageOutcome, { readonly kind: 'unreachable' }> =>
  outcome.kind === 'unreachable' && !outcome.isDown

/** A message for the secondary channel has more time, whichever channel it goes by. */
export const mayWaitOn = (channel: Channel): boolean => channel === 'SECONDARY'

/** The longest rest of a message that is refused access. */
const refusedRestMaxMs = 120_000
/** A message rests for this part of its age, so that all processes send it ever more rarely. */
const refusedRestPart = 4

/** How long the queue goes on without it; undefined when it is tried again at once. */
export const asideMs = (
  stored: InHand,
  outcome: MessageOutcome,
  isAlone: boolean,
  deps: AsideDeps,
): number | undefined => {
  // Access was refused to a request of it alone: those behind it may be let in.
  if (outcome.kind === 'unreachable' && outcome.refusal !== undefined) {
    return refusedRestMs(stored, deps)
  }
  if (isTurnedAway(outcome)) return stored.isScheduled ? (outcome.retryAfterMs ?? 0) : undefined
  const isUnclear = outcome.kind === 'unknown' && isAlone && stored.isInDoubt
  return (isUnclear && isToBlame(stored, outcome.channel, deps)) || isBound(stored, deps)
    ? deps.setAsideMs
    : undefined
}

const refusedRestMs = ({ id }: InHand, { setAsideMs }: AsideDeps): number => {
  const ageMs = Date.now() - momentOf(id).getTime()
  return Math.min(refusedRestMaxMs, Math.max(setAsideMs, Math.round(ageMs / refusedRestPart)))
}

/**
 * True when a message sent by itself, and not for the first time, is answered unclearly while others are not. One that
 * may take another channel is tried on until its own is passed over, unless that has answered others meanwhile.
 */
const isToBlame = (
  stored: InHand,
  way: Channel | undefined,
  { ways, health }: AsideDeps,
): boolean => {
  const { channel, inDoubtSince } = stored
  const all = ways(stored)
  if (all.length < 2) return all.some(health.isUp)
  return way !== channel || health.hasAnsweredSince(channel, inDoubtSince?.getTime() ?? Infinity)
}

/** True when it waits for one channel while messages behind it in the queue may take another. */
const isBound = (stored: InHand, { ways, channels }: AsideDeps): boolean =>
  ways(stored).length < channels.length
