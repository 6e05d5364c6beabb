/** What a wallet may be used for: limits, destinations and second keys; pure. */
import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { decimalsMax, unitsOf } from '../domain.ts'
import { addressSchema } from '../evm/address.ts'
import { amount } from '../templates/fields.ts'

const entriesMax = 200

/** Amounts are decimals of the currency; what is absent limits nothing. */
export const policySchema = z.strictObject({
  keys: z
    .array(text(12))
    .min(1)
    .max(entriesMax)
    .optional()
    .meta({ description: 'Public ids of the API keys that may sign with it' }),
  transfer_max: amount.optional().meta({ description: 'Of one transfer' }),
  day_max: amount.optional().meta({ description: 'Of all transfers of the last 24 hours' }),
  destinations: z
    .array(addressSchema)
    .max(entriesMax)
    .optional()
    .meta({ description: 'Where transfers may go' }),
  approval_above: amount
    .optional()
    .meta({ description: 'A transfer of more than this waits for another key of the account' }),
})

export type WalletPolicy = z.output<typeof policySchema>

export type PolicyRule = 'transfer_max' | 'day_max' | 'destinations'

export type Judgement =
  | { readonly verdict: 'allowed' }
  | { readonly verdict: 'approval' }
  | { readonly verdict: 'refused'; readonly rule: PolicyRule }

/** Whether it limits what money does, and not only who signs. */
export const limitsMoney = ({ keys: _, ...limits }: WalletPolicy): boolean =>
  Object.values(limits).some((limit) => limit !== undefined)

/** Every amount in units of {@link decimalsMax} decimals, so that those of all tokens compare. */
export const comparable = (amount: bigint, decimals: number): bigint =>
  amount * 10n ** BigInt(decimalsMax - decimals)

type Move = { readonly amount: bigint; readonly to: string }

/**
 * Judges what is to move from one wallet together: each by itself, and all by their sum.
 *
 * @param moves amounts {@link comparable}
 * @param spent in the last 24 hours, {@link comparable}
 */
export const judgeAll = (
  policy: WalletPolicy,
  moves: readonly Move[],
  spent: bigint,
): Judgement => {
  const isOver = (limit: string | undefined, sum: bigint): boolean =>
    limit !== undefined && sum > (unitsOf(limit, decimalsMax) ?? 0n)
  const { destinations } = policy
  const isElsewhere = ({ to }: Move) => destinations?.some((each) => each === to) === false
  if (moves.some(isElsewhere)) return { verdict: 'refused', rule: 'destinations' }
  if (moves.some(({ amount }) => isOver(policy.transfer_max, amount))) {
    return { verdict: 'refused', rule: 'transfer_max' }
  }
  const sum = moves.reduce((total, { amount }) => total + amount, 0n)
  if (isOver(policy.day_max, spent + sum)) return { verdict: 'refused', rule: 'day_max' }
  return { verdict: isOver(policy.approval_above, sum) ? 'approval' : 'allowed' }
}

/** Judges one by itself, as {@link judgeAll}. */
export const judge = (
  policy: WalletPolicy,
  { spent, ...move }: Move & { readonly spent: bigint },
): Judgement => judgeAll(policy, [move], spent)
