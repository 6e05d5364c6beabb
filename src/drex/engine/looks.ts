/**
 * When a network is looked at again: at every quarter of a block while something is under way, and for a while after;
 * at rest less often, as a look costs statements and calls of the node even where there is nothing to see.
 */
export type Looks = {
  /** Something is under way: who rests looks at once, and everybody often for a while. */
  readonly often: () => void
  /** Time to the next look, in milliseconds. */
  readonly pauseMs: () => number
  /** Waits until the next look, at least `leastMs`, or until the abort. */
  readonly pause: (signal?: AbortSignal, leastMs?: number) => Promise<void>
}

/** The time between two looks at rest. We never look more often at networks with blocks of two seconds or more. */
const restMs = 500
/** After so many looks without a sign of anything under way, all is at rest. */
const looksAfter = 40

/** @param restingMs between two looks at rest */
export const createLooks = (pollMs: number, restingMs = Math.max(restMs, pollMs)): Looks => {
  let oftenUntilMs = 0
  const resting = new Set<() => void>()
  const isOften = (): boolean => performance.now() < oftenUntilMs
  return {
    often() {
      oftenUntilMs = performance.now() + looksAfter * pollMs
      for (const wake of resting) wake()
    },
    pauseMs: () => (isOften() ? pollMs : restingMs),
    pause: (signal, leastMs = 0) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          resting.delete(end)
          signal?.removeEventListener('abort', end)
          resolve()
        }
        const timer = setTimeout(end, Math.max(leastMs, isOften() ? pollMs : restingMs))
        if (!isOften()) resting.add(end)
        signal?.addEventListener('abort', end)
      }),
  }
}
