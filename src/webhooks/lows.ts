/**
 * Where looks for what is due begin. What was taken leaves entries in the index, which stay as long as a transaction
 * anywhere sees its row as it was, such as that of a backup: a look from the beginning reads all of them. So most looks
 * begin a little before what was taken last. What is visible late, since its transaction was long, or comes with an
 * earlier time, is found by the next whole look, which is never far.
 */
const wholeEveryMs = 1_000
/** Transactions do not commit in the order of the moments that they write. */
const marginMs = 1_000

/** @returns what says whether the look that begins now is a whole one */
export const createWholeLooks = () => {
  let lastMs = Number.NEGATIVE_INFINITY
  return (isAsked = false): boolean => {
    const nowMs = performance.now()
    const isWhole = isAsked || nowMs - lastMs >= wholeEveryMs
    if (isWhole) lastMs = nowMs
    return isWhole
  }
}

/** @param at of what was taken */
export const lowOf = (at: Date): Date => new Date(at.getTime() - marginMs)
