import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { defineTemplate } from '../template.ts'

/** Bonds against money, once both sides have commanded the same. */
export const template = defineTemplate({
  params: z.strictObject({
    /** What is paid with; the network's currency if absent. */
    token: addressSchema.optional(),
    bond: addressSchema,
  }),
  artifact: () => import('./generated/BondDelivery.json'),
  terms: ({ token, bond }, place) => [token ?? place.token, bond],
})
