/**
 * A further attempt at a transfer that failed: the same steps, under the same id. It is taken only if the ends of all
 * former steps prove that nothing moved and nothing can: they were never signed, or the chain has refused them so deep
 * that the finality watch looks no more. So no two attempts are ever alive.
 */
import type { Transaction } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { type ServiceDeps, termsOf } from '../creation.ts'
import { isFinal } from '../domain.ts'
import { commonHead } from '../engine/blocks.ts'
import { drexErrors } from '../errors.ts'
import { quantity } from '../evm/hex.ts'
import { toldIn } from '../rpc/exchange.ts'
import { type Step, sagaOf } from '../sagas.ts'
import type { PolicyRule } from '../wallets/policy.ts'
import { lockPolicies } from '../wallets/store.ts'
import { acceptedStatus } from './accept.ts'
import { judgeTransfer, refuseByPolicy } from './guarded.ts'
import { insertRequestAttempt, lockTransfer, type TriedStep, triedSteps } from './retry-store.ts'
import { type Transfer, transfersById } from './store.ts'

/** Why there is no further attempt. */
type Reason = 'under_way' | 'not_failed' | 'may_have_moved' | 'end_may_change'

type RetryDeps = ServiceDeps & {
  /** Blocks below the confirmations in which the finality watch may still take back an end. */
  readonly watchBlocks: number
}

/**
 * @param bodyOf the answer, of the transfer as it is after the attempt was taken
 * @throws ApiError `transfer_not_retryable`, `policy_refused`, or that the caller may not sign with a wallet of it
 */
export const retryTransfer = async (
  deps: RetryDeps,
  transfer: Transfer,
  caller: Caller,
  bodyOf: (transfer: Transfer) => string,
): Promise<Answered> => {
  const { sql } = deps
  const tried = await triedSteps(sql, transfer.id)
  // A network that began anew keeps what was signed on the old one under another name.
  const [networkId] = transfer.network.split('@') as [NetworkId]
  const chain = deps.chains.require(networkId, caller.environment)
  refuseUnended(transfer, tried, networkId)
  const repeated = tried.filter(
    ({ attempt, kind }) => attempt === transfer.attempt && kind !== 'revoke',
  )
  const signers = [...new Set(repeated.map(({ sender }) => sender))]
  for (const signer of signers) await deps.wallets.requireSigning(signer, 'from_wallet', caller)
  await refuseShallow(chain, tried, chain.network.confirmations + deps.watchBlocks)
  let refused: PolicyRule | undefined
  try {
    return await runOnce(sql, caller.idempotencyKey, async (tx) => {
      const policies = await lockPolicies(tx, signers)
      await requireUnchanged(tx, transfer)
      const judgement = await judgeTransfer(tx, policies, transfer)
      if (judgement.verdict === 'refused') {
        refused = judgement.rule
        throw new Error('refused by policy')
      }
      const approval = judgement.verdict === 'approval' ? ('required' as const) : undefined
      const attempt = transfer.attempt + 1
      const terms = {
        ...termsOf(deps, caller, transfer.id, transfer.network),
        requestAttempt: attempt,
      }
      const steps = sagaOf(repeated.map(stepOf), terms)
      await insertRequestAttempt(tx, {
        transferId: transfer.id,
        attempt,
        steps,
        approval,
        retriedBy: caller.keyId,
      })
      const outcome = approval === undefined ? 'pending' : 'approval required'
      const entry = { action: 'drex.retry', object: transfer.id, outcome } as const
      await writeAudit(tx, { actor: actorOf(caller), ...entry })
      const [taken] = await transfersById(tx, [transfer.id])
      return { status: acceptedStatus, body: bodyOf(taken!) }
    })
  } catch (error) {
    if (refused === undefined) throw error
    return refuseByPolicy(sql, caller, 'drex.retry', transfer.fromWallet, refused)
  }
}

const stepOf = ({ kind, sender, recipient, data }: TriedStep): Step => ({
  kind,
  sender,
  recipient,
  data,
})

/** Judges what the database alone knows. */
const refuseUnended = (
  transfer: Transfer,
  steps: readonly TriedStep[],
  networkId: NetworkId,
): void => {
  const { status } = transfer
  if (!isFinal(status) || steps.some((step) => !isFinal(step.status))) throw refusal('under_way')
  if (status !== 'failed' && status !== 'reverted') throw refusal('not_failed')
  const isUnclear = ({ error, wasSigned, block, network }: TriedStep): boolean =>
    error?.code === 'TRANSFER_MISMATCH' ||
    error?.code === 'NETWORK_RESET' ||
    (wasSigned && (block === undefined || network !== networkId))
  if (steps.some(isUnclear)) throw refusal('may_have_moved')
}

/** Every block that ended a step is on the chain, and below what the finality watch still compares. */
const refuseShallow = async (
  chain: Chain,
  steps: readonly TriedStep[],
  watchedBlocks: number,
): Promise<void> => {
  const blocks = steps.flatMap(({ block }) => (block === undefined ? [] : [block]))
  if (blocks.length === 0) return
  const [head, found] = await reaching(chain, () =>
    Promise.all([
      // It proves that nothing more can move: one that alone is far ahead must not be the only one to tell it.
      commonHead(chain.rpc, chain.nodesNeeded, chain.nodesNeeded),
      chain.rpc.batch(
        blocks.map(({ number }) => ({
          method: 'eth_getBlockByNumber',
          params: [quantity(number), false],
        })),
      ),
    ]),
  )
  const isSettled = ({ number, hash }: (typeof blocks)[number], i: number): boolean =>
    toldIn(found[i])?.hash === hash && number < head - watchedBlocks
  if (!blocks.every(isSettled)) throw refusal('end_may_change')
}

const requireUnchanged = async (tx: Transaction, transfer: Transfer): Promise<void> => {
  const locked = await lockTransfer(tx, transfer.id)
  if (locked?.attempt !== transfer.attempt) throw refusal('under_way')
  const steps = await triedSteps(tx, transfer.id)
  if (steps.some(({ status }) => !isFinal(status))) throw refusal('under_way')
}

const messages: Readonly<Record<Reason, string>> = {
  under_way: 'An attempt at the transfer is under way.',
  not_failed: 'The transfer has not failed.',
  may_have_moved: 'Nothing proves that the transfer moved nothing.',
  end_may_change: 'The block that refused the transfer may still leave the chain.',
}

const refusal = (reason: Reason): ApiError =>
  new ApiError(drexErrors.transfer_not_retryable, messages[reason], { details: { reason } })
