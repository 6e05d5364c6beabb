/** The part of a job's round that lasts long. */
export type Lasting = { readonly signal: AbortSignal; readonly advance: () => void }

/** Rows that one statement deletes: few enough that it neither runs long nor keeps others from their rows. */
export const deletedMax = 1_000

/**
 * Repeats a deletion until it finds fewer rows than it may take, or the round is to end.
 *
 * @param some deletes at most {@link deletedMax} rows and returns how many
 * @returns how many rows were deleted in all
 */
export const deleteInBatches = async (
  some: () => Promise<number>,
  round?: Lasting,
): Promise<number> => {
  let total = 0
  for (let count = deletedMax; count === deletedMax && round?.signal.aborted !== true; ) {
    count = await some()
    total += count
    round?.advance()
  }
  return total
}
