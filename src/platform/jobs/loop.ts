/** A loop or queue of the process as it is seen from outside. */
export type Loop = {
  /** Of a fixed set: it stands in answers, in the log and in a metric's label. */
  readonly name: string
  /** Of `performance.now()`: since when its oldest work has come no further. Undefined: no work waits. */
  readonly stuckSinceMs: () => number | undefined
}

/** Something that a loop has taken up. */
export type Work = {
  /** A part of it is done: the time counts anew. */
  readonly advance: () => void
  readonly end: () => void
}

export type WatchedLoop = Loop & {
  /** From now on work waits; whoever begins it ends it. */
  readonly begin: () => Work
  /**
   * One round of a loop that comes back by itself. A round that fails leaves its work undone: the time counts on
   * through the rounds after it until one succeeds.
   */
  readonly round: <T>(run: (work: Work) => Promise<T>) => Promise<T>
}

type Entry = { sinceMs: number }

/** Notes what a loop has at hand and when it last came further. As many entries as the loop runs at once. */
export const createLoop = (name: string): WatchedLoop => {
  const open = new Set<Entry>()
  let failingSinceMs: number | undefined

  const begin = (): Work => {
    const entry: Entry = { sinceMs: performance.now() }
    open.add(entry)
    return {
      advance: () => {
        entry.sinceMs = performance.now()
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
