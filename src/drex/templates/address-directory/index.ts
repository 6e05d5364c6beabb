import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { defineTemplate } from '../template.ts'

/** Where a network’s contracts are, by their names. */
export const template = defineTemplate({
  params: z.strictObject({ authority: addressSchema.optional() }),
  artifact: () => import('./generated/AddressDirectory.json'),
  terms: ({ authority }, place) => [authority ?? place.deployer],
})
