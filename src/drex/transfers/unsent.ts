/** What a copy of the database holds as unsigned may be paid already: nobody is told that it was cancelled before it is compared. */
import type { Client } from '#src/platform/database/index.ts'
import { type Chains, reaching } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import type { EngineContext } from '../engine/context.ts'
import { compareNow } from '../engine/reckoning.ts'
import { waitingOf } from './store.ts'

export type UnsentDeps = {
  readonly sql: Client
  readonly chains: Chains
  readonly contextOf: (network: NetworkId) => EngineContext | undefined
}

/**
 * Compares the nonces of those who would sign what waits of a subject, as the engine does before it signs or lets expire.
 * @returns false if something of it may be on the chain, and that was not known
 * @throws ApiError `network_unreachable`
 */
export const isCertainlyUnsent = async (
  { sql, chains, contextOf }: UnsentDeps,
  network: NetworkId,
  subject: string,
): Promise<boolean> => {
  const [chain, context] = [chains.all.get(network), contextOf(network)]
  // Nobody can be asked about a network that is no longer configured.
  if (chain === undefined || context === undefined) return true
  const waiting = (await waitingOf(sql, subject)).filter(({ isHeld }) => !isHeld)
  for (const sender of new Set(waiting.map((each) => each.sender))) {
    if (!(await reaching(chain, () => compareNow(context, sender)))) return false
  }
  const known = new Set(waiting.map(({ id }) => id))
  return !(await waitingOf(sql, subject)).some(({ id, isHeld }) => isHeld && known.has(id))
}
