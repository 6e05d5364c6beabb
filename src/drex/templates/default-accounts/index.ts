import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { defineTemplate } from '../template.ts'

/** The wallet at which each institution takes wholesale currency. */
export const template = defineTemplate({
  params: z.strictObject({
    /** Asked whether it admits a wallet; the network's currency if absent. */
    token: addressSchema.optional(),
    authority: addressSchema.optional(),
    admin: addressSchema.optional(),
  }),
  artifact: () => import('./generated/DefaultAccounts.json'),
  terms: ({ token, authority, admin }, place) => [
    token ?? place.token,
    authority ?? place.deployer,
    admin ?? authority ?? place.deployer,
  ],
})
