import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { name, symbol } from '../fields.ts'
import { defineTemplate } from '../template.ts'

/** An ERC-20 with authorised accounts, frozen balances and two decimals. */
export const template = defineTemplate({
  params: z.strictObject({ name, symbol, admin: addressSchema.optional() }),
  artifact: () => import('./generated/Currency.json'),
  terms: (params, place) => [params.name, params.symbol, params.admin ?? place.deployer],
})
