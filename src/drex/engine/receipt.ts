/** The receipt of a mined transaction, if its block proves it. */
import type { Hex } from '../evm/hex.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { Receipt } from '../rpc/methods.ts'
import type { EngineContext } from './context.ts'

/** @returns undefined if no node tells it, or none proves it */
export const receiptIn = async (
  { network, prover, rpc }: Pick<EngineContext, 'network' | 'prover' | 'rpc'>,
  block: Hex,
  hash: Hex,
): Promise<Receipt | undefined> => {
  if (network.proofs) return (await prover.prove(block))?.receipts.get(hash)
  try {
    const told = await rpc.call('eth_getTransactionReceipt', hash)
    return told?.transactionHash === hash && told.blockHash === block ? told : undefined
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    return undefined
  }
}
