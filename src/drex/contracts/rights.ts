/** Who may make a call, judged by what it does, and whether it would succeed. */
import type { Client } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { encodeAllowance } from '../evm/token-call.ts'
import type { Asked } from '../permission.ts'
import type { Step } from '../sagas.ts'
import type { Tokens } from '../tokens/service.ts'
import { limitsMoney } from '../wallets/policy.ts'
import type { Wallet } from '../wallets/store.ts'
import { movesMoney } from './effects.ts'
import { simulateCall } from './simulation.ts'
import { type Contract, isOfTemplate } from './store.ts'

/**
 * Rights follow the effect: what moves a token needs the right to transfer, whatever the ABI calls it, and a wallet whose
 * policy limits it moves money by transfers alone.
 *
 * @throws ApiError `forbidden` or `policy_refused`
 */
export const requireEffect = async (
  { sql, tokens }: { readonly sql: Client; readonly tokens: Tokens },
  chain: Chain,
  contract: Contract,
  { address: from, policy }: Wallet,
  call: { readonly to: Hex; readonly data: Hex },
  { scopes }: Caller,
): Promise<void> => {
  const hasRight = scopes.has('drex:transfer')
  if (hasRight && !limitsMoney(policy)) return
  const holdsMoney = await isMoney({ sql, tokens }, chain, call.to)
  const moves =
    movesMoney(call.data, holdsMoney) || (!holdsMoney && (await mayTake(chain, from, call.to)))
  if (!moves) return
  if (hasRight) {
    throw new ApiError(
      drexErrors.policy_refused,
      'The wallet’s policy limits what it moves: use POST /v1/drex/transfers.',
      { details: { rule: 'contracts', wallet: from } },
    )
  }
  throw new ApiError(
    httpErrors.forbidden,
    `The API key lacks the scope drex:transfer: this call of ${contract.label} may move money.`,
  )
}

/** Whether a contract is a token or holds money, as far as we know. */
export const isMoney = async (
  { sql, tokens }: { readonly sql: Client; readonly tokens: Tokens },
  chain: Chain,
  contract: Hex,
): Promise<boolean> => {
  const { id, token, swap } = chain.network
  if (contract === token || contract === swap) return true
  if (await isOfTemplate(sql, id, contract)) return true
  return (await tokens.keptDecimals(chain, contract)) !== undefined
}

/** Whether the signer has let the contract take currency, which any of its functions may then do. */
export const mayTake = async (chain: Chain, owner: Hex, spender: Hex): Promise<boolean> => {
  const call = { to: chain.network.token, data: encodeAllowance(owner, spender) }
  const allowed = await reaching(chain, () => chain.rpc.call('eth_call', call, 'latest'))
  return typeof allowed === 'string' && /[^0x]/.test(allowed)
}

/** @throws ApiError `account_not_permitted`; if no node answers, we ask again before signing */
export const requirePermission = async (chain: Chain, asked: Asked): Promise<void> => {
  const [verdict] = await reaching(chain, () => chain.permission.ask([asked]))
  if (verdict !== 'refused') return
  throw new ApiError(
    drexErrors.account_not_permitted,
    `signer_wallet: the account rules of ${chain.network.id} refuse this wallet or contract.`,
    {
      errors: [
        {
          pointer: '/signer_wallet',
          rule: 'permission',
          message: 'is refused by the account rules',
          got: asked.sender,
        },
      ],
      details: { sender: asked.sender, target: asked.target ?? null },
    },
  )
}

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
