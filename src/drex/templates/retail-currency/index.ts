import { z } from 'zod'
import { addressSchema } from '../../evm/address.ts'
import { cnpj8, name, symbol } from '../fields.ts'
import { defineTemplate } from '../template.ts'

/** One institution's retail money. */
export const template = defineTemplate({
  params: z.strictObject({
    name,
    symbol,
    participant: name,
    cnpj8,
    /** Holds the institution's wholesale money. */
    reserve: addressSchema,
    admin: addressSchema.optional(),
  }),
  artifact: () => import('./generated/RetailCurrency.json'),
  terms: (params, place) => [
    params.name,
    params.symbol,
    params.admin ?? place.deployer,
    params.participant,
    BigInt(params.cnpj8),
    params.reserve,
  ],
})
