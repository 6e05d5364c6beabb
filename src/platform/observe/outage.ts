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
  /** The failures that one line tells of together; undefined: there is none to tell of. */
  let counted: Counted | undefined
  let lastLine = { isAway: false, atMs: Number.NEGATIVE_INFINITY }
  /** Since when it fails without a success; undefined: it works. */
  let failingSinceMs: number | undefined
  return {
    failed: (error, fields = {}) => {
      if (isToldAlready(error)) return
      const now = nowMs()
      counted = lastLine.isAway ? counted : withinReminder(counted, now)
      counted = {
        failures: (counted?.failures ?? 0) + 1,
        sinceMs: counted?.sinceMs ?? now,
        lastMs: now,
      }
      failingSinceMs ??= now
      const isDue = now - lastLine.atMs >= remindEveryMs
      const isLasting = !lastLine.isAway && now - failingSinceMs >= lastsMs
      if (!isDue && !isLasting) return
      lastLine = { isAway: true, atMs: now }
      const { failures, sinceMs } = counted
      const more = failures === 1 ? {} : { failures, for_seconds: secondsSince(sinceMs, now) }
      logger[level]({ ...about, ...fields, ...more, err: error }, away)
    },
    worked: () => {
      failingSinceMs = undefined
      if (!lastLine.isAway || counted === undefined) return
      const now = nowMs()
      const { failures, sinceMs } = counted
      logger.info({ ...about, failures, after_seconds: secondsSince(sinceMs, now) }, back)
      lastLine = { isAway: false, atMs: now }
      counted = undefined
    },
  }
}

type Counted = { readonly failures: number; readonly sinceMs: number; readonly lastMs: number }

/** What failed longer ago belongs to no outage that begins now. */
const withinReminder = (counted: Counted | undefined, nowMs: number): Counted | undefined =>
  counted !== undefined && nowMs - counted.lastMs < remindEveryMs ? counted : undefined

const secondsSince = (fromMs: number, toMs: number): number => Math.round((toMs - fromMs) / 1000)
