import type { LogFields, Logger } from './logger.ts'

/** Logs something that fails again and again without filling the log with it. */
export type OutageLog = {
  /**
   * Logs the first failure, then one line once in a while with the number of failures, but never an error that
   * {@link isToldAlready}. A failure soon after a recovery is logged only once it has lasted.
   */
  readonly failed: (error: unknown, fields?: LogFields) => void
  /** Call it on success: after failures it logs once. */
  readonly worked: () => void
}

export type OutageWords = {
  readonly level: 'warn' | 'error'
  readonly away: string
  readonly back: string
  /** Fields of every line. */
  readonly about?: LogFields
}

export const remindEveryMs = 30_000
/** Failures that come and go, as while a server starts, would otherwise make two lines for each change. */
const lastsMs = 5_000

/** True if the maker of the error logs it: the lines of all that it stops would only hide that one. */
export const isToldAlready = (error: unknown): boolean =>
  error instanceof Error && 'isToldAlready' in error && error.isToldAlready === true

export const createOutageLog = (
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
  { level, away, back, about = {} }: OutageWords,
  nowMs: () => number = () => performance.now(),
): OutageLog => {
  let failures = 0
  let sinceMs = 0
  let failedMs = Number.NEGATIVE_INFINITY
  let saidMs = Number.NEGATIVE_INFINITY
  /** The last line says that it fails. */
  let isAway = false
  /** Since when it fails without a success; undefined: it works. */
  let runsSinceMs: number | undefined
  const isSettled = (now: number): boolean => now - saidMs >= remindEveryMs
  return {
    failed: (error, fields = {}) => {
      if (isToldAlready(error)) return
      const now = nowMs()
      if (!isAway && now - failedMs >= remindEveryMs) failures = 0
      failedMs = now
      runsSinceMs ??= now
      failures++
      if (failures === 1) sinceMs = now
      const isLasting = !isAway && now - runsSinceMs >= lastsMs
      if (!isSettled(now) && !isLasting) return
      isAway = true
      saidMs = now
      const more = failures === 1 ? {} : { failures, for_seconds: secondsSince(sinceMs, now) }
      logger[level]({ ...about, ...fields, ...more, err: error }, away)
    },
    worked: () => {
      runsSinceMs = undefined
      if (!isAway) return
      const now = nowMs()
      const ended = { failures, after_seconds: secondsSince(sinceMs, now) }
      logger.info({ ...about, ...ended }, back)
      isAway = false
      saidMs = now
      failures = 0
    },
  }
}

const secondsSince = (fromMs: number, toMs: number): number => Math.round((toMs - fromMs) / 1000)
