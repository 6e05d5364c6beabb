/** The fees of a transaction, by the network's policy and within the operator's limits. */

import type { GasPolicy } from '../config.ts'
import { type AttemptFees, bumpedFees } from '../domain.ts'
import type { Fees } from '../evm/transaction.ts'
import type { RpcClient } from '../rpc/client.ts'

const noFees: AttemptFees = { maxFee: 0n, tip: 0n }

/** In wei. */
export type FeeLimits = {
  /** Per unit of gas. */
  readonly feeMax: bigint
  /** The part of `feeMax` that goes to the block's maker. */
  readonly tipMax: bigint
  /** The most that one transaction may cost: fee and gas limit multiplied. */
  readonly totalMax: bigint
}

/** A first offer leaves room below its limit for five replacements, each of a tenth more. */
const roomPercent = 162n
const withRoom = (limit: bigint): bigint => (limit * 100n) / roomPercent

/**
 * Fees a fresh transaction should offer now. What a node advises is a stranger's word: it is cut to the limits.
 * @returns undefined if the network asks for more than the limits allow
 */
export const currentFees = async (
  policy: GasPolicy,
  rpc: RpcClient,
  { feeMax, tipMax }: FeeLimits,
): Promise<AttemptFees | undefined> => {
  switch (policy) {
    case 'zero':
      return noFees
    case 'legacy': {
      const price = await rpc.call('eth_gasPrice')
      return price > feeMax ? undefined : { maxFee: price, tip: price }
    }
    case 'eip1559': {
      const [block, advised] = await Promise.all([
        rpc.call('eth_getBlockByNumber', 'latest', false),
        rpc.call('eth_maxPriorityFeePerGas'),
      ])
      const base = block?.baseFeePerGas ?? 0n
      const tip = smaller(advised, withRoom(tipMax))
      const least = base + tip
      if (least > feeMax) return undefined
      // Twice the base fee is enough for about six full blocks, each of which raises it by an eighth.
      const maxFee = smaller(least + base, withRoom(feeMax))
      return { maxFee: maxFee < least ? least : maxFee, tip }
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

/**
 * Fees of a replacement.
 *
 * @param current what the network asks now; undefined if that is beyond the limits
 * @returns undefined if there is no fee to raise, or it has reached a limit
 */
export const nextFees = (
  policy: GasPolicy,
  previous: AttemptFees & { readonly gasLimit: bigint },
  current: AttemptFees | undefined,
  limits: FeeLimits,
): AttemptFees | undefined => {
  // At a price of zero no replacement can offer more, so the same bytes are sent again.
  if (policy === 'zero' || current === undefined) return undefined
  const { feeMax, totalMax } = limits
  const next = bumpedFees(previous, current, feeMax)
  if (next === undefined || next.maxFee * previous.gasLimit > totalMax) return undefined
  return policy === 'legacy' || next.tip <= limits.tipMax ? next : undefined
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
