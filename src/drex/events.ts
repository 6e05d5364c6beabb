/** Events for the rest of the platform; `src/main.ts` connects the port to the webhooks. */
import type { AppEvent, EmitWithin } from '#src/events/index.ts'
import type { Transaction } from '#src/platform/database/index.ts'
import { accountsOf } from './contracts/store.ts'
import { formatUnits, isFinal, type TransactionStatus } from './domain.ts'
import type { Corrected } from './engine/correction-store.ts'
import { type Held, reasonOf } from './engine/held-store.ts'
import type { Ended } from './engine/transaction.ts'
import { abbreviateAddress } from './evm/address.ts'
import { type Operation, operationsById } from './operations/store.ts'
import { type Transfer, transfersById } from './transfers/store.ts'

/** Makes events of the transactions that ended. A transfer of several steps ends with its last. */
export const eventsOf = async (
  sql: Transaction,
  ended: readonly Ended[],
  isTaken: EmitWithin['isTaken'],
): Promise<readonly AppEvent[]> => {
  const ids = new Set(ended.map((each) => each.id))
  const steps = ended.filter((each) => isTransferStep(each))
  const transfers =
    steps.length > 0 && (await isTaken(sql, steps.flatMap(transferKind)))
      ? await transfersById(
          sql,
          steps.map(({ subject }) => subject),
        )
      : []
  const operations = await operationsById(sql, operationIds(ended))
  return [
    ...transfers.filter((each) => ids.has(each.transactionId)).flatMap(transferEvent),
    ...operations.filter((each) => ids.has(each.transactionId)).map(operationEvent),
    ...(await contractEvents(sql, ended)),
  ]
}

/** Makes events of the ends that the chain took back. */
export const correctionsOf = async (
  sql: Transaction,
  corrected: readonly Corrected[],
): Promise<readonly AppEvent[]> => {
  const byId = new Map(corrected.map((each) => [each.id, each]))
  const transfers = await transfersById(
    sql,
    corrected.map(({ subject }) => subject),
  )
  const operations = await operationsById(sql, operationIds(corrected))
  const changed = operations.filter(({ transactionId }) => byId.has(transactionId))
  const ofTransfers = transfers.flatMap((transfer): AppEvent[] => {
    const each = byId.get(transfer.transactionId)
    if (each === undefined || !isFinal(each.previous)) return []
    const { code, message } = each.reason
    const data = {
      ...described(transfer),
      previous_status: each.previous,
      status: transfer.status,
      tx_hash: each.hash ?? null,
      error: { code, message },
    }
    const { id: subject, account } = transfer
    return [{ type: 'drex.transfer.corrected', subject, account, data }]
  })
  return [...ofTransfers, ...changed.map(operationEvent), ...(await contractEvents(sql, corrected))]
}

/** Makes events of what waits for a decision. */
export const heldEventsOf = async (
  sql: Transaction,
  held: readonly Held[],
): Promise<readonly AppEvent[]> => {
  const accounts = await accountsOf(
    sql,
    held.map(({ id }) => id),
  )
  return held.map((each): AppEvent => {
    const { id, kind, subject, network, sender, candidates } = each
    const data = {
      transaction_id: id,
      kind,
      subject,
      network,
      wallet: abbreviateAddress(sender),
      reason: reasonOf(each),
      candidates,
    }
    return { type: 'drex.transaction.held', subject: id, account: accounts.get(id), data }
  })
}

const operationIds = (all: readonly { readonly subject: string }[]): readonly string[] =>
  all.map(({ subject }) => subject).filter((subject) => subject.startsWith('opr_'))

/** Its end, or that the chain took it back. */
const operationEvent = (operation: Operation): AppEvent => {
  const { id: subject, kind, status, signer, network, reference, hash, error, account } = operation
  const data = {
    operation_id: subject,
    operation: kind,
    status,
    network,
    signer_wallet: abbreviateAddress(signer),
    reference: reference ?? null,
    tx_hash: hash ?? null,
    error: error ?? null,
  }
  return { type: 'drex.operation.changed', subject, account, data }
}

const isTransferStep = ({ kind }: Ended): boolean => kind === 'transfer' || kind === 'swap'

/** The type of a transfer's end: the status of its last step. */
const transferKind = ({ status }: { readonly status: TransactionStatus }) =>
  isFinal(status) ? [{ type: `drex.transfer.${status}` } as const] : []

const transferEvent = (transfer: Transfer): readonly AppEvent[] => {
  const { status } = transfer
  if (!isFinal(status)) return []
  const data = {
    ...described(transfer),
    status,
    tx_hash: transfer.hash ?? null,
    attempt: transfer.attempt,
    error: transfer.error ?? null,
  }
  const { id: subject, account } = transfer
  return [{ type: `drex.transfer.${status}`, subject, account, data }]
}

/** What all events of a transfer say of it. */
const described = (transfer: Transfer) =>
  ({
    transfer_id: transfer.id,
    from_wallet: abbreviateAddress(transfer.fromWallet),
    to_wallet: abbreviateAddress(transfer.toWallet),
    amount: formatUnits(transfer.amount, transfer.decimals),
    currency: 'DREX',
    network: transfer.network,
    reference: transfer.reference ?? null,
  }) as const

/** The ends of deployments and calls, or that the chain took them back. */
const contractEvents = async (
  sql: Transaction,
  all: readonly (Ended | Corrected)[],
): Promise<readonly AppEvent[]> => {
  // Currency for trials is issued by calls, too, which are no contract's.
  const own = all.filter(({ subject }) => subject.startsWith('ctr_'))
  const told = own.flatMap((each) =>
    [...deploymentEvent(each), ...callEvent(each)].map((event) => ({ id: each.id, event })),
  )
  const accounts = await accountsOf(
    sql,
    told.map(({ id }) => id),
  )
  return told.map(({ id, event }) => ({ ...event, account: accounts.get(id) }))
}

const deploymentEvent = ({
  kind,
  status,
  subject,
  hash,
}: Ended | Corrected): readonly AppEvent[] => {
  if (kind !== 'deploy') return []
  const data = { contract_id: subject, status, tx_hash: hash ?? null }
  return [{ type: `drex.contract.${deploymentEnd(status)}`, subject, data }]
}

const deploymentEnd = (status: TransactionStatus) => {
  if (status === 'confirmed') return 'deployed'
  return isFinal(status) ? 'failed' : 'corrected'
}

const callEvent = ({ id, kind, status, subject, hash }: Ended | Corrected): readonly AppEvent[] => {
  if (kind !== 'call' || !(isFinal(status) || status === 'broadcast')) return []
  const data = { transaction_id: id, contract_id: subject, status, tx_hash: hash ?? null }
  return [{ type: 'drex.contract.called', subject: id, data }]
}
