/** One time limit for many: they pass in the order in which they were added. */

export type Deadlines<T> = {
  readonly add: (item: T) => void
  readonly done: (item: T) => void
  readonly stop: () => void
}

const SWEEP_MS = 50

/** One timer for all. */
export const createDeadlines = <T extends object>(options: {
  readonly limitMs: number
  readonly now: () => number
  readonly onPassed: (items: readonly T[]) => void
}): Deadlines<T> => {
  const { limitMs, now, onPassed } = options
  const startedAt = new Map<T, number>()
  const sweep = (): void => {
    const passed: T[] = []
    const before = now() - limitMs
    for (const [item, started] of startedAt) {
      if (started > before) break
      passed.push(item)
    }
    for (const item of passed) startedAt.delete(item)
    if (passed.length > 0) onPassed(passed)
  }
  const timer = setInterval(sweep, Math.min(SWEEP_MS, limitMs))
  timer.unref()
  return {
    add: (item) => {
      startedAt.set(item, now())
    },
    done: (item) => {
      startedAt.delete(item)
    },
    stop: () => clearInterval(timer),
  }
}
