import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { defineTemplate } from '../template.ts'

/** Lets who is admitted to a currency admit further accounts. */
export const template = defineTemplate({
  params: z.strictObject({ token: addressSchema.optional() }),
  artifact: () => import('./generated/AccountAccess.json'),
  terms: ({ token }, place) => [token ?? place.token],
})
