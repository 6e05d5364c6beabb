/** Transfers from wallets whose policy limits them: judged in the transaction that takes them, one after another. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  type IdempotencyKey,
  repetitionOf,
  replayOf,
  writeAudit,
} from '#src/platform/http/index.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { comparable, type Judgement, judge, type PolicyRule } from '../wallets/policy.ts'
import { lockPolicies, spentSince } from '../wallets/store.ts'
import { type Acceptance, acceptedStatus, insertAll } from './accept.ts'
import type { NewTransfer } from './store.ts'

export const windowHours = 24

/**
 * @param wallets that sign for it
 * @param bodyOf the answer, given whether it waits for another key
 * @throws ApiError `policy_refused`, which is also audited
 */
export const acceptGuarded = async (
  sql: Client,
  acceptance: Omit<Acceptance, 'body'>,
  wallets: readonly Hex[],
  bodyOf: (approval: 'required' | undefined) => string,
): Promise<Answered> => {
  const { caller, transfer } = acceptance
  const decided = await sql.begin(async (tx): Promise<Answered | PolicyRule> => {
    // A repeated request waits here for the first, and then finds its answer.
    const policies = await lockPolicies(tx, wallets)
    const before = await replayOf(tx, caller.idempotencyKey)
    if (before !== undefined) return before
    const judgement = await judgeTransfer(tx, policies, transfer)
    if (judgement.verdict === 'refused') return judgement.rule
    const approval = judgement.verdict === 'approval' ? ('required' as const) : undefined
    const body = bodyOf(approval)
    const [isNew] = await insertAll(tx, [
      { ...acceptance, transfer: { ...transfer, approval }, body },
    ])
    if (isNew) return { status: acceptedStatus, body, isReplay: false }
    // Another request, for other wallets, has claimed the key meanwhile.
    return repetitionOf(tx, caller.idempotencyKey as IdempotencyKey)
  })
  if (typeof decided !== 'string') return decided
  return refuseByPolicy(sql, caller, 'drex.transfer', transfer.fromWallet, decided)
}

/** @param policies of the wallets that sign for it, locked */
export const judgeTransfer = async (
  tx: Transaction,
  policies: Awaited<ReturnType<typeof lockPolicies>>,
  { amount, decimals, toWallet }: Pick<NewTransfer, 'amount' | 'decimals' | 'toWallet'>,
): Promise<Judgement> => {
  const judgements = await Promise.all(
    policies.map(async ({ address, policy }) => {
      const spent = policy.day_max === undefined ? 0n : await spentSince(tx, address, windowHours)
      return judge(policy, { amount: comparable(amount, decimals), to: toWallet, spent })
    }),
  )
  const of = (verdict: Judgement['verdict']) => judgements.find((each) => each.verdict === verdict)
  return of('refused') ?? of('approval') ?? { verdict: 'allowed' }
}

/** Tells the audit first. @throws ApiError `policy_refused` */
export const refuseByPolicy = async (
  sql: Client,
  caller: Caller,
  action: 'drex.transfer' | 'drex.retry',
  wallet: Hex,
  rule: PolicyRule,
): Promise<never> => {
  const entry = { actor: actorOf(caller), action, object: wallet, outcome: `refused: ${rule}` }
  await sql.begin((tx) => writeAudit(tx, entry))
  throw new ApiError(
    drexErrors.policy_refused,
    `The policy of the wallet refuses this transfer: ${rule}.`,
    { details: { rule, wallet } },
  )
}
