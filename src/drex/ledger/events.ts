/** The event about money that came in. */
import type { AppEvent } from '#src/events/index.ts'
import { formatUnits } from '../domain.ts'
import { abbreviateAddress, zeroAddress } from '../evm/address.ts'
import { kindOf } from './entries.ts'
import type { Booked, Owned } from './store.ts'

type Known = {
  readonly network: string
  readonly wallet: Owned
  /** The decimals of the token. */
  readonly decimals: number
}

const described = (booked: Booked, { network, wallet, decimals }: Known) =>
  ({
    movement_id: booked.id,
    wallet_id: wallet.id,
    kind: kindOf(booked) === 'mint' ? 'mint' : 'transfer',
    from_wallet:
      booked.counterparty === zeroAddress ? null : abbreviateAddress(booked.counterparty),
    to_wallet: abbreviateAddress(booked.wallet),
    amount: formatUnits(booked.amount, decimals),
    currency: 'DREX',
    network,
    token: booked.token,
    tx_hash: booked.hash,
    block_number: booked.blockNumber,
  }) as const

/** @param transfer of this gateway that moved it; told to the account whose it is */
export const receivedEvent = (
  booked: Booked,
  known: Known,
  transfer: Owned | undefined,
): AppEvent => {
  const { id: subject, account } = known.wallet
  const transferId = transfer?.account === account ? transfer.id : null
  const data = { ...described(booked, known), transfer_id: transferId }
  return { type: 'drex.transfer.received', subject, account, data }
}

export const reversedEvent = (booked: Booked, known: Known): AppEvent => {
  const { id: subject, account } = known.wallet
  return { type: 'drex.transfer.reversed', subject, account, data: described(booked, known) }
}
