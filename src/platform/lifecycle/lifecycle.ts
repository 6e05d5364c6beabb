import type { Logger } from '../observe/index.ts'
import { inTimeOr } from '../runtime/index.ts'

/** Something that starts once and stops once. */
export type Part = {
  readonly name: string
  readonly start?: (() => void | Promise<void>) | undefined
  readonly leave?: ((withinMs: number) => void) | undefined
  readonly drain?: (() => void | Promise<void>) | undefined
  readonly stop?: (() => void | Promise<void>) | undefined
}

/** The part of the remaining time that draining, and then each stop, may take: the rest is for those behind it. */
const partOfRest = 0.6

export type Lifecycle = {
  /**
   * Starts the parts in order; when one fails, throws the error at once while those that have started stop, which
   * {@link Lifecycle.stop} waits for. A stop meanwhile does not wait for the part that is starting, and no
   * other is started.
   */
  start(): Promise<void>
  /**
   * Says that it is draining and goes on for `leaveMs` while callers find other processes; then drains all and stops in
   * reverse order. True when everything ended within the time.
   */
  stop(leaveMs?: number): Promise<boolean>
  readonly isDraining: () => boolean
}

export const createLifecycle = (options: {
  readonly parts: readonly Part[]
  readonly logger: Logger
  /** The time for draining and stopping together, after the time to leave. */
  readonly stopTimeoutMs: number
}): Lifecycle => {
  const { parts, logger, stopTimeoutMs } = options
  const started: Part[] = []
  let stopping: Promise<boolean> | undefined

  const stopAll = async (): Promise<boolean> => {
    const reversed = started.toReversed()
    const endMs = performance.now() + stopTimeoutMs
    const run = async (part: Part, step: 'drain' | 'stop'): Promise<boolean> => {
      try {
        const restMs = endMs - performance.now()
        const inTime = await within(restMs * partOfRest, () => part[step]?.())
        if (!inTime) logger.warn({ part: part.name, step }, 'did not end in time')
        return inTime
      } catch (error) {
        logger.error({ part: part.name, step, err: error }, 'stop failed')
        return false
      }
    }
    const drained = await Promise.all(reversed.map((part) => run(part, 'drain')))
    const stopped: boolean[] = []
    for (const part of reversed) stopped.push(await run(part, 'stop'))
    return [...drained, ...stopped].every(Boolean)
  }

  const stop = (leaveMs = 0): Promise<boolean> => {
    stopping ??= leave(leaveMs).then(stopAll)
    return stopping
  }

  const leave = async (leaveMs: number): Promise<void> => {
    if (leaveMs === 0) return
    for (const part of started) part.leave?.(leaveMs)
    await Bun.sleep(leaveMs)
  }

  return {
    isDraining: () => stopping !== undefined,
    stop,
    start: async () => {
      for (const part of parts) {
        if (stopping !== undefined) return
        started.push(part)
        try {
          await part.start?.()
        } catch (error) {
          void stop()
          throw error
        }
      }
    },
  }
}

/** Returns true when the step ended in time. We leave a late step behind. */
const within = async (timeoutMs: number, step: () => void | Promise<void>): Promise<boolean> => {
  const done = Promise.resolve(step()).then(() => true)
  return inTimeOr(done, Math.max(0, timeoutMs), false)
}
