import { z } from 'zod'
import { addressSchema, zeroAddress } from '../../evm/address.ts'
import { amount, bps, bpsMax, hash, instant } from '../fields.ts'
import { defineTemplate } from '../template.ts'

const secondsPerDay = 86_400

const params = z.strictObject({
  token: addressSchema.optional(),
  payer: addressSchema,
  payee: addressSchema,
  arbiter: addressSchema,
  amount,
  deadline: instant,
  condition_hash: hash,
  fee_bps: bps(1_000).default(0),
  fee_recipient: addressSchema.optional(),
  /** Time that the arbiter has; then the dispute ends by `silence_payee_bps`. */
  arbitration_days: z.int().min(1).max(3_650).default(30),
  silence_payee_bps: bps(bpsMax).default(0),
})

/** An amount held between two parties until a condition, a deadline or an arbiter decides. */
export const template = defineTemplate({
  params,
  artifact: () => import('./generated/Escrow.json'),
  terms: async (params, { token: currency, unitsOf }) => {
    const { token = currency } = params
    return [
      {
        token,
        payer: params.payer,
        payee: params.payee,
        arbiter: params.arbiter,
        amount: await unitsOf(token, params.amount, 'amount'),
        deadline: params.deadline,
        conditionHash: params.condition_hash,
        feeBps: params.fee_bps,
        feeRecipient: params.fee_recipient ?? zeroAddress,
        arbitrationSeconds: params.arbitration_days * secondsPerDay,
        silencePayeeBps: params.silence_payee_bps,
      },
    ]
  },
})
