/** The interface holds a read for about five seconds; one that is unanswered for longer hangs, as a rule. */
export const usualReadMs = 9_000
/** Of so many reads in a row without an answer, the last waits in full: the interface may hold them longer now. */
export const fullReadEvery = 3

/** How long the reads of a channel wait for their answer. */
export type Patience = {
  readonly limitMs: () => number
  /** Called when a read was answered in full, so long after it was asked. */
  readonly answered: (afterMs: number) => void
  readonly late: () => void
}

/**
 * A connection whose other end is gone tells nothing of it: we notice by the answer that does not come. The same read
 * asked again has the same answer, so asking too early costs one request, and asking late holds up payments.
 *
 * @param fullMs - the longest that a read may take
 */
export const createPatience = (fullMs: number): Patience => {
  const usualMs = Math.min(usualReadMs, fullMs)
  let lateInARow = 0
  let isHeldLonger = false
  return {
    limitMs: () => {
      const isFull = isHeldLonger || lateInARow % fullReadEvery === fullReadEvery - 1
      return isFull ? fullMs : usualMs
    },
    answered: (afterMs) => {
      lateInARow = 0
      isHeldLonger = afterMs > usualMs
    },
    late: () => {
      lateInARow++
      isHeldLonger = false
    },
  }
}
