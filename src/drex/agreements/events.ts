/** What is told of agreements whose state has changed. */
import type { AppEvent } from '#src/events/index.ts'
import { formatUnits } from '../domain.ts'
import { abbreviateAddress, checksumAddress } from '../evm/address.ts'
import type { State } from './domain.ts'
import type { Agreement } from './store.ts'

export const agreementEvent = (agreement: Agreement, state: State): AppEvent => {
  const { id: subject, account } = agreement
  const common = {
    ...{ status: state.status, previous_status: agreement.state.status },
    wallet: abbreviateAddress(agreement.wallet),
    network: agreement.network,
    reference: agreement.reference ?? null,
    tx_hash: state.hash,
    error: state.error,
  }
  if (agreement.kind === 'delivery') {
    const { terms, part, contract } = agreement
    const data = {
      ...{ delivery_id: subject, part, ...common },
      contract: checksumAddress(contract!),
      counterparty: abbreviateAddress(part === 'seller' ? terms.buyer : terms.seller),
      operation_id: terms.number,
      amount: formatUnits(BigInt(terms.amount), 2),
      price: formatUnits(BigInt(terms.price), 2),
    }
    return { type: 'drex.delivery.changed', subject, account, data }
  }
  const { terms, part, contract } = agreement
  const data = {
    ...{ lien_id: subject, part, ...common },
    contract: contract === undefined ? null : checksumAddress(contract),
    token: checksumAddress(terms.token),
    pledged: formatUnits(BigInt(state.pledged ?? '0'), terms.decimals),
    expiry: new Date((state.expiry ?? terms.expiry) * 1_000).toISOString(),
  }
  return { type: 'drex.lien.changed', subject, account, data }
}
