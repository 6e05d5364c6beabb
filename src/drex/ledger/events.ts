/** What is told of money that came in. */
import type { AppEvent } from '#src/events/index.ts'
import { formatUnits } from '../domain.ts'
import { abbreviateAddress, zeroAddress } from '../evm/address.ts'
import { kindOf } from './entries.ts'
import type { Booked } from './store.ts'

type Known = {
  readonly network: string
  readonly walletId: string
  /** The decimals of the token. */
  readonly decimals: number
}

const described = (booked: Booked, { network, walletId, decimals }: Known) =>
  ({
    movement_id: booked.id,
    wallet_id: walletId,
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

/** @property transferId - if a transfer of this gateway moved it */
export const receivedEvent = (
  booked: Booked,
  known: Known & { readonly transferId: string | undefined },
): AppEvent => ({
  type: 'drex.transfer.received',
  subject: known.walletId,
  data: { ...described(booked, known), transfer_id: known.transferId ?? null },
})

export const reversedEvent = (booked: Booked, known: Known): AppEvent => ({
  type: 'drex.transfer.reversed',
  subject: known.walletId,
  data: described(booked, known),
})
