/** Bonds against money, both or neither: our side's command, and what becomes of it. */
import type { Transaction } from '#src/platform/database/index.ts'
import { ApiError, type Caller, refusedValue } from '#src/platform/http/index.ts'
import type { Chain } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { simulateCall } from '../contracts/simulation.ts'
import { type Creation, madeBy } from '../creation.ts'
import { institutionWallet } from '../directory.ts'
import { isFinal } from '../domain.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import { callStep } from '../operations/definition.ts'
import type { Step as PlannedStep } from '../sagas.ts'
import { scaled } from '../templates/fields.ts'
import type { Receiver } from '../transfers/service.ts'
import { cancelPending, type Step, stepsOf, waitingOf } from '../transfers/store.ts'
import { isCertainlyUnsent } from '../transfers/unsent.ts'
import { requireUnlimited } from '../wallets/rights.ts'
import {
  type AgreementDeps,
  creationOf,
  type Of,
  readersOf,
  reread,
  stepCreation,
} from './service.ts'
import { createViews, requireTemplateCode } from './template-code.ts'
import type { DeliveryTerms } from './terms.ts'

export const bondDecimals = 2
export const priceDecimals = 8
/** The contract multiplies before it cuts off. */
const wordMax = (1n << 256n) - 1n

type DeliveryRequest = {
  readonly contract: Hex
  readonly number: string
  readonly part: 'seller' | 'buyer'
  /** Ours, which signs. */
  readonly wallet: Hex
  /** An institution’s wallet is the one that the directory tells when the delivery is made. */
  readonly counterparty: Receiver
  readonly bond: {
    readonly acronym: string
    readonly code: string
    /** Unix seconds. */
    readonly maturity: number
  }
  /** A decimal of two digits. */
  readonly amount: string
  /** A decimal of eight digits. */
  readonly unitPrice: string
  readonly network?: NetworkId | undefined
  readonly reference?: string | undefined
}

export const createDeliveries = (deps: AgreementDeps) => ({
  ...readersOf(deps, 'delivery'),
  create: (request: DeliveryRequest, caller: Caller) => create(deps, request, caller),
  /** @throws ApiError `delivery_not_found`, `delivery_not_cancellable` or `contract_reverted` */
  cancel: (id: string, reason: string, caller: Caller) => cancel(deps, id, reason, caller),
})

export type Deliveries = ReturnType<typeof createDeliveries>

const create = async (
  deps: AgreementDeps,
  request: DeliveryRequest,
  caller: Caller,
): Promise<Creation<Of<'delivery'>>> => {
  const { part, contract, reference } = request
  const chain = deps.chains.require(request.network, caller.environment)
  const wallet = await deps.wallets.requireSigning(request.wallet, 'wallet', caller)
  requireUnlimited(wallet)
  await requireTemplateCode(chain, contract, 'bond_delivery')
  const terms = await termsOf(deps, chain, request, await addressOf(chain, request.counterparty))
  const command = await commandOf(request, terms)
  await tryCommand(chain, command)
  const allow = await allowanceOf(chain, request, terms)
  const row = {
    ...madeBy(caller),
    id: newId('dlv'),
    kind: 'delivery',
    network: chain.network.id,
    contract,
    wallet: wallet.address,
    part,
    terms,
    reference,
    state: { status: 'pending', hash: null, error: null, pledged: null, expiry: null },
  } as const
  return creationOf<'delivery'>(deps, caller, chain, row, [...allow, command])
}

const addressOf = async (chain: Chain, counterparty: Receiver): Promise<Hex> =>
  typeof counterparty === 'string' ? counterparty : institutionWallet(chain, counterparty.cnpj8)

const refuse = (field: string, rule: string, message: string, got?: string): never => {
  throw refusedValue([
    { pointer: `/${field}`, rule, message, ...(got === undefined ? {} : { got }) },
  ])
}

const decimal = (field: string, text: string, decimals: number): bigint => {
  const units = scaled(text, decimals)
  if (units === undefined)
    return refuse(field, 'decimals', `has more than ${decimals} fraction digits`, text)
  return units > 0n ? units : refuse(field, 'range', 'must be more than zero', text)
}

/** What the contract itself says of the two halves of a delivery, and what they come to. */
const termsOf = async (
  { tokens }: AgreementDeps,
  chain: Chain,
  request: DeliveryRequest,
  counterparty: Hex,
): Promise<DeliveryTerms> => {
  const { contract, number, part, wallet, bond: named } = request
  if (wallet === counterparty) refuse('counterparty', 'differs', 'must differ from wallet')
  const amount = decimal('amount', request.amount, bondDecimals)
  const unitPrice = decimal('unit_price', request.unitPrice, priceDecimals)
  const product = amount * unitPrice
  if (product > wordMax) refuse('unit_price', 'range', 'comes to more than a contract can count')
  const price = product / 10n ** BigInt(priceDecimals)
  if (price === 0n) refuse('amount', 'range', 'comes to less than the smallest unit of money')
  const ask = await createViews(chain, 'bond_delivery')
  const [money = '', bond = ''] = (
    await Promise.all([ask(contract, 'money'), ask(contract, 'bond')])
  ).map(([told = '']) => told.toLowerCase())
  const decimals = await tokens.decimalsOf(chain, money as Hex)
  // Amounts of bonds times prices are cents.
  if (decimals !== bondDecimals)
    refuse('contract', 'decimals', 'is paid in a money without two decimals')
  const { acronym, code, maturity } = named
  const askBond = await createViews(chain, 'tokenized_bond')
  const tuple = [acronym, code, BigInt(maturity)]
  const [bondId = '0'] = await askBond(bond as Hex, 'getTPFtId', [tuple])
  if (bondId === '0') refuse('bond', 'unknown', 'is none that the contract’s bonds know')
  return {
    number,
    bond: bond as Hex,
    bondId,
    acronym,
    code,
    maturity,
    money: money as Hex,
    seller: part === 'seller' ? wallet : counterparty,
    buyer: part === 'buyer' ? wallet : counterparty,
    amount: String(amount),
    unitPrice: String(unitPrice),
    price: String(price),
  }
}

const commandOf = async (
  { contract, part, wallet }: DeliveryRequest,
  terms: DeliveryTerms,
): Promise<PlannedStep> => {
  const { number, seller, buyer, acronym, code, maturity, amount, unitPrice } = terms
  const bond = [acronym, code, BigInt(maturity)]
  const caller = part === 'seller' ? 0 : 1
  const args = [BigInt(number), seller, buyer, caller, bond, BigInt(amount), BigInt(unitPrice)]
  const step = await callStep('bond_delivery', { sender: wallet, to: contract }, 'trade', args)
  return { ...step, kind: 'command' }
}

/** Refusals of a second command that are final; others may only mean that an allowance is still missing. */
const finalRefusals = new Set(['NotAllowed', 'NotPending', 'TermsDiffer', 'InvalidTerms'])

/** @throws ApiError `contract_reverted` if the number is another's, or its terms differ */
const tryCommand = async (
  chain: Chain,
  { sender, recipient, data }: PlannedStep,
): Promise<void> => {
  try {
    await simulateCall(chain, { from: sender, to: recipient, data }, [])
  } catch (error) {
    if (!(error instanceof ApiError) || error.definition !== drexErrors.contract_reverted)
      throw error
    const { revert } = error.details as { readonly revert: { readonly name: string } | null }
    if (revert !== null && finalRefusals.has(revert.name)) throw error
  }
}

/** The seller's approval is of all its bonds, and stays; the buyer's is of this very price. */
const allowanceOf = async (
  chain: Chain,
  { contract, part, wallet }: DeliveryRequest,
  { bond, money, price }: DeliveryTerms,
): Promise<readonly PlannedStep[]> => {
  if (part === 'buyer') {
    const to = { sender: wallet, to: money }
    const step = await callStep('currency', to, 'increaseAllowance', [contract, BigInt(price)])
    return [{ ...step, kind: 'allow' }]
  }
  const ask = await createViews(chain, 'tokenized_bond')
  const [isApproved] = await ask(bond, 'isApprovedForAll', [wallet, contract])
  if (isApproved === 'true') return []
  const to = { sender: wallet, to: bond }
  const step = await callStep('tokenized_bond', to, 'setApprovalForAll', [contract, true])
  return [{ ...step, kind: 'allow' }]
}

const notCancellable = (): ApiError =>
  new ApiError(drexErrors.delivery_not_cancellable, 'The delivery cannot be cancelled now.')

const cancel = async (
  deps: AgreementDeps,
  id: string,
  reason: string,
  caller: Caller,
): Promise<Creation<Of<'delivery'>>> => {
  const { agreement } = await readersOf(deps, 'delivery').get(id, caller)
  const { status } = agreement.state
  if (status === 'pending') return withdrawal(deps, agreement)
  if (status !== 'commanded') throw notCancellable()
  const chain = deps.chains.require(agreement.network as NetworkId, caller.environment)
  const { address: sender } = await deps.wallets.requireSigning(agreement.wallet, 'wallet', caller)
  const { number } = agreement.terms
  const to = { sender, to: agreement.contract! }
  const step = await callStep('bond_delivery', to, 'cancel', [BigInt(number), reason])
  return stepCreation(deps, caller, chain, agreement, [step], (steps) => {
    if (steps.some(isCancelling)) throw notCancellable()
  })
}

const isCancelling = ({ kind, status }: Step): boolean => kind === 'call' && !isFinal(status)

/** Until our command is signed, nobody else knows of the delivery. */
const withdrawal = async (
  deps: AgreementDeps,
  agreement: Of<'delivery'>,
): Promise<Creation<Of<'delivery'>>> => {
  const isUnsent = await isCertainlyUnsent(deps, agreement.network as NetworkId, agreement.id)
  if (!isUnsent) throw notCancellable()
  return { write: (tx) => withdraw(deps, tx, agreement) }
}

const withdraw = async (
  { onEnded }: AgreementDeps,
  tx: Transaction,
  agreement: Of<'delivery'>,
): Promise<Of<'delivery'>> => {
  const isHeld = (await waitingOf(tx, agreement.id)).some((each) => each.isHeld)
  const gone = new Set(await cancelPending(tx, agreement.id))
  const ended = (await stepsOf(tx, agreement.id)).filter(({ id }) => gone.has(id))
  if (isHeld || !ended.some(({ kind }) => kind === 'command')) throw notCancellable()
  await onEnded(
    tx,
    agreement.network,
    ended.map((each) => ({ ...each, subject: agreement.id })),
  )
  return reread(tx, agreement)
}
