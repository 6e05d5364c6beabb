import type { RetryPolicy } from '#src/platform/broker/index.ts'
import type { WatchedLoop } from '#src/platform/jobs/index.ts'
import {
  createOutageLog,
  inSpan,
  type Logger,
  type OutageLog,
} from '#src/platform/observe/index.ts'
import { backoffMs, pause } from '#src/platform/runtime/index.ts'
import {
  InterfaceError,
  StreamGoneError,
  TooManyStreamsError,
  UncutAnswerError,
} from '../../link/errors.ts'
import type { InterfaceClient, PulledMessage, PullStream } from '../../link/types.ts'
import type { Channel } from '../../messages/index.ts'
import { answerLetter, type Letter } from './letters.ts'
import { type InboundMessage, inboundMessageOf } from './message.ts'
import { createPace, type Pace } from './pace.ts'
import { publishingOutage, publishUntilDrained } from './publishing.ts'

export type StreamDeps = {
  readonly client: InterfaceClient
  readonly channel: Channel
  /** Resolves when the messages are durable. */
  readonly publish: (messages: readonly InboundMessage[]) => Promise<void>
  /** Tells the watch that a batch is in hand, from its receipt until it is published. */
  readonly watched: Pick<WatchedLoop, 'round'>
  readonly retry: RetryPolicy
  readonly logger: Logger
  /** Aborted when the process drains: we finish what runs and begin nothing new. */
  readonly draining: AbortSignal
  /** Aborted when draining has taken too long: we give up the running request. */
  readonly giveUp: AbortSignal
  readonly onOpen: () => void
  readonly onClosed: () => void
  /** Called when a request was answered, with or without messages. */
  readonly onAnswer: (messages: number) => void
  readonly onFailure: (kind: PullFailure['kind'] | 'publish') => void
  /** Called when something was put into `dlq`, because nobody can read it. */
  readonly onLetter: () => void
}

type FollowDeps = StreamDeps & {
  readonly outage: OutageLog
  readonly publishOutage: OutageLog
  readonly pace: Pace
}

/** What one answer of the interface brought; `letter` holds what of it could not be read. */
type Batch = {
  readonly messages: readonly PulledMessage[]
  readonly letter: Letter | undefined
}

/** How often we repeat a failed read on its stream; afterwards we give the stream up for another. */
export const repeatsMax = 3
/** How many uncuttable answers to one read we take, equal or not: each may have another boundary. */
const unreadMax = 2 * repeatsMax

/**
 * Keeps one read stream open until the process drains. Each request confirms the batch before it, so we make it only
 * when that batch is published; we never confirm a batch that we could not publish, and it comes again.
 */
export const runStream = async (deps: StreamDeps): Promise<void> => {
  let failures = 0
  let replacedMs = Number.NEGATIVE_INFINITY
  const outage = createOutageLog(deps.logger, {
    level: 'warn',
    away: 'a read stream fails',
    back: 'a read stream is answered again',
    about: { channel: deps.channel },
  })
  const publishOutage = publishingOutage(deps.logger, deps.channel)
  const pace = createPace(deps.retry, () =>
    deps.logger.warn(
      { channel: deps.channel },
      'the interface answers reads at once and without news: they are made less often',
    ),
  )
  const onAnswer = (messages: number): void => {
    failures = 0
    outage.worked()
    deps.onAnswer(messages)
  }
  while (!deps.draining.aborted) {
    try {
      await pullUntilDrained({ ...deps, onAnswer, outage, publishOutage, pace })
    } catch (error) {
      if (deps.giveUp.aborted) return
      const failure = pullFailureOf(error)
      deps.onFailure(failure.kind)
      failures++
      const nowMs = performance.now()
      const mayReplace = nowMs - replacedMs > deps.retry.backoffMaxMs
      const waitMs = waitBefore(failure, mayReplace ? failures : failures + 1, deps.retry)
      replacedMs = nowMs
      outage.failed(error, { ...aboutWait(failure, waitMs), next: 'another stream' })
      await pause(waitMs, deps.draining)
    }
  }
}

const aboutWait = ({ kind }: PullFailure, waitMs: number) => ({
  kind,
  wait_ms: Math.round(waitMs),
})

/** The first time in a while that a stream is gone we replace it at once: the server has merely forgotten it. */
const waitBefore = (failure: PullFailure, failures: number, retry: RetryPolicy): number => {
  if (failure.kind === 'gone' && failures === 1) return 0
  return Math.max(backoffMs(failures, retry), failure.kind === 'throttled' ? failure.waitMs : 0)
}

/** Opens a stream and reads it. Rejects when the stream fails; closes it in every case. */
const pullUntilDrained = async (deps: FollowDeps): Promise<void> => {
  const stream = await deps.client.openStream(deps.channel, deps.giveUp)
  deps.onOpen()
  let mayConfirm = true
  try {
    // The answer that opened the stream may hold messages; we take them whatever happened since.
    do {
      const askedMs = performance.now()
      const batch = await readNext(stream, deps)
      if (batch === undefined) continue
      mayConfirm = sizeOf(batch) === 0
      const waitMs = deps.pace.waitMs({
        messages: batch.messages,
        unread: batch.letter?.key,
        tookMs: performance.now() - askedMs,
      })
      const attributes = {
        'trilho.spi.channel': deps.channel,
        'messaging.batch.message_count': sizeOf(batch),
      }
      if (!mayConfirm) {
        mayConfirm = await inSpan('spi received', { kind: 'consumer', attributes }, () =>
          deps.watched.round(() => publishBatch(batch, deps)),
        )
      }
      if (!mayConfirm) return
      if (waitMs > 0) await pause(waitMs, deps.draining)
    } while (!deps.draining.aborted)
  } catch (error) {
    // If the server has forgotten the stream, there is nothing to close; a request that we gave up may have delivered.
    if (pullFailureOf(error).kind === 'gone' || deps.giveUp.aborted) mayConfirm = false
    throw error
  } finally {
    deps.onClosed()
    // Closing confirms: we leave a stream with an unpublished batch to end by itself.
    if (mayConfirm) await close(stream, deps)
  }
}

/** Returns false when the process drained first: the batch must not be confirmed. */
const publishBatch = ({ messages, letter }: Batch, deps: FollowDeps): Promise<boolean> => {
  const { channel } = deps
  const receivedAt = new Date()
  const inbound = messages.map((message) => inboundMessageOf(message, channel, receivedAt))
  return publishUntilDrained(inbound, letter, deps)
}

const sizeOf = ({ messages, letter }: Batch): number =>
  messages.length + (letter === undefined ? 0 : 1)

/**
 * Returns the next batch. A read that failed may have had an answer, so we repeat it on the same stream, which gives
 * that answer again; another stream would give it only when the interface has missed this one for long enough. A
 * complete answer that stays unreadable is a batch of what could be cut out of it, and its bytes. Returns undefined when
 * the process drained first.
 */
const readNext = async (stream: PullStream, deps: FollowDeps): Promise<Batch | undefined> => {
  let failures = 0
  let unread = { digest: '', times: 0, total: 0 }
  for (;;) {
    try {
      const messages = await stream.next(deps.giveUp)
      deps.onAnswer(messages.length)
      return { messages, letter: undefined }
    } catch (error) {
      const failure = pullFailureOf(error)
      if (error instanceof UncutAnswerError) {
        const { digest } = error
        const times = unread.digest === digest ? unread.times + 1 : 1
        unread = { digest, times, total: unread.total + 1 }
        const isOver = times > repeatsMax || unread.total > unreadMax || !error.isRepeatable
        if (isOver) return givenUp(stream, error, unread.total, deps)
      }
      const isOver = failure.kind === 'gone' || failure.kind === 'refused'
      // Being told to wait does not count against a stream, and what cannot be read has a count of its own.
      if (failure.kind !== 'throttled' && failure.kind !== 'uncut') failures++
      if (isOver || failures > repeatsMax || deps.giveUp.aborted) throw error
      deps.onFailure(failure.kind)
      const waitMs = waitBefore(failure, Math.max(1, failures), deps.retry)
      deps.outage.failed(error, { ...aboutWait(failure, waitMs), next: 'same read' })
      await pause(waitMs, deps.draining)
      if (deps.draining.aborted) return undefined
    }
  }
}

/** Takes an answer as read: its bytes go to `dlq` before the next read confirms it. */
const givenUp = (
  stream: PullStream,
  error: UncutAnswerError,
  times: number,
  { channel, logger, onAnswer, onFailure }: FollowDeps,
): Batch => {
  const { code, messages, answer } = error
  onFailure('uncut')
  onAnswer(messages.length)
  logger.error(
    { channel, code, times, bytes: answer.body.length, messages: messages.length },
    'an answer cannot be read: it goes to dlq, and what could be cut out of it goes on',
  )
  stream.takeAsRead(error)
  return { messages, letter: answerLetter(error, channel, times) }
}

const close = async (stream: PullStream, { channel, logger }: StreamDeps): Promise<void> => {
  try {
    await stream.close()
  } catch (error) {
    logger.info({ channel, err: error }, 'a read stream could not be closed: it ends by itself')
  }
}

/** Why we cannot use a read stream any more. */
type PullFailure =
  /** 410: the interface has forgotten the stream. */
  | { readonly kind: 'gone' }
  /** 429: too many streams are open, or we ask too much. */
  | { readonly kind: 'throttled'; readonly waitMs: number }
  /** Another 4xx: the interface would refuse the same request again. */
  | { readonly kind: 'refused' }
  /** A complete answer that cannot be cut into messages. */
  | { readonly kind: 'uncut' }
  | { readonly kind: 'failed' }

const pullFailureOf = (error: unknown): PullFailure => {
  if (error instanceof StreamGoneError) return { kind: 'gone' }
  if (error instanceof TooManyStreamsError) {
    return { kind: 'throttled', waitMs: error.retryAfterMs }
  }
  if (error instanceof UncutAnswerError) return { kind: 'uncut' }
  const status = error instanceof InterfaceError ? (error.status ?? 0) : 0
  return status >= 400 && status < 500 ? { kind: 'refused' } : { kind: 'failed' }
}
