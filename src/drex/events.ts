/** Events for the rest of the platform; `src/main.ts` connects the port to the webhooks. */
import type { AppEvent } from '#src/events.ts'
import type { Transaction } from '#src/platform/database/index.ts'
import { formatUnits, isFinal } from './domain.ts'
import type { Ended } from './engine/transaction.ts'
import { abbreviateAddress } from './evm/address.ts'
import { type Transfer, transfersById } from './transfers/store.ts'

/** Makes events of the transactions that ended. A transfer of several steps ends with its last. */
export const eventsOf = async (
  sql: Transaction,
  ended: readonly Ended[],
): Promise<readonly AppEvent[]> => {
  const ids = new Set(ended.map((each) => each.id))
  const subjects = ended.filter((each) => isTransferStep(each)).map((each) => each.subject)
  const transfers = subjects.length === 0 ? [] : await transfersById(sql, subjects)
  return [
    ...transfers.filter((each) => ids.has(each.transactionId)).flatMap(transferEvent),
    ...ended.flatMap(contractEvent),
  ]
}

const isTransferStep = ({ kind }: Ended): boolean => kind === 'transfer' || kind === 'swap'

const transferEvent = (transfer: Transfer): readonly AppEvent[] => {
  const { status } = transfer
  if (!isFinal(status)) return []
  return [
    {
      type: `drex.transfer.${status}`,
      subject: transfer.id,
      data: {
        transfer_id: transfer.id,
        status,
        from_wallet: abbreviateAddress(transfer.fromWallet),
        to_wallet: abbreviateAddress(transfer.toWallet),
        amount: formatUnits(transfer.amount, transfer.decimals),
        currency: 'DREX',
        network: transfer.network,
        tx_hash: transfer.hash ?? null,
        reference: transfer.reference ?? null,
        error: transfer.error ?? null,
      },
    },
  ]
}

const contractEvent = (ended: Ended): readonly AppEvent[] => {
  if (ended.kind !== 'deploy') return []
  return [
    {
      type: ended.status === 'confirmed' ? 'drex.contract.deployed' : 'drex.contract.failed',
      subject: ended.subject,
      data: { contract_id: ended.subject, status: ended.status, tx_hash: ended.hash ?? null },
    },
  ]
}
