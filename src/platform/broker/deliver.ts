import type { Logger } from '../observe/index.ts'
import { deadLetterOf } from './dead-letter.ts'
import { PoisonMessageError } from './errors.ts'
import { backoffMs, pause, retryPolicyDefault } from './retry.ts'
import type { ConsumeOptions, Delivery, OutgoingMessage, RetryPolicy } from './types.ts'

export type DeliverDeps = {
  readonly publish: (messages: readonly OutgoingMessage[]) => Promise<void>
  readonly onDeadLetter: (topic: string, errorCode: string) => void
  readonly logger: Logger
  /** Aborted when the consumer drains: begin no further attempt. */
  readonly signal: AbortSignal
  /** Called when one message of several is settled. */
  readonly onSettled: () => void
}

/** The policy for errors of the surroundings, which we retry without end. */
const transientPolicy: RetryPolicy = { ...retryPolicyDefault, backoffMaxMs: 5_000 }

/**
 * Hands a batch of one partition to the handler until each of its messages is settled: handled, or in `dlq`.
 *
 * @returns how many are settled, from the start; fewer than all only when the consumer drains
 */
export const deliver = async (
  batch: readonly Delivery[],
  options: ConsumeOptions,
  deps: DeliverDeps,
): Promise<number> => {
  let isTogether = batch.length > 1
  for (const [index, message] of batch.entries()) {
    const left = batch.length - index
    if (isTogether && left > 1) {
      try {
        await options.handler(index === 0 ? batch : batch.slice(index))
        return batch.length
      } catch (error) {
        if (deps.signal.aborted) return index
        deps.logger.debug({ topic: options.topic, err: error }, 'a batch failed: one by one now')
      }
    }
    const settled = await deliverOne(message, options, deps)
    if (settled === 'drained') return index
    // An absent dependency kept the message from being handled, and no other message is to blame.
    isTogether = settled === 'after_waiting'
    deps.onSettled()
  }
  return batch.length
}

/** Whether the message is settled, and whether it had to wait for its surroundings. */
const deliverOne = async (
  message: Delivery,
  options: ConsumeOptions,
  deps: DeliverDeps,
): Promise<'settled' | 'after_waiting' | 'drained'> => {
  const { retry = retryPolicyDefault, isTransient = () => false } = options
  let failures = 0
  let waits = 0
  let firstFailure: Date | undefined
  for (;;) {
    try {
      await options.handler([{ ...message, attempt: failures + 1 }])
      return waits > 0 ? 'after_waiting' : 'settled'
    } catch (error) {
      firstFailure ??= new Date()
      const isPoison = error instanceof PoisonMessageError
      if (!isPoison && isTransient(error)) {
        waits++
        deps.logger.warn({ topic: message.topic, waits, err: error }, 'a dependency is away')
        if (!(await pause(backoffMs(waits, transientPolicy), deps.signal))) return 'drained'
        continue
      }
      failures++
      if (isPoison || failures >= retry.attemptsMax) {
        const errorCode = isPoison ? error.code : 'attempts_exhausted'
        const { group } = options
        const letter = deadLetterOf({
          ...{ delivery: message, group, errorCode, attempt: failures, firstFailure },
        })
        const bury = options.bury ?? (() => deps.publish([letter]))
        deps.logger.error(
          { topic: message.topic, offset: String(message.offset), code: errorCode, err: error },
          'a message goes to dlq',
        )
        const buried = await buryUntilDone(() => bury(letter, message, errorCode), message, deps)
        if (buried) deps.onDeadLetter(message.topic, errorCode)
        return buried ? 'settled' : 'drained'
      }
      if (!(await pause(backoffMs(failures, retry), deps.signal))) return 'drained'
    }
  }
}

/** We must not skip a message that `dlq` does not take: tries until it is there. */
const buryUntilDone = async (
  bury: () => Promise<void>,
  { topic }: Delivery,
  deps: DeliverDeps,
): Promise<boolean> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await bury()
      return true
    } catch (error) {
      deps.logger.error({ topic, err: error }, 'dlq cannot be written')
      if (!(await pause(backoffMs(attempt, transientPolicy), deps.signal))) return false
    }
  }
}
