/** What the rest of the platform is told; `src/main.ts` connects the port to the webhooks. */
import type { Transaction } from '#src/platform/database/index.ts'
import { formatAmount } from './domain.ts'
import type { Ended } from './engine/transaction.ts'
import { abbreviateAddress } from './evm/address.ts'
import { type Transfer, transfersById } from './transfers/store.ts'

export const drexEventTypes = [
  'drex.transfer.confirmed',
  'drex.transfer.reverted',
  'drex.transfer.failed',
  'drex.transfer.cancelled',
  'drex.contract.deployed',
  'drex.contract.failed',
] as const

export type DrexEventType = (typeof drexEventTypes)[number]

export type DrexEvent = {
  readonly type: DrexEventType
  /** Id of the transfer or contract. */
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Written in the transaction that ends what the event is about. */
export type EmitEvents = (sql: Transaction, events: readonly DrexEvent[]) => Promise<void>

/** Says what has ended as events. A transfer of several steps ends with its last. */
export const eventsOf = async (
  sql: Transaction,
  ended: readonly Ended[],
): Promise<readonly DrexEvent[]> => {
  const ids = new Set(ended.map((each) => each.id))
  const subjects = ended.filter((each) => isTransferStep(each)).map((each) => each.subject)
  const transfers = subjects.length === 0 ? [] : await transfersById(sql, subjects)
  return [
    ...transfers.filter((each) => ids.has(each.transactionId)).flatMap(transferEvent),
    ...ended.flatMap(contractEvent),
  ]
}

const isTransferStep = ({ kind }: Ended): boolean => kind === 'transfer' || kind === 'swap'

const transferEvent = (transfer: Transfer): readonly DrexEvent[] => {
  const type = transferEventType(transfer.status)
  if (type === undefined) return []
  return [
    {
      type,
      subject: transfer.id,
      data: {
        transfer_id: transfer.id,
        status: transfer.status,
        from_wallet: abbreviateAddress(transfer.fromWallet),
        to_wallet: abbreviateAddress(transfer.toWallet),
        amount: formatAmount(transfer.amountCents),
        currency: 'DREX',
        network: transfer.network,
        tx_hash: transfer.hash ?? null,
        reference: transfer.reference ?? null,
        error: transfer.error ?? null,
      },
    },
  ]
}

const transferEventType = (status: Transfer['status']): DrexEventType | undefined => {
  switch (status) {
    case 'confirmed':
    case 'reverted':
    case 'failed':
    case 'cancelled':
      return `drex.transfer.${status}`
    case 'pending':
    case 'signed':
    case 'broadcast':
    case 'mined':
      return undefined
  }
}

const contractEvent = (ended: Ended): readonly DrexEvent[] => {
  if (ended.kind !== 'deploy') return []
  return [
    {
      type: ended.status === 'confirmed' ? 'drex.contract.deployed' : 'drex.contract.failed',
      subject: ended.subject,
      data: { contract_id: ended.subject, status: ended.status, tx_hash: ended.hash ?? null },
    },
  ]
}
