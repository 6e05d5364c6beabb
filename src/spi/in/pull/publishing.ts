import {
  letterBytesMax,
  PublishRefusedError,
  type RetryPolicy,
} from '#src/platform/broker/index.ts'
import { createOutageLog, type Logger, type OutageLog } from '#src/platform/observe/index.ts'
import { backoffMs, pause } from '#src/platform/runtime/index.ts'
import type { Channel } from '../../messages/index.ts'
import { type Letter, refusedLetter } from './letters.ts'
import { type InboundMessage, inboundHeaders } from './message.ts'

export type PublishingDeps = {
  readonly channel: Channel
  readonly publish: (messages: readonly InboundMessage[]) => Promise<void>
  readonly retry: RetryPolicy
  readonly logger: Logger
  /** One for all batches of a stream, as {@link publishingOutage} makes it. */
  readonly publishOutage: OutageLog
  readonly giveUp: AbortSignal
  readonly onFailure: (kind: 'publish') => void
  readonly onLetter: () => void
}

/** A message that waits to be published, as it came, or a letter in its place. */
type Waiting = {
  readonly message: InboundMessage
  /** How often the broker has refused the message; that it was away does not count. */
  readonly refusals: number
  readonly letter: Letter | undefined
  /** The sizes of a letter that were not tried yet. */
  readonly sizes: readonly number[]
}

export const publishingOutage = (logger: Logger, channel: Channel): OutageLog =>
  createOutageLog(logger, {
    level: 'error',
    away: 'received messages cannot be published',
    back: 'received messages are published again',
    about: { channel },
  })

/** How often we publish a message that the broker refuses; afterwards it goes to `dlq`. */
const refusalsMax = 3
/** Short, because the broker is our own and the payments that wait for it have forty seconds. */
const backoffMaxMs = 1_000

/**
 * Publishes until nothing is left. A message that the broker refuses holds up no other: it goes to `dlq`, and where
 * `dlq` takes less, the beginning of it; what not even that takes is in the log only.
 *
 * @returns false when the process drained first
 */
export const publishUntilDrained = async (
  messages: readonly InboundMessage[],
  letter: Letter | undefined,
  deps: PublishingDeps,
): Promise<boolean> => {
  const { publish, retry, publishOutage: outage, giveUp, onFailure, onLetter } = deps
  const waits = { ...retry, backoffMaxMs: Math.min(retry.backoffMaxMs, backoffMaxMs) }
  const done = (): true => {
    outage.worked()
    return true
  }
  const letters = letter === undefined ? [] : firstOf(letter)
  let left: readonly Waiting[] = [...letters, ...messages.map(waitingAsItCame)]
  if (letter !== undefined) onLetter()
  for (let attempt = 1; ; attempt++) {
    try {
      await publish(left.map(({ message }) => message))
      return done()
    } catch (error) {
      onFailure('publish')
      if (error instanceof PublishRefusedError) {
        const [only, ...others] = left
        left =
          only !== undefined && others.length === 0
            ? afterRefusal(only, deps)
            : await publishEach(left, deps)
      }
      if (left.length === 0) return done()
      outage.failed(error, aboutMessages(left))
      await pause(backoffMs(attempt, waits), giveUp)
      if (giveUp.aborted) return false
    }
  }
}

const waitingAsItCame = (message: InboundMessage): Waiting => ({
  message,
  refusals: 0,
  letter: undefined,
  sizes: letterBytesMax,
})

const firstOf = (letter: Letter): readonly Waiting[] =>
  smaller({ refusals: 0, letter, sizes: letterBytesMax })

/** The largest letter that was not tried yet; none if all were. */
const smaller = ({
  letter,
  sizes: [bytesMax, ...sizes],
  refusals,
}: Omit<Waiting, 'message'>): readonly Waiting[] =>
  letter === undefined || bytesMax === undefined
    ? []
    : [{ message: letter.within(bytesMax), refusals, letter, sizes }]

/**
 * Publishes one by one, in order, and ends where the broker is away: that is no refusal of the message, nor of those
 * behind it.
 *
 * @returns what is left
 */
const publishEach = async (
  waiting: readonly Waiting[],
  deps: PublishingDeps,
): Promise<readonly Waiting[]> => {
  const left: Waiting[] = []
  for (const [place, one] of waiting.entries()) {
    try {
      await deps.publish([one.message])
    } catch (error) {
      if (!(error instanceof PublishRefusedError)) return [...left, ...waiting.slice(place)]
      left.push(...afterRefusal(one, deps))
    }
  }
  return left
}

const afterRefusal = (
  one: Waiting,
  { channel, logger, onLetter }: PublishingDeps,
): readonly Waiting[] => {
  const refusals = one.refusals + 1
  if (one.letter === undefined) {
    if (refusals < refusalsMax) return [{ ...one, refusals }]
    logger.error(aboutOne(one, channel), 'the broker does not take this message: it goes to dlq')
    onLetter()
    const letter = refusedLetter(one.message, channel, refusals)
    return smaller({ ...one, refusals, letter })
  }
  const next = smaller(one)
  if (next.length > 0) return next
  logger.error(aboutOne(one, channel), 'dlq does not take this letter either: it is given up')
  return []
}

const aboutOne = (one: Waiting, channel: Channel) => ({
  channel,
  key: one.message.key,
  bytes: one.message.value.length,
  ...aboutMessages([one]),
})

const aboutMessages = (left: readonly Waiting[]) => ({
  messages: left.length,
  resource_ids: left.map(({ message }) => message.headers[inboundHeaders.resourceId]),
})
