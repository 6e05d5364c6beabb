/** What the events of currencies mean for wallets; pure. */
import { zeroAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import { movementOf } from '../evm/transfer-log.ts'
import type { Log } from '../rpc/methods.ts'

export type Side = 'in' | 'out'

/** One wallet's part in a movement. */
export type Entry = {
  readonly token: Hex
  readonly wallet: Hex
  readonly side: Side
  readonly counterparty: Hex
  /** In the token's smallest unit; never negative. */
  readonly amount: bigint
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
  readonly hash: Hex
}

/** `transfer`; `mint` where currency was issued, `burn` where it was redeemed: nobody is on the other side. */
export type EntryKind = 'transfer' | 'mint' | 'burn'

/** Both sides of each; issued and redeemed currency has one. */
export const entriesOf = (logs: readonly Log[]): readonly Entry[] =>
  logs.flatMap((log) => {
    const movement = movementOf(log)
    if (movement === undefined) return []
    const { from, to, amount } = movement
    const { address: token, blockNumber, blockHash, logIndex, transactionHash: hash } = log
    const common = { token, amount, blockNumber, blockHash, logIndex, hash }
    const sides: Entry[] = [
      { ...common, wallet: to, side: 'in', counterparty: from },
      { ...common, wallet: from, side: 'out', counterparty: to },
    ]
    return sides.filter(({ wallet }) => wallet !== zeroAddress)
  })

export const kindOf = ({
  side,
  counterparty,
}: {
  readonly side: Side
  readonly counterparty: Hex
}): EntryKind => {
  if (counterparty !== zeroAddress) return 'transfer'
  return side === 'in' ? 'mint' : 'burn'
}

export const signed = ({
  side,
  amount,
}: {
  readonly side: Side
  readonly amount: bigint
}): bigint => (side === 'in' ? amount : -amount)
