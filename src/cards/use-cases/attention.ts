import type { Queryable } from '#src/platform/database/index.ts'
import { isSent, isUnresolved } from '../reversals/index.ts'
import { isPersonAskedFor } from '../transactions/card-events.ts'
import type { CardTransaction } from '../transactions/store.ts'
import { sentFor } from './begun-reversals.ts'

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
  { id, operation }: Pick<CardTransaction, 'id' | 'operation'>,
): Promise<boolean> => {
  const sent = operation && sentFor(operation)
  return sent !== undefined && (await isSent(tx, id, sent))
}
