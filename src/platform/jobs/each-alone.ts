import { isRowFault } from '../database/transient.ts'
import type { Logger } from '../observe/index.ts'
import type { Round } from './job.ts'

/** So many in a row that fail since the database is away, or so it seems, end the round. */
const awayMax = 3

/**
 * Works through what a round has found, each item by itself: what fails of one is logged, and those behind it are done
 * all the same. Ends early with the round.
 *
 * @throws what says that the database is away or chose another's transaction, once the others are done or
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
    /** By which the log names an item. */
    readonly idsOf: (item: T) => Readonly<Record<string, string>>
    /** Puts an item that failed behind the others: the next round would else begin with it, and might reach no other. */
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
