/** What the pilot's contracts for exchanges in two steps tell of a proposal. */
import type { Log } from '../rpc/methods.ts'
import type { Hex } from './hex.ts'

/** keccak256 of `SwapStarted(uint256,uint256,uint256,address,address,uint256)`. */
export const swapStartedTopic: Hex =
  '0x0e3b28e08e3c06a6dd5d0a8de286fc19039cf2420012f001be1fa1174e44dec6'
/** keccak256 of `SwapExecuted(uint256,uint256,uint256,address,address,uint256)`. */
const swapExecutedTopic: Hex = '0xdf576c99dbf8d7fe039799f3cf9a7b8d493fea9f4efd97c21d7c71180d6e9915'

/** @param proposal as a word of 32 bytes */
export const isExecuted = (logs: readonly Log[], contract: Hex, proposal: Hex): boolean =>
  logs.some(
    ({ address, topics }) =>
      address === contract && topics[0] === swapExecutedTopic && topics[1] === proposal,
  )
