/**
 * Where looks for due work begin. Taken rows leave entries in the index, which stay as long as a transaction anywhere,
 * such as a backup's, sees its row as it was: a look from the beginning reads all of them. So most looks begin a little
 * before the last taken row. The next whole look, which is never far, finds rows that appear late, since their
 * transaction was long, or that come with an earlier time.
 */
const wholeEveryMs = 1_000
/** Transactions do not commit in the order of the moments that they write. */
const marginMs = 1_000

/** @returns a function that says whether the look that begins now is a whole one */
export const createWholeLooks = () => {
  let lastMs = Number.NEGATIVE_INFINITY
  return (isAsked = false): boolean => {
    const nowMs = performance.now()
    const isWhole = isAsked || nowMs - lastMs >= wholeEveryMs
    if (isWhole) lastMs = nowMs
    return isWhole
  }
}

/** @param at the moment of the last taken row */
export const lowOf = (at: Date): Date => new Date(at.getTime() - marginMs)
