/** A loop or queue of the process, as others see it. */
export type Loop = {
  /** One of a fixed set of names, because it stands in answers, in the log and in a metric's label. */
  readonly name: string
  /** Since when its oldest work has made no progress, on `performance.now()`. Undefined: no work waits. */
  readonly stuckSinceMs: () => number | undefined
}

/** Work that a loop has taken up. */
export type Work = {
  /** A part of it is done, or it rests for so long because of somebody else: the time starts again, after that. */
  readonly advance: (restMs?: number) => void
  readonly end: () => void
}

export type WatchedLoop = Loop & {
  /** From now on work waits; the caller ends it. */
  readonly begin: () => Work
  /**
   * One round of a loop that repeats by itself. A round that fails leaves its work undone: the time runs on
   * through later rounds until one succeeds.
   */
  readonly round: <T>(run: (work: Work) => Promise<T>) => Promise<T>
}

type Entry = { sinceMs: number }

/** Records the work in hand and when it last made progress. It has as many entries as the loop runs at once. */
export const createLoop = (name: string): WatchedLoop => {
  const open = new Set<Entry>()
  let failingSinceMs: number | undefined

  const begin = (): Work => {
    const entry: Entry = { sinceMs: performance.now() }
    open.add(entry)
    return {
      advance: (restMs = 0) => {
        entry.sinceMs = performance.now() + restMs
      },
      end: () => {
        open.delete(entry)
      },
    }
  }
  return {
    name,
    begin,
    round: async (run) => {
      const beganMs = performance.now()
      const work = begin()
      try {
        const result = await run(work)
        failingSinceMs = undefined
        return result
      } catch (error) {
        failingSinceMs ??= beganMs
        throw error
      } finally {
        work.end()
      }
    },
    stuckSinceMs: () => {
      let oldestMs = failingSinceMs
      for (const { sinceMs } of open) {
        if (oldestMs === undefined || sinceMs < oldestMs) oldestMs = sinceMs
      }
      return oldestMs
    },
  }
}
