/** Compares a receipt with what the transaction was to move: that it did not revert is no evidence of it. */

import { isExecuted, proposalOf } from '../evm/swap-log.ts'
import { addressArgument, amountArgument } from '../evm/token-call.ts'
import { movedTo } from '../evm/transfer-log.ts'
import type { Receipt } from '../rpc/methods.ts'
import type { OpenTransaction } from './transaction.ts'

/** What is needed to judge a transaction's receipt. */
export type Judged = Pick<OpenTransaction, 'id' | 'kind' | 'sender' | 'recipient' | 'data'>

/** @returns what was seen instead, or undefined if all of it has moved or the transaction was to move nothing */
export const mismatchOf = (
  { kind, sender, recipient, data }: Judged,
  { succeeded, logs }: Receipt,
): string | undefined => {
  if (!succeeded || recipient === undefined) return undefined
  switch (kind) {
    case 'transfer': {
      const wanted = { token: recipient, from: sender, to: addressArgument(data, 0) }
      return differing(amountArgument(data, 1), movedTo(logs, wanted))
    }
    case 'swap': {
      const wanted = {
        token: addressArgument(data, 1),
        from: undefined,
        to: addressArgument(data, 2),
      }
      return differing(amountArgument(data, 3), movedTo(logs, wanted))
    }
    case 'propose': {
      const wanted = { token: addressArgument(data, 0), from: sender, to: recipient }
      const difference = differing(amountArgument(data, 3), movedTo(logs, wanted))
      if (difference !== undefined) return difference
      return proposalOf(logs, { sender, recipient, data }) === undefined
        ? 'The contract tells of no proposal, or of several, with these parties and this amount.'
        : undefined
    }
    case 'accept':
      // Too late, the contract gives back what it holds, and does not revert.
      return isExecuted(logs, recipient, `0x${data.slice(10)}`)
        ? undefined
        : 'The contract tells of no exchange: the proposal had expired.'
    case 'approve':
    case 'revoke':
    case 'deploy':
    case 'permit':
    case 'call':
    // The contract tells what becomes of these; a follower reads it.
    case 'allow':
    case 'disallow':
    case 'command':
    case 'pledge':
    case 'gas':
    case 'gap_fill':
      return undefined
  }
}

const differing = (wanted: bigint, moved: bigint): string | undefined =>
  moved === wanted
    ? undefined
    : `The token’s events tell of ${moved} of its smallest units moved, instead of ${wanted}.`
