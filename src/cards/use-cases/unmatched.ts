import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import { resolveUnmatched } from '../transactions/unmatched.ts'
import type { CardContext } from './context.ts'

/**
 * A person has seen to an advice that belongs to no transaction.
 *
 * @throws ApiError `advice_not_found`
 */
export const resolveAdvice = (
  { sql }: Pick<CardContext, 'sql'>,
  id: string,
  reason: string,
  caller: Caller,
): Promise<Answered> =>
  runOnce(sql, caller.idempotencyKey, async (tx) => {
    if (!(await resolveUnmatched(tx, id, caller.keyId, reason))) {
      throw new ApiError(cardErrors.advice_not_found, 'No such advice waits.', {
        details: { field: 'id', value: null },
      })
    }
    await writeAudit(tx, {
      ...{ actor: actorOf(caller), action: 'cards.resolve' },
      ...{ object: `unmatched_advice_${id}`, outcome: 'resolved' },
    })
    return { status: 200, body: JSON.stringify({ id, resolved: true }) }
  })
