import type { Queryable } from '#src/platform/database/index.ts'
import { isSent, isUnresolved } from '../reversals/index.ts'
import { isPersonAskedFor } from '../transactions/card-events.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { followsAuthorization, sentFor } from './begun-reversals.ts'

/**
 * Whether a transaction still needs a person when something of it has ended: a reversal that was given up, or an event
 * that asked for one, is not done by the end of another.
 */
export const stillNeedsAttention = async (
  tx: Queryable,
  { id, needsAttention }: Pick<CardTransaction, 'id' | 'needsAttention'>,
): Promise<boolean> =>
  needsAttention && ((await isUnresolved(tx, id)) || (await isPersonAskedFor(tx, id)))

/**
 * Whether the reversal or advice of the operation under way is still sent, and not given up: a person who is needed has
 * to see to something else.
 */
export const isGoingOn = async (
  tx: Queryable,
  { id, operation, operationStan }: Pick<CardTransaction, 'id' | 'operation' | 'operationStan'>,
): Promise<boolean> => {
  const sent = operation && sentFor(operation)
  if (sent === undefined) return false
  return isSent(tx, id, sent, followsAuthorization(sent) ? operationStan : undefined)
}
