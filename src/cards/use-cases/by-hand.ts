import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  type ErrorDefinition,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import { resolveReconciliation } from '../reconciliation/index.ts'
import { resolveUnmatched } from '../transactions/unmatched.ts'
import type { CardContext } from './context.ts'

type Waiting = {
  /** @returns false if there is none that waits */
  readonly resolve: (tx: Queryable, id: string, by: string, reason: string) => Promise<boolean>
  readonly missing: ErrorDefinition
  readonly message: string
  /** What the audit log calls it, before its id. */
  readonly object: string
}

/** A person has seen to what no message will end. */
const byHand =
  ({ resolve, missing, message, object }: Waiting) =>
  (
    { sql }: Pick<CardContext, 'sql'>,
    id: string,
    reason: string,
    caller: Caller,
  ): Promise<Answered> =>
    runOnce(sql, caller.idempotencyKey, async (tx) => {
      if (!(await resolve(tx, id, caller.keyId, reason))) {
        throw new ApiError(missing, message, { details: { field: 'id', value: null } })
      }
      await writeAudit(tx, {
        actor: actorOf(caller),
        action: 'cards.resolve',
        object: `${object}_${id}`,
        outcome: 'resolved',
      })
      return { status: 200, body: JSON.stringify({ id, resolved: true }) }
    })

/**
 * A business day whose totals differ, or that the network did not compare.
 *
 * @throws ApiError `reconciliation_not_found`
 */
export const resolveDay = byHand({
  resolve: resolveReconciliation,
  missing: cardErrors.reconciliation_not_found,
  message: 'No such reconciliation waits.',
  object: 'card_reconciliation',
})

/**
 * An advice that belongs to no transaction.
 *
 * @throws ApiError `advice_not_found`
 */
export const resolveAdvice = byHand({
  resolve: resolveUnmatched,
  missing: cardErrors.advice_not_found,
  message: 'No such advice waits.',
  object: 'unmatched_advice',
})
