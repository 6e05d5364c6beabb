/**
 * What follows once a step has ended or a contract has told something: the status, its event, the next steps of a lien,
 * and the taking back of what was allowed for nothing. It runs in the database transaction of its cause, so that a crash
 * leaves either both or none.
 */
import type { AppEvent, Emit } from '#src/events/index.ts'
import type { Transaction } from '#src/platform/database/index.ts'
import { begunStatuses, formatUnits } from '../domain.ts'
import { defer, insertTransactions } from '../engine/store.ts'
import { abbreviateAddress, checksumAddress } from '../evm/address.ts'
import { encodeApprove } from '../evm/token-call.ts'
import { newId } from '../ids.ts'
import { callStep } from '../operations/definition.ts'
import { isLost, type Step, sagaOf, takeBackRestMs, takeBacksMax } from '../sagas.ts'
import { deliveryEnds, deliveryState, lienState, type State } from './domain.ts'
import type { Agreement } from './store.ts'
import * as store from './store.ts'
import type { LienTerms } from './terms.ts'

/** A follow-up step has as long as this to be signed. */
const stepExpiryMs = 7 * 24 * 3_600_000

type Known = {
  readonly agreement: store.Agreement
  readonly steps: readonly store.OwnStep[]
  readonly told: readonly store.Event[]
}

export const isAgreement = (subject: string): boolean => /^(dlv|lin)_/.test(subject)

export const advance = async (
  tx: Transaction,
  emitEvents: Emit,
  ids: readonly string[],
): Promise<void> => {
  if (ids.length === 0) return
  const agreements = await store.lockAgreements(tx, [...new Set(ids)])
  const steps = await store.ownSteps(tx, ids)
  const told = await store.eventsOf(tx, ids)
  const events: AppEvent[] = []
  for (const agreement of agreements) {
    const { id } = agreement
    const known = { agreement, steps: steps.get(id) ?? [], told: told.get(id) ?? [] }
    if (agreement.kind === 'lien') await continueLien(tx, known, agreement.terms)
    const state = stateOf({ ...known, steps: (await store.ownSteps(tx, [id])).get(id) ?? [] })
    if (agreement.kind === 'delivery') await takeBack(tx, known, state)
    if (isSame(state, agreement.state)) continue
    await store.saveState(tx, id, state)
    events.push(agreementEvent(agreement, state))
  }
  if (events.length > 0) await emitEvents(tx, events)
}

const stateOf = ({ agreement, steps, told }: Known): State => {
  if (agreement.kind === 'delivery') return deliveryState(steps, told)
  const { amount, expiry, isOurs } = agreement.terms
  return lienState(steps, told, { pledged: isOurs ? 0n : BigInt(amount), expiry, isOurs })
}

const isSame = (a: State, b: State): boolean =>
  a.status === b.status &&
  a.hash === b.hash &&
  a.pledged === b.pledged &&
  a.expiry === b.expiry &&
  a.error?.code === b.error?.code

const termsOf = ({ id, network, createdBy }: store.Agreement) => ({
  subject: id,
  network,
  createdBy,
  expiresAt: new Date(Date.now() + stepExpiryMs),
})

/** The contract is there: its address is known now, and what needs it can follow. */
const continueLien = async (
  tx: Transaction,
  { agreement, steps }: Known,
  { admission, amount, token, owner }: LienTerms,
): Promise<void> => {
  const deployment = steps.find(({ kind }) => kind === 'deploy')
  if (agreement.contract !== undefined || deployment === undefined) return
  const contract = await store.deployedBy(tx, deployment.id)
  if (contract === undefined) return
  await store.saveContract(tx, agreement.id, contract)
  const next: Step[] = []
  if (admission !== null) {
    const to = { sender: owner, to: admission }
    next.push(await callStep('account_access', to, 'enableAccount', [contract]))
  }
  next.push(...(await pledgeSteps({ contract, owner, token }, BigInt(amount))))
  await insertTransactions(tx, sagaOf(next, termsOf(agreement)))
}

/** The owner lets the lien take what it then takes. */
export const pledgeSteps = async (
  {
    contract,
    owner,
    token,
  }: Pick<LienTerms, 'owner' | 'token'> & { readonly contract: `0x${string}` },
  units: bigint,
): Promise<readonly Step[]> => [
  { kind: 'approve', sender: owner, recipient: token, data: encodeApprove(contract, units) },
  {
    ...(await callStep('lien', { sender: owner, to: contract }, 'pledge', [units])),
    kind: 'pledge',
  },
]

/** A purchase that failed no longer needs the money allowed for it; one that succeeded has used it. */
const takeBack = async (
  tx: Transaction,
  { agreement, steps }: Known,
  { status }: State,
): Promise<void> => {
  if (agreement.kind !== 'delivery' || agreement.part !== 'buyer') return
  if (!deliveryEnds.includes(status) || status === 'settled' || status === 'mismatched') return
  const given = steps.find(({ kind }) => kind === 'allow')
  if (given === undefined || !begunStatuses.includes(given.status)) return
  const tried = steps.filter(({ kind }) => kind === 'disallow')
  if (tried.length >= takeBacksMax || !tried.every(({ status }) => isLost(status))) return
  const { contract, terms, wallet } = agreement
  const args = [contract, BigInt(terms.price)]
  const step = await callStep(
    'currency',
    { sender: wallet, to: terms.money },
    'decreaseAllowance',
    args,
  )
  const id = newId('dtx')
  await insertTransactions(tx, [
    { id, ...termsOf(agreement), ...step, kind: 'disallow', afterId: given.id },
  ])
  if (tried.length > 0) await defer(tx, [id], takeBackRestMs)
}

/** The event about an agreement whose state has changed. */
const agreementEvent = (agreement: Agreement, state: State): AppEvent => {
  const { id: subject, account } = agreement
  const common = {
    status: state.status,
    previous_status: agreement.state.status,
    wallet: abbreviateAddress(agreement.wallet),
    network: agreement.network,
    reference: agreement.reference ?? null,
    tx_hash: state.hash,
    error: state.error,
  }
  if (agreement.kind === 'delivery') {
    const { terms, part, contract } = agreement
    const data = {
      delivery_id: subject,
      part,
      ...common,
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
    lien_id: subject,
    part,
    ...common,
    contract: contract === undefined ? null : checksumAddress(contract),
    token: checksumAddress(terms.token),
    pledged: formatUnits(BigInt(state.pledged ?? '0'), terms.decimals),
    expiry: new Date((state.expiry ?? terms.expiry) * 1_000).toISOString(),
  }
  return { type: 'drex.lien.changed', subject, account, data }
}
