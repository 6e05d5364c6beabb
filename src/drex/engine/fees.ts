/** The fees of a transaction, by the network's policy and within the operator's limits. */

import type { GasPolicy } from '../config.ts'
import { type AttemptFees, bumpedFees } from '../domain.ts'
import type { Fees } from '../evm/transaction.ts'
import type { RpcClient } from '../rpc/client.ts'

/** The fees that the network asks for now, in wei per unit of gas. */
export type AskedFees = {
  /** Base fee and tip: a block takes nothing below it. */
  readonly least: bigint
  /** A fee that suffices for some blocks. */
  readonly lasting: bigint
  readonly tip: bigint
}

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

/** A node's advice is a stranger's word, so a tip is cut to its limit. */
export const currentFees = async (
  policy: GasPolicy,
  rpc: RpcClient,
  { tipMax }: FeeLimits,
): Promise<AskedFees> => {
  switch (policy) {
    case 'zero':
      return { least: 0n, lasting: 0n, tip: 0n }
    case 'legacy': {
      const price = await rpc.call('eth_gasPrice')
      return { least: price, lasting: price, tip: price }
    }
    case 'eip1559': {
      const [block, advised] = await Promise.all([
        rpc.call('eth_getBlockByNumber', 'latest', false),
        rpc.call('eth_maxPriorityFeePerGas'),
      ])
      const base = block?.baseFeePerGas ?? 0n
      const tip = smaller(advised, withRoom(tipMax))
      // Twice the base fee is enough for about six full blocks, each of which raises it by an eighth.
      return { least: base + tip, lasting: base + tip + base, tip }
    }
  }
}

/** The most per unit of gas that both limits allow for a transaction with this gas limit. */
const limitOf = ({ feeMax, totalMax }: FeeLimits, gasLimit: bigint): bigint =>
  gasLimit === 0n ? feeMax : smaller(feeMax, totalMax / gasLimit)

/**
 * Fees that a fresh transaction of so much gas offers: with room for replacements, as far as the network takes that.
 * @returns undefined if the network asks for more than the limits allow
 */
export const offerOf = (
  { least, lasting, tip }: AskedFees,
  gasLimit: bigint,
  limits: FeeLimits,
): AttemptFees | undefined => {
  const limit = limitOf(limits, gasLimit)
  if (least > limit) return undefined
  const maxFee = smaller(lasting, withRoom(limit))
  return { maxFee: maxFee < least ? least : maxFee, tip }
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
 * @returns undefined if there is no fee to raise, or the limits do not allow a higher one
 */
export const nextFees = (
  policy: GasPolicy,
  previous: AttemptFees & { readonly gasLimit: bigint },
  asked: AskedFees,
  limits: FeeLimits,
): AttemptFees | undefined => {
  // At a price of zero no replacement can offer more, so the same bytes are sent again.
  if (policy === 'zero') return undefined
  const current = offerOf(asked, previous.gasLimit, limits)
  if (current === undefined) return undefined
  const next = bumpedFees(previous, current, limitOf(limits, previous.gasLimit))
  if (next === undefined) return undefined
  return policy === 'legacy' || next.tip <= limits.tipMax ? next : undefined
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
