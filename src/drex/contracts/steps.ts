import type { Chain } from '../chains.ts'
import type { Step } from '../sagas.ts'
import { requirePermission } from './rights.ts'
import { simulateCall } from './simulation.ts'

/**
 * Tries the first of some steps before they are taken; those after it stand on what it does, and the engine simulates
 * each when its turn comes.
 * @throws ApiError `account_not_permitted` or `contract_reverted`
 */
export const tryFirst = async (chain: Chain, steps: readonly Step[]): Promise<void> => {
  for (const { sender, recipient, data } of steps) {
    await requirePermission(chain, { sender, target: recipient, payload: data })
  }
  const [first] = steps
  if (first?.recipient === undefined) return
  await simulateCall(chain, { from: first.sender, to: first.recipient, data: first.data }, [])
}
