import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { amount } from '../fields.ts'
import { defineTemplate } from '../template.ts'

/** Converts reserves into wholesale currency and back. */
export const template = defineTemplate({
  params: z.strictObject({ token: addressSchema.optional(), request_max: amount }),
  artifact: () => import('./generated/ReserveTransfer.json'),
  terms: async ({ token, request_max }, place) => {
    const currency = token ?? place.token
    return [currency, await place.unitsOf(currency, request_max, 'request_max')]
  },
})
