import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { hash, instant } from '../fields.ts'
import { defineTemplate } from '../template.ts'

/** Tokens of an owner that secure a beneficiary until it lets them go, or the expiry. */
export const template = defineTemplate({
  params: z.strictObject({
    /** The pledged asset; the network's currency if absent. */
    token: addressSchema.optional(),
    owner: addressSchema,
    beneficiary: addressSchema,
    document_hash: hash,
    expiry: instant,
  }),
  artifact: () => import('./generated/Lien.json'),
  terms: (params, { token: currency }) => [
    params.token ?? currency,
    params.owner,
    params.beneficiary,
    params.document_hash,
    params.expiry,
  ],
})
