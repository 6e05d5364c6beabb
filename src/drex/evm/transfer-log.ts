/** Reads from a receipt how a token has moved: evidence that a status of success alone does not give. */
import type { Log } from '../rpc/methods.ts'
import { type Hex, wordLength } from './hex.ts'

/** keccak256 of `Transfer(address,address,uint256)`: the first topic of what tells of a movement. */
export const transferTopic: Hex =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export type Movement = { readonly from: Hex; readonly to: Hex; readonly amount: bigint }

/** @returns undefined if it is another event; that of an ERC-721 token has the same first topic, and four of them */
export const movementOf = ({ topics, data }: Log): Movement | undefined => {
  const [event, from, to] = topics
  if (event !== transferTopic || topics.length !== 3 || data.length !== wordLength) return undefined
  return { from: addressOf(from!), to: addressOf(to!), amount: BigInt(data) }
}

/** The sum that a token moved to one account, from another or from anyone. */
export const movedTo = (
  logs: readonly Log[],
  wanted: { readonly token: Hex; readonly from: Hex | undefined; readonly to: Hex },
): bigint => {
  let sum = 0n
  for (const log of logs) {
    const movement = log.address === wanted.token ? movementOf(log) : undefined
    if (movement?.to !== wanted.to) continue
    if (wanted.from === undefined || movement.from === wanted.from) sum += movement.amount
  }
  return sum
}

const addressOf = (topic: Hex): Hex => `0x${topic.slice(26)}`
