/** Replaces a signed transaction, if fees make that possible. */

import { type AuditEntry, writeAudit } from '#src/platform/http/index.ts'
import * as attemptStore from './attempt-store.ts'
import type { EngineContext } from './context.ts'
import { currentFees } from './fees.ts'
import * as store from './store.ts'
import { send } from './submit.ts'
import { replace } from './sweep.ts'

/** A fee may be raised while the cancellation is signed. */
const triesMax = 3

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
  const asked = await currentFees(network.gasPolicy, rpc, settings.fees)
  for (let tries = 0; tries < triesMax; tries++) {
    const transaction = await store.inFlightById(sql, id)
    if (transaction === undefined) return false
    const over = attemptStore.newestOf(await attemptStore.attemptsOf(sql, [id])).get(id)
    if (over?.kind === 'cancel') return true
    const attempt = await replace(context, transaction, { kind: 'cancel', asked, over }, (tx) =>
      writeAudit(tx, audit),
    )
    if (attempt === undefined) continue
    await send(context, [{ id, raw: attempt.raw }])
    return true
  }
  return false
}
