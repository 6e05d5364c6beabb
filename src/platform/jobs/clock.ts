/** Time as jobs see it; tests replace it. */
export type Clock = {
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number
  /** Calls once, later. @returns a function that cancels it */
  readonly after: (ms: number, run: () => void) => () => void
}

/** Its timers never keep a process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Calls again and again a function that neither waits nor fails. @returns a function that ends it */
export const every = (ms: number, run: () => void): (() => void) => {
  const timer = setInterval(run, ms)
  timer.unref()
  return () => clearInterval(timer)
}
