/** The interface holds a read for about five seconds; one that is unanswered for longer hangs, as a rule. */
export const usualReadMs = 9_000
/** After so many reads in a row without an answer, one waits in full: the interface may hold reads longer now. */
export const fullReadEvery = 3
/** A read that is unanswered for so long is asked again beside the first. */
export const readAgainMs = 4_000
/** The interface holds reads for five seconds: for so long it is silent itself, and asking sooner may cost a batch. */
const heldByInterfaceMs = 5_000
/** How much longer a held read may take than that. */
const heldMarginMs = 250
/** The longest until a read is asked again, where the interface holds reads and has done nothing wrong lately. */
export const readAgainMaxMs = heldByInterfaceMs + heldMarginMs

export type Patience = ReturnType<typeof createPatience>

/**
 * How long the reads of a channel wait for their answer. A connection whose other end is gone tells nothing of it: we notice by the answer that does not come. The same read
 * asked again has the same answer, so asking too early costs one request, and asking late holds up payments.
 *
 * @param fullMs - the longest that a read may take
 * @param againMs - {@link readAgainMs}; tests set it
 */
export const createPatience = (fullMs: number, againMs = readAgainMs) => {
  const usualMs = Math.min(usualReadMs, fullMs)
  let lateInARow = 0
  let isHeldLonger = false
  /** The longest that the interface has held a read since it last did something wrong. */
  let heldMs = 0
  const isFull = (): boolean => isHeldLonger || lateInARow % fullReadEvery === fullReadEvery - 1
  return {
    limitMs: () => (isFull() ? fullMs : usualMs),
    /** After this time the same read is asked again, while the first still waits. */
    againMs: () => Math.max(againMs, Math.min(heldMs + heldMarginMs, readAgainMaxMs)),
    /**
     * Called when a read was answered in full, so long after it was asked.
     *
     * @param isRescued - another ask of the same read was, and is, unanswered
     */
    answered: (afterMs: number, isRescued = false): void => {
      lateInARow = 0
      isHeldLonger = afterMs > usualMs
      heldMs = isRescued ? afterMs : Math.max(heldMs, afterMs)
    },
    late: (): void => {
      lateInARow++
      isHeldLonger = false
      heldMs = 0
    },
    /** Called when a read failed in another way. */
    failed: (): void => {
      heldMs = 0
    },
  }
}
