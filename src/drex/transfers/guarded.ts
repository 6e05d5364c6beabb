/** Transfers from wallets whose policy limits them: judged in the transaction that takes them, one after another. */
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { type Answered, ApiError, actorOf, replayOf, writeAudit } from '#src/platform/http/index.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { comparable, type Judgement, judge, type PolicyRule } from '../wallets/policy.ts'
import { lockPolicies, spentSince } from '../wallets/store.ts'
import { type Acceptance, acceptedStatus, insertAll } from './accept.ts'

const windowHours = 24

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
    // Whoever repeats a request waits here for the first, and then finds its answer.
    const policies = await lockPolicies(tx, wallets)
    const before = await replayOf(tx, caller.idempotencyKey)
    if (before !== undefined) return before
    const judgements = await Promise.all(
      policies.map(({ address, policy }) => judgeOne(tx, transfer, address, policy)),
    )
    for (const each of judgements) if (each.verdict === 'refused') return each.rule
    const isHeld = judgements.some(({ verdict }) => verdict === 'approval')
    const approval = isHeld ? ('required' as const) : undefined
    const body = bodyOf(approval)
    await insertAll(tx, [{ ...acceptance, transfer: { ...transfer, approval }, body }])
    return { status: acceptedStatus, body, isReplay: false }
  })
  if (typeof decided !== 'string') return decided
  const object = transfer.fromWallet
  await sql.begin((tx) =>
    writeAudit(tx, {
      ...{ actor: actorOf(caller), action: 'drex.transfer', object },
      outcome: `refused: ${decided}`,
    }),
  )
  throw new ApiError(
    drexErrors.policy_refused,
    `The policy of the wallet refuses this transfer: ${decided}.`,
    { details: { rule: decided, wallet: transfer.fromWallet } },
  )
}

const judgeOne = async (
  tx: Transaction,
  { amount, decimals, toWallet }: Acceptance['transfer'],
  address: Hex,
  policy: Parameters<typeof judge>[0],
): Promise<Judgement> => {
  const spent = policy.day_max === undefined ? 0n : await spentSince(tx, address, windowHours)
  return judge(policy, { amount: comparable(amount, decimals), to: toWallet, spent })
}
