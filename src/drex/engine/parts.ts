import { isRowFault, type Transaction } from '#src/platform/database/index.ts'
import { endSagas } from '../sagas.ts'
import type { EngineContext } from './context.ts'
import type { Ended } from './transaction.ts'

/**
 * Writes rows together. If the database refuses them, it writes them in halves, until only the row that is to blame is
 * left over: it goes to `onRefused`, and holds up no other.
 *
 * @throws the error of a database that is away
 */
export const inParts = async <Row>(
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<unknown>,
  onRefused: (row: Row, error: unknown) => void,
): Promise<void> => {
  const [first] = rows
  if (first === undefined) return
  try {
    await write(rows)
  } catch (error) {
    if (!isRowFault(error)) throw error
    if (rows.length === 1) return onRefused(first, error)
    const middle = rows.length >> 1
    await inParts(rows.slice(0, middle), write, onRefused)
    await inParts(rows.slice(middle), write, onRefused)
  }
}

/** Writes ends together with what follows from them. One that cannot be stored is logged, and holds up no other. */
export const storeEnds = <Row extends { readonly id: string }>(
  context: EngineContext,
  rows: readonly Row[],
  write: (sql: Transaction, rows: readonly Row[]) => Promise<readonly Ended[]>,
): Promise<void> =>
  inParts(
    rows,
    (part) =>
      context.sql.begin(async (sql) => {
        await endSagas(context, sql, await write(sql, part))
      }),
    ({ id }, error) => {
      const { network, logger } = context
      logger.error({ network: network.id, transaction: id, err: error }, 'end not stored')
    },
  )
