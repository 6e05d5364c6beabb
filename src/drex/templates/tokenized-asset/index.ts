import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { addressSchema } from '../../evm/address.ts'
import { decimals, hash, name, quantity, requireScalable, scaled, symbol } from '../fields.ts'
import { defineTemplate } from '../template.ts'

const params = z
  .strictObject({
    name,
    symbol,
    total_supply: quantity,
    decimals,
    cap: quantity.optional(),
    owner: addressSchema.optional(),
    allowlisted: z.boolean().default(false),
    metadata_uri: text(500, { charactersMin: 0 }).default(''),
    metadata_hash: hash,
  })
  .superRefine(requireScalable('total_supply', 'cap'))

/** An ERC-20 of an asset, with an optional cap and allowlist. */
export const template = defineTemplate({
  params,
  artifact: () => import('./generated/TokenizedAsset.json'),
  terms: (params, place) => [
    {
      name: params.name,
      symbol: params.symbol,
      decimals: params.decimals,
      initialSupply: scaled(params.total_supply, params.decimals),
      cap: params.cap === undefined ? 0n : scaled(params.cap, params.decimals),
      owner: params.owner ?? place.deployer,
      allowlisted: params.allowlisted,
      metadataUri: params.metadata_uri,
      metadataHash: params.metadata_hash,
    },
  ],
})
