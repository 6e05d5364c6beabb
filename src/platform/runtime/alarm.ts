export type Alarm = {
  /** Ends the wait that runs; without one, the next wait ends at once. */
  readonly ring: () => void
  /** @returns whether it was rung, and not the time over */
  readonly wait: (ms: number) => Promise<boolean>
}

/** Wakes the one who waits before the time is over. */
export const createAlarm = (): Alarm => {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      isRung = true
      wake?.()
    },
    wait: async (ms) => {
      if (!isRung) {
        const over = Promise.withResolvers<void>()
        wake = over.resolve
        const timer = setTimeout(over.resolve, ms)
        await over.promise
        clearTimeout(timer)
        wake = undefined
      }
      const wasRung = isRung
      isRung = false
      return wasRung
    },
  }
}
