/** Asks a node what a call would do, before anything is signed. */
import type { Interface } from 'ethers'
import { ApiError } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { RpcFailure } from '../rpc/errors.ts'
import { explainRevert } from './abi.ts'

/**
 * @param abis explain the contract's own errors
 * @throws ApiError `contract_reverted` with the decoded error
 */
export const simulateCall = async (
  chain: Chain,
  call: Readonly<Record<string, unknown>>,
  abis: readonly Interface[],
  block: Hex | 'latest' = 'latest',
): Promise<string> => {
  const gasPrice = chain.network.gasPolicy === 'zero' ? { gasPrice: '0x0' } : {}
  return reaching(chain, async () => {
    try {
      return String(await chain.rpc.call('eth_call', { ...call, ...gasPrice }, block))
    } catch (error) {
      if (!(error instanceof RpcFailure) || error.kind !== 'reverted') throw error
      const revert = await explainRevert(error.data, abis)
      throw new ApiError(
        drexErrors.contract_reverted,
        revert === undefined ? 'The contract refuses.' : `The contract refuses: ${revert.name}.`,
        { details: { revert: revert ?? null } },
      )
    }
  })
}
