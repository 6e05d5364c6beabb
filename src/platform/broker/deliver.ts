import { backoffMs, pause } from '#src/platform/runtime/index.ts'
import type { Logger } from '../observe/index.ts'
import { cutLetter, deadLetterOf, letterBytesMax } from './dead-letter.ts'
import { DeliveryLostError, PoisonMessageError, PublishRefusedError } from './errors.ts'
import { shownOffset } from './observe.ts'
import type { ConsumeOptions, Delivery, OutgoingMessage, RetryPolicy } from './types.ts'

export type DeliverDeps<M extends Delivery = Delivery> = {
  readonly publish: (messages: readonly OutgoingMessage[]) => Promise<void>
  /** Puts a letter in `dlq`; may settle its message with it. */
  readonly bury: (letter: OutgoingMessage, message: M) => Promise<void>
  /** After a failure: the messages that nobody has settled since. */
  readonly remaining: (messages: readonly M[]) => Promise<readonly M[]>
  /** Keeps the number of an attempt that begins, in case that it ends the process. */
  readonly keepAttempt?: ((message: M, attempt: number) => Promise<void>) | undefined
  /** Processes that had these messages in hand ended: each goes alone. */
  readonly isSuspect: boolean
  readonly onDeadLetter: (topic: string, errorCode: string) => void
  readonly logger: Logger
  /** Aborted when the consumer drains or loses the partition: begin no further attempt. */
  readonly signal: AbortSignal
  /** Called when one message of several is settled, and before a rest for somebody whose absence is told elsewhere. */
  readonly onProgress: (restMs?: number) => void
}

const retryPolicyDefault: RetryPolicy = {
  attemptsMax: 6,
  backoffFirstMs: 50,
  backoffMaxMs: 10_000,
}

/** The policy for errors of the surroundings, which we retry without end. */
const transientPolicy: RetryPolicy = { ...retryPolicyDefault, backoffMaxMs: 5_000 }

/**
 * Hands a batch of one partition to the handler until each of its messages is handled, or in `dlq`.
 *
 * @returns those to settle, in order; fewer than all only when the consumer ends before
 */
export const deliver = async <M extends Delivery>(
  batch: readonly M[],
  options: ConsumeOptions,
  deps: DeliverDeps<M>,
): Promise<readonly M[]> => {
  const done: M[] = []
  let isTogether = !deps.isSuspect
  for (let left = batch; ; ) {
    const [message] = left
    if (message === undefined) return done
    if (isTogether && left.length > 1 && left.every(({ failure }) => failure === undefined)) {
      try {
        await options.handler(left, deps.onProgress)
        return [...done, ...left]
      } catch (error) {
        if (deps.signal.aborted) return done
        deps.logger.debug({ topic: options.topic, err: error }, 'a batch failed: one by one now')
        const remaining = await deps.remaining(left)
        isTogether = error instanceof DeliveryLostError && remaining.length < left.length
        left = remaining
        continue
      }
    }
    const settled = await deliverOne(message, options, deps)
    if (settled === 'drained') return done
    // An absent dependency kept the message from being handled, and no other message is to blame.
    isTogether = settled === 'after_waiting' && !deps.isSuspect
    done.push(message)
    left = left.slice(1)
    deps.onProgress()
  }
}

/** Whether the message is settled, and whether it had to wait for its surroundings. */
const deliverOne = async <M extends Delivery>(
  message: M,
  options: ConsumeOptions,
  deps: DeliverDeps<M>,
): Promise<'settled' | 'after_waiting' | 'drained'> => {
  const { retry = retryPolicyDefault, isTransient = () => false } = options
  let failures = message.attempt - 1
  let waits = 0
  const keep = async (attempt: number): Promise<void> => {
    // Most first attempts succeed: only a message that failed before is written to.
    if (failures === 0) return
    await deps.keepAttempt?.(message, attempt).catch((err: unknown) => {
      deps.logger.warn({ topic: message.topic, err }, 'an attempt could not be counted')
    })
  }
  const firstFailure = firstTime()
  for (;;) {
    let failure: unknown
    if (failures < retry.attemptsMax) {
      await keep(failures + 1)
      try {
        if (message.failure !== undefined) throw message.failure
        await options.handler([{ ...message, attempt: failures + 1 }], deps.onProgress)
        return waits > 0 ? 'after_waiting' : 'settled'
      } catch (error) {
        if (error instanceof DeliveryLostError) return 'settled'
        failure = error
      }
      firstFailure.note()
      const isPoison = failure instanceof PoisonMessageError
      if (!isPoison && isTransient(failure)) {
        waits++
        deps.logger.warn({ topic: message.topic, waits, err: failure }, 'a dependency is away')
        await keep(failures)
        const restMs = backoffMs(waits, transientPolicy)
        if (options.isToldElsewhere?.(failure) === true) deps.onProgress(restMs)
        if (!(await pause(restMs, deps.signal))) return 'drained'
        continue
      }
      failures++
    }
    const poison = failure instanceof PoisonMessageError ? failure : undefined
    if (poison !== undefined || failures >= retry.attemptsMax) {
      const errorCode = poison?.code ?? 'attempts_exhausted'
      const story = { errorCode, attempt: failures, firstFailure: firstFailure.at() }
      return buryUntilDone(message, story, failure, options, deps)
    }
    const restMs = backoffMs(failures, options.backoffAfter?.(failure) ?? retry)
    // Their number is bounded: this is a rest, and no stall.
    deps.onProgress(restMs)
    if (!(await pause(restMs, deps.signal))) return 'drained'
  }
}

const firstTime = (): { readonly note: () => void; readonly at: () => Date } => {
  let at: Date | undefined
  return {
    note: () => {
      at ??= new Date()
    },
    at: () => at ?? new Date(),
  }
}

type Story = { readonly errorCode: string; readonly attempt: number; readonly firstFailure: Date }

/**
 * We must not skip a message because `dlq` is away, so we try until it is there. If `dlq` refuses the letter, we cut
 * it; if `dlq` refuses even that, we step over the message, which would hold up its partition for good.
 */
const buryUntilDone = async <M extends Delivery>(
  message: M,
  story: Story,
  failure: unknown,
  { group, bury }: ConsumeOptions,
  deps: DeliverDeps<M>,
): Promise<'settled' | 'drained'> => {
  const { topic, partition, offset } = message
  const { errorCode } = story
  const whole = deadLetterOf({ delivery: message, group, ...story })
  const sizes = letterBytesMax.filter((bytes) => bytes < whole.value.length)
  let letter = whole
  const fields = { topic, partition, offset: shownOffset(offset), code: errorCode }
  deps.logger.error({ ...fields, err: failure }, 'a message goes to dlq')
  for (let attempt = 1; ; attempt++) {
    try {
      await (bury?.(letter, message, errorCode) ?? deps.bury(letter, message))
      deps.onDeadLetter(topic, errorCode)
      return 'settled'
    } catch (error) {
      if (error instanceof DeliveryLostError) return 'settled'
      if (error instanceof PublishRefusedError) {
        const bytesMax = sizes.shift()
        if (bytesMax === undefined) {
          deps.logger.error(
            { ...fields, err: error },
            'dlq refuses a message even when it is cut: the group goes on behind it in its topic',
          )
          return 'settled'
        }
        letter = cutLetter(whole, bytesMax)
        continue
      }
      deps.logger.error({ topic, err: error }, 'dlq cannot be written')
      if (!(await pause(backoffMs(attempt, transientPolicy), deps.signal))) return 'drained'
    }
  }
}
