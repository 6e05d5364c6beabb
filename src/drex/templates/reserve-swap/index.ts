import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { defineTemplate } from '../template.ts'

/** An exchange of retail money between two institutions that the receiver has to accept. */
export const template = defineTemplate({
  params: z.strictObject({
    /** Wholesale currency; the network's own if absent. */
    token: addressSchema.optional(),
    authority: addressSchema.optional(),
    admin: addressSchema.optional(),
  }),
  artifact: () => import('./generated/ReserveSwap.json'),
  terms: ({ token, authority, admin }, place) => [
    admin ?? place.deployer,
    authority ?? admin ?? place.deployer,
    token ?? place.token,
  ],
})
