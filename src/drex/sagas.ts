/**
 * Operations of several transactions: a swap between institutions, or a deployment on a permissioned network. A step
 * starts once the one before it is confirmed; if that one fails, the steps after it never start.
 */
import type { Transaction } from '#src/platform/database/index.ts'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { isFinal, type TransactionStatus } from './domain.ts'
import type { EngineContext } from './engine/context.ts'
import * as endings from './engine/ending-store.ts'
import * as sagaStore from './engine/saga-store.ts'
import * as store from './engine/store.ts'
import type { Ended, NewTransaction, TransactionKind } from './engine/transaction.ts'
import type { Hex } from './evm/hex.ts'
import {
  addressArgument,
  encodeApprove,
  encodeExecuteSwap,
  encodeTransfer,
} from './evm/token-call.ts'
import { newId } from './ids.ts'
import type { Network } from './networks.ts'

export type Step = Pick<NewTransaction, 'kind' | 'sender' | 'recipient' | 'data'>

/** Terms that all steps of a saga share. */
export type SagaTerms = Pick<
  NewTransaction,
  'subject' | 'network' | 'requestAttempt' | 'createdBy' | 'expiresAt'
>

/** The steps as transactions, each after the one before it. */
export const sagaOf = (steps: readonly Step[], terms: SagaTerms): readonly NewTransaction[] => {
  const ids = steps.map(() => newId('dtx'))
  return steps.map((step, i) => ({ id: ids[i]!, ...terms, ...step, afterId: ids[i - 1] }))
}

export type SwapRequest = {
  readonly senderToken: Hex
  readonly receiverToken: Hex
  /** Holds the sending institution's wholesale reserve. */
  readonly reserveWallet: Hex
}

/**
 * A transfer is one step. Between two institutions it is three with two signers: both allow the swap contract to take
 * their part, then it swaps.
 *
 * @throws ApiError `not_configured` if the network has no swap contract
 */
export const transferSteps = (
  network: Network,
  request: {
    readonly fromWallet: Hex
    readonly toWallet: Hex
    /** In the token’s smallest unit. */
    readonly amount: bigint
    readonly swap: SwapRequest | undefined
  },
): readonly Step[] => {
  const { fromWallet, toWallet, amount, swap } = request
  const { token } = network
  if (swap === undefined) {
    const data = encodeTransfer(toWallet, amount)
    return [{ kind: 'transfer', sender: fromWallet, recipient: token, data }]
  }
  const contract = network.swap
  if (contract === undefined) {
    throw new ApiError(
      httpErrors.not_configured,
      `The network ${network.id} has no swap contract configured.`,
      { details: { field: 'swap' } },
    )
  }
  const approval = encodeApprove(contract, amount)
  return [
    { kind: 'approve', sender: swap.reserveWallet, recipient: token, data: approval },
    { kind: 'approve', sender: fromWallet, recipient: swap.senderToken, data: approval },
    {
      kind: 'swap',
      sender: fromWallet,
      recipient: contract,
      data: encodeExecuteSwap(swap.senderToken, swap.receiverToken, toWallet, amount),
    },
  ]
}

/** On a permissioned network a contract can be called only once it is a target of the account rules. */
export const deploymentSteps = (network: Network, sender: Hex, data: Hex): readonly Step[] => {
  const deploy: Step = { kind: 'deploy', sender, recipient: undefined, data }
  const { permissioning } = network
  if (permissioning === undefined) return [deploy]
  // `withCall` gives its data once the address is known.
  return [deploy, { kind: 'permit', sender, recipient: permissioning, data: '0x' }]
}

/**
 * Ends the steps that waited for these, takes back the allowances of swaps that have ended, and calls `onEnded`
 * with all of them.
 */
export const endSagas = async (
  { network, onEnded }: Pick<EngineContext, 'network' | 'onEnded'>,
  sql: Transaction,
  ended: readonly Ended[],
): Promise<void> => {
  const failed = ended.filter((each) => each.status !== 'confirmed')
  const bad = failed.map((each) => each.id)
  const followers =
    bad.length === 0
      ? []
      : await endings.failFollowers(sql, bad, {
          code: 'STEP_FAILED',
          message: 'An earlier step did not succeed; this one was never sent.',
        })
  // A step may use less than was allowed for it, and an allowance may be mined when nobody needs it any more.
  const given = ended.filter(({ kind }) => kind === 'approve' || usesAllowance.has(kind))
  await revokeAllowances(
    sql,
    network.id,
    given.map(({ subject }) => subject),
  )
  const lost = failed.filter(({ kind, status }) => kind === 'revoke' && isLost(status))
  await revokeAgain(
    sql,
    network.id,
    lost.map(({ subject }) => subject),
  )
  if (ended.length > 0) await onEnded(sql, network.id, [...ended, ...followers])
}

/** Steps after which the allowances before them are used up or no longer needed. */
const usesAllowance: ReadonlySet<TransactionKind> = new Set<TransactionKind>([
  'swap',
  'propose',
  'pledge',
])

const revokeExpiryMs = 7 * 24 * 3_600_000
/** How often one allowance is taken back, where that does not succeed. */
export const takeBacksMax = 5
/** After a failed attempt to take back an allowance, the next follows after this time. */
export const takeBackRestMs = 60_000

/** Whether an attempt ended without taking anything back. A withdrawn one had nothing left to take back. */
export const isLost = (status: TransactionStatus): boolean =>
  isFinal(status) && status !== 'confirmed' && status !== 'cancelled'

/** Sets what these transfers allowed back to zero, each as soon as it is confirmed: a step of the same transfer. */
export const revokeAllowances = async (
  sql: Transaction,
  network: string,
  subjects: readonly string[],
): Promise<void> => {
  if (subjects.length === 0) return
  await revoke(sql, await sagaStore.openAllowances(sql, network, subjects))
}

/** Tries once more to take back an allowance, unless there were too many attempts. */
const revokeAgain = async (
  sql: Transaction,
  network: string,
  subjects: readonly string[],
): Promise<void> => {
  if (subjects.length === 0) return
  const given = await sagaStore.openAllowances(sql, network, subjects)
  // An allowance that is not given yet is taken back once it is.
  const left = given.filter(({ isGiven, lost }) => isGiven && lost < takeBacksMax)
  await store.defer(sql, await revoke(sql, left), takeBackRestMs)
}

/** @returns the steps that do it */
const revoke = async (
  sql: Transaction,
  given: Awaited<ReturnType<typeof sagaStore.openAllowances>>,
): Promise<readonly string[]> => {
  if (given.length === 0) return []
  const expiresAt = new Date(Date.now() + revokeExpiryMs)
  const rows = given.map(
    ({ id, data, isGiven: _, lost: __, ...terms }): NewTransaction => ({
      ...terms,
      id: newId('dtx'),
      kind: 'revoke',
      data: encodeApprove(addressArgument(data, 0), 0n),
      afterId: id,
      expiresAt,
    }),
  )
  await store.insertTransactions(sql, rows)
  return rows.map(({ id }) => id)
}
