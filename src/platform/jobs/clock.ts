/** Time as jobs see it: tests put one of their own in its place. */
export type Clock = {
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number
  /** Calls once, later. @returns what calls it off */
  readonly after: (ms: number, run: () => void) => () => void
}

/** No timer of it keeps a process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Calls again and again what neither waits nor fails. @returns what ends it */
export const every = (ms: number, run: () => void): (() => void) => {
  const timer = setInterval(run, ms)
  timer.unref()
  return () => clearInterval(timer)
}
