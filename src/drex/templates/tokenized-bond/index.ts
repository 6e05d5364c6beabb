import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { addressSchema } from '../../evm/address.ts'
import { defineTemplate } from '../template.ts'

/** Federal bonds, a kind of token for each. */
export const template = defineTemplate({
  params: z.strictObject({
    authority: addressSchema.optional(),
    /** Where the bonds are described. */
    uri: text(200).default(''),
  }),
  artifact: () => import('./generated/TokenizedBond.json'),
  terms: ({ authority, uri }, place) => [authority ?? place.deployer, uri],
})
