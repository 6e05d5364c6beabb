import type { Queryable } from '#src/platform/database/index.ts'
import { isUnresolved } from '../reversals/index.ts'
import { isPersonAskedFor } from '../transactions/card-events.ts'
import type { CardTransaction } from '../transactions/store.ts'

/**
 * Whether a transaction still needs a person when something of it has ended: a reversal that was given up, or an event
 * that asked for one, is not done by the end of another.
 */
export const stillNeedsAttention = async (
  tx: Queryable,
  { id, needsAttention }: Pick<CardTransaction, 'id' | 'needsAttention'>,
): Promise<boolean> =>
  needsAttention && ((await isUnresolved(tx, id)) || (await isPersonAskedFor(tx, id)))
