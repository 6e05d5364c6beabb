/** The fees of a transaction, by the network's policy. */

import type { GasPolicy } from '../config.ts'
import { type AttemptFees, bumpedFees } from '../domain.ts'
import type { Fees } from '../evm/transaction.ts'
import type { RpcClient } from '../rpc/client.ts'

const noFees: AttemptFees = { maxFee: 0n, tip: 0n }

/** Fees a fresh transaction should offer now. */
export const currentFees = async (policy: GasPolicy, rpc: RpcClient): Promise<AttemptFees> => {
  switch (policy) {
    case 'zero':
      return noFees
    case 'legacy': {
      const price = await rpc.call('eth_gasPrice')
      return { maxFee: price, tip: price }
    }
    case 'eip1559': {
      const [block, tip] = await Promise.all([
        rpc.call('eth_getBlockByNumber', 'latest', false),
        rpc.call('eth_maxPriorityFeePerGas'),
      ])
      // Twice the base fee is enough for about six full blocks, each of which raises it by an eighth.
      return { maxFee: (block?.baseFeePerGas ?? 0n) * 2n + tip, tip }
    }
  }
}

export const feesFor = (policy: GasPolicy, fees: AttemptFees): Fees => {
  switch (policy) {
    case 'zero':
    case 'legacy':
      return { kind: 'legacy', gasPrice: fees.maxFee }
    case 'eip1559':
      return { kind: 'eip1559', maxFeePerGas: fees.maxFee, maxPriorityFeePerGas: fees.tip }
  }
}

/** @returns undefined if there is no fee to raise, or it has reached the limit */
export const nextFees = (
  policy: GasPolicy,
  previous: AttemptFees,
  current: AttemptFees,
  feeMax: bigint,
): AttemptFees | undefined => {
  // At a price of zero no replacement can offer more, so the same bytes are sent again.
  return policy === 'zero' ? undefined : bumpedFees(previous, current, feeMax)
}
