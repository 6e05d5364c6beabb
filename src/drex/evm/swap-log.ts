/** The event in which the pilot's contracts for exchanges in two steps tell of a proposal. */
import type { Log } from '../rpc/methods.ts'
import type { Hex } from './hex.ts'
import { addressArgument, addressWord, amountArgument, amountWord } from './token-call.ts'

/** keccak256 of `SwapStarted(uint256,uint256,uint256,address,address,uint256)`. */
const swapStartedTopic: Hex = '0x0e3b28e08e3c06a6dd5d0a8de286fc19039cf2420012f001be1fa1174e44dec6'
/** keccak256 of `SwapExecuted(uint256,uint256,uint256,address,address,uint256)`. */
const swapExecutedTopic: Hex = '0xdf576c99dbf8d7fe039799f3cf9a7b8d493fea9f4efd97c21d7c71180d6e9915'

/** @param proposal as a word of 32 bytes */
export const isExecuted = (logs: readonly Log[], contract: Hex, proposal: Hex): boolean =>
  logs.some(
    ({ address, topics }) =>
      address === contract && topics[0] === swapExecutedTopic && topics[1] === proposal,
  )

/** A call of `startSwap`: who signs it, the contract that it goes to, and its tokens, receiver and amount. */
export type ProposalCall = { readonly sender: Hex; readonly recipient: Hex; readonly data: Hex }

/**
 * The number of the proposal that a call made: told by the contract that was called, of the same parties and amount.
 * Tokens that take part may tell of proposals too; those do not count.
 *
 * @returns undefined if there is none, or more than one
 */
export const proposalOf = (
  logs: readonly Log[],
  { sender, recipient, data }: ProposalCall,
): bigint | undefined => {
  const [receiver, amount] = [addressArgument(data, 2), amountArgument(data, 3)]
  const told: Hex = `0x${addressWord(sender)}${addressWord(receiver)}${amountWord(amount)}`
  const [proposal, another] = logs.filter(
    ({ address, topics, data: words }) =>
      address === recipient && topics[0] === swapStartedTopic && words === told,
  )
  const number = proposal?.topics[1]
  return another === undefined && number !== undefined ? BigInt(number) : undefined
}
