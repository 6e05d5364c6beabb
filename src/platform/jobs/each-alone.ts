import { isRowFault } from '../database/transient.ts'
import type { Logger } from '../observe/index.ts'
import type { Round } from './job.ts'

/** So many failures in a row that blame the database, or seem to, end the round. */
const awayMax = 3

/**
 * Works through the items that a round has found, each by itself: it logs an item's failure, and still does the items
 * behind it. Ends early with the round.
 *
 * @throws the error that blames the database or another's transaction, once the others are done or
 * {@link awayMax} fail in a row, and what `setAside` throws: no item is to blame, and the round comes again
 */
export const eachAlone = async <T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  {
    round,
    logger,
    idsOf,
    setAside,
  }: {
    readonly round?: Pick<Round, 'signal' | 'advance'> | undefined
    readonly logger: Pick<Logger, 'error'>
    /** The ids by which the log names an item. */
    readonly idsOf: (item: T) => Readonly<Record<string, string>>
    /** Puts a failed item behind the others: otherwise the next round would begin with it, and might reach no other. */
    readonly setAside?: ((item: T) => Promise<unknown>) | undefined
  },
): Promise<void> => {
  let transient: unknown
  let inRow = 0
  for (const item of items) {
    if (round?.signal.aborted) return
    try {
      await work(item)
      inRow = 0
    } catch (err) {
      if (isRowFault(err)) {
        const fields = { err, ...idsOf(item) }
        logger.error(fields, 'one failed and is left for later; the others are done')
        await setAside?.(item)
      } else {
        transient ??= err
        if (++inRow === awayMax) break
      }
    }
    if (round?.signal.aborted === false) round.advance()
  }
  if (transient !== undefined) throw transient
}
