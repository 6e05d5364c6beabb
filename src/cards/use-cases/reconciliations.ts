import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import { resolveReconciliation } from '../reconciliation/index.ts'
import type { CardContext } from './context.ts'

/**
 * A person has seen to a business day whose totals differ, or that the network did not compare.
 *
 * @throws ApiError `reconciliation_not_found`
 */
export const resolveDay = (
  { sql }: Pick<CardContext, 'sql'>,
  id: string,
  reason: string,
  caller: Caller,
): Promise<Answered> =>
  runOnce(sql, caller.idempotencyKey, async (tx) => {
    if (!(await resolveReconciliation(tx, id, caller.keyId, reason))) {
      throw new ApiError(cardErrors.reconciliation_not_found, 'No such reconciliation waits.', {
        details: { field: 'id', value: null },
      })
    }
    await writeAudit(tx, {
      ...{ actor: actorOf(caller), action: 'cards.resolve' },
      ...{ object: `card_reconciliation_${id}`, outcome: 'resolved' },
    })
    return { status: 200, body: JSON.stringify({ id, resolved: true }) }
  })
