/**
 * Many transfers in one request, all taken or none. Each row is a transfer of its own from then on, with its own end and
 * its own event. Policies hold for what the rows of a wallet come to together.
 */
import type { Transaction } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  type Caller,
  orReplay,
  runOnce,
} from '#src/platform/http/index.ts'
import type { Chain } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { madeBy, type ServiceDeps, termsOf } from '../creation.ts'
import { drexErrors } from '../errors.ts'
import type { AddressForm } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import { sagaOf, transferSteps } from '../sagas.ts'
import { comparable, judgeAll, limitsMoney, type PolicyRule } from '../wallets/policy.ts'
import { isWalletOf, requireWallet } from '../wallets/rights.ts'
import { lockPolicies, spentSince, type Wallet } from '../wallets/store.ts'
import { acceptedStatus, insertAll } from './accept.ts'
import { refuseByPolicy, windowHours } from './guarded.ts'
import { approveHeld, creationOf, type Transfers } from './service.ts'
import type { NewTransfer, Transfer } from './store.ts'

export const batchRowsMax = 500

type BatchRow = {
  readonly fromWallet: Hex
  readonly toWallet: Hex
  /** A decimal of the currency. */
  readonly amount: string
  readonly reference: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
}

type BatchRequest = {
  readonly network: NetworkId | undefined
  readonly rows: readonly BatchRow[]
}

type NewBatch = {
  readonly id: string
  readonly network: NetworkId
  readonly createdAt: Date
  readonly transfers: readonly NewTransfer[]
}

/**
 * @param bodyOf the answer
 * @throws ApiError that names every row which cannot be taken, or `policy_refused`
 */
const createBatch = async (
  deps: ServiceDeps,
  request: BatchRequest,
  caller: Caller,
  bodyOf: (batch: NewBatch) => string,
): Promise<Answered> => {
  const { sql } = deps
  const chain = deps.chains.require(request.network, caller.environment)
  const signers = await signersOf(deps, request.rows, caller)
  const batch: NewBatch = {
    id: newId('bat'),
    network: chain.network.id,
    createdAt: new Date(),
    transfers: await transfersOf(deps, chain, request.rows, caller),
  }
  let refused: { readonly wallet: Hex; readonly rule: PolicyRule } | undefined
  try {
    return await runOnce(sql, caller.idempotencyKey, async (tx) => {
      const limited = signers.filter(({ policy }) => limitsMoney(policy))
      const verdict = await judgeBatch(tx, limited, batch.transfers)
      if ('rule' in verdict) {
        refused = verdict
        throw new Error('refused by policy')
      }
      const taken: NewBatch = {
        ...batch,
        transfers: batch.transfers.map((each) => ({
          ...each,
          batch: batch.id,
          approval: verdict.held.has(each.fromWallet) ? 'required' : undefined,
        })),
      }
      await write(tx, deps, chain, taken, caller)
      return { status: acceptedStatus, body: bodyOf(taken) }
    })
  } catch (error) {
    if (refused === undefined) throw error
    return refuseByPolicy(sql, caller, 'drex.transfer', refused.wallet, refused.rule)
  }
}

/** The wallets that sign, each once. @throws ApiError with every row whose wallet cannot */
const signersOf = async (
  { wallets }: ServiceDeps,
  rows: readonly BatchRow[],
  caller: Caller,
): Promise<readonly Wallet[]> => {
  const addresses = [...new Set(rows.map(({ fromWallet }) => fromWallet))]
  const found = new Map<Hex, Wallet>()
  await collecting(
    addresses.map((address) => async () => {
      const row = rows.findIndex(({ fromWallet }) => fromWallet === address)
      const field = `transfers/${row}/from_wallet`
      found.set(address, await wallets.requireSigning(address, field, caller))
    }),
  )
  return [...found.values()]
}

const transfersOf = async (
  { tokens }: ServiceDeps,
  chain: Chain,
  rows: readonly BatchRow[],
  caller: Caller,
): Promise<readonly NewTransfer[]> => {
  const { id: network, token } = chain.network
  const decimals = await tokens.decimalsOf(chain, token)
  const amounts: bigint[] = []
  await collecting(
    rows.map(({ amount }, i) => async () => {
      amounts[i] = await tokens.unitsOf(chain, token, amount, `transfers/${i}/amount`)
    }),
  )
  const made = madeBy(caller)
  return rows.map(({ amount: _, ...row }, i) => ({
    ...row,
    ...made,
    id: newId('trf'),
    transactionId: newId('dtx'),
    network,
    token,
    decimals,
    amount: amounts[i]!,
    approval: undefined,
  }))
}

const detailsMax = 50

/** Runs one after the other. @throws ApiError what the first refused, with the rows of all that were refused alike */
const collecting = async (works: readonly (() => Promise<void>)[]): Promise<void> => {
  const refusals: ApiError[] = []
  for (const work of works) {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ApiError) || error.errors.length === 0) throw error
      refusals.push(error)
    }
  }
  const [first] = refusals
  if (first === undefined) return
  const alike = refusals.filter(({ definition }) => definition === first.definition)
  const errors = alike.flatMap((each) => each.errors)
  const rows = errors.slice(0, detailsMax).map(({ pointer, message }) => {
    const [, , row = '', field = ''] = pointer.split('/')
    return { row: Number(row), field, message }
  })
  throw new ApiError(first.definition, first.message, { errors, details: { rows } })
}

const judgeBatch = async (
  tx: Transaction,
  limited: readonly Wallet[],
  transfers: readonly NewTransfer[],
): Promise<
  { readonly wallet: Hex; readonly rule: PolicyRule } | { readonly held: ReadonlySet<Hex> }
> => {
  const held = new Set<Hex>()
  if (limited.length === 0) return { held }
  const policies = await lockPolicies(
    tx,
    limited.map(({ address }) => address),
  )
  for (const { address, policy } of policies) {
    const spent = policy.day_max === undefined ? 0n : await spentSince(tx, address, windowHours)
    const rows = transfers
      .filter(({ fromWallet }) => fromWallet === address)
      .map(({ amount, decimals, toWallet }) => ({
        amount: comparable(amount, decimals),
        to: toWallet,
      }))
    const judgement = judgeAll(policy, rows, spent)
    if (judgement.verdict === 'refused') return { wallet: address, rule: judgement.rule }
    if (judgement.verdict === 'approval') held.add(address)
  }
  return { held }
}

const write = async (
  tx: Transaction,
  deps: ServiceDeps,
  chain: Chain,
  { transfers, network }: NewBatch,
  caller: Caller,
): Promise<void> => {
  // The key is the whole batch's, and not a row's.
  const rowCaller = { ...caller, idempotencyKey: undefined }
  await insertAll(
    tx,
    transfers.map((transfer) => {
      const terms = termsOf(deps, caller, transfer.id, network)
      const [step] = sagaOf(transferSteps(chain.network, { ...transfer, swap: undefined }), terms)
      const steps = [{ ...step!, id: transfer.transactionId }]
      return { transfer, steps, caller: rowCaller, body: '' }
    }),
  )
}

export const createBatches = (
  deps: ServiceDeps & { readonly transfers: Pick<Transfers, 'list'> },
) => {
  const { sql, chains, transfers, expirySeconds } = deps
  const kick = () => {
    for (const { engine } of chains.all.values()) engine?.kick()
  }
  /** Its transfers, in their order. @throws ApiError if the caller may see none */
  const get = async (batch: string, caller: Caller): Promise<readonly Transfer[]> => {
    const any = { wallet: undefined, status: undefined, reference: undefined, beforeId: undefined }
    const found = await transfers.list({ ...any, batch, limit: batchRowsMax }, caller)
    if (found.length > 0) return found.toReversed()
    throw new ApiError(drexErrors.batch_not_found, 'No such batch.')
  }
  return {
    get,
    /** @param form how the answer shows addresses */
    async create(request: BatchRequest, caller: Caller, form: AddressForm) {
      // Check this before we find another key's answer under the same Idempotency-Key.
      for (const { fromWallet } of request.rows) requireWallet(caller, fromWallet)
      const bodyOf = (batch: NewBatch): string =>
        JSON.stringify({
          batch_id: batch.id,
          network: batch.network,
          created_at: batch.createdAt.toISOString(),
          statuses: { pending: batch.transfers.length },
          transfers: batch.transfers.map((each) => creationOf(each, form)),
        })
      const answered = await orReplay(sql, caller.idempotencyKey, () =>
        createBatch(deps, request, caller, bodyOf),
      )
      kick()
      return answered
    },
    /** Lets its held transfers go, but for those that the key made or has no right to. @throws ApiError if there are none */
    async approve(id: string, caller: Caller) {
      const rows = await get(id, caller)
      requireWallet(caller, ...rows.map(({ fromWallet }) => fromWallet))
      const held = rows.filter(
        ({ approval, status, fromWallet }) =>
          approval === 'required' && status === 'pending' && isWalletOf(caller, fromWallet),
      )
      const ids = held.map((each) => each.id)
      const isReleased = await approveHeld(sql, ids, caller, expirySeconds)
      if (isReleased) kick()
      const now = await get(id, caller)
      // A caller that repeats an approval because the answer was lost gets the answer again.
      if (isReleased || now.some(({ approvedBy }) => approvedBy === caller.keyId)) return now
      throw new ApiError(
        drexErrors.approval_not_possible,
        'Nothing of the batch is held that this key may let go.',
      )
    },
  }
}

export type Batches = ReturnType<typeof createBatches>
