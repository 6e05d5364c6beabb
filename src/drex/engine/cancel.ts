/** Replaces a signed transaction, if fees make that possible. */

import { type AuditEntry, writeAudit } from '#src/platform/http/index.ts'
import * as attemptStore from './attempt-store.ts'
import type { EngineContext } from './context.ts'
import { currentFees, nextFees } from './fees.ts'
import * as store from './store.ts'
import { send } from './submit.ts'
import { paidBy, replace } from './sweep.ts'

/**
 * Sends zero to the sender itself at the same nonce for a higher fee. The one that is mined decides; until then the
 * transaction stays as it is. The replacement records who wanted it.
 * @returns false if there is nothing to replace or the fee limit forbids it
 */
export const cancelInFlight = async (
  context: EngineContext,
  id: string,
  audit: AuditEntry,
): Promise<boolean> => {
  const { network, rpc, settings, sql } = context
  const transaction = await store.inFlightById(sql, id)
  if (transaction === undefined) return false
  const newest = attemptStore.newestOf(await attemptStore.attemptsOf(sql, [id])).get(id)
  if (newest?.kind === 'cancel') return true
  const current = await currentFees(network.gasPolicy, rpc, settings.fees)
  const previous = paidBy(transaction, newest)
  const fees = nextFees(network.gasPolicy, previous, current, settings.fees)
  if (fees === undefined) return false
  const attempt = await replace(context, transaction, 'cancel', fees, (tx) => writeAudit(tx, audit))
  if (attempt === undefined) return false
  await send(context, [{ id, raw: attempt.raw }])
  return true
}
