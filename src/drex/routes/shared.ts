/** What the routes of digital currency share. */
import { z } from 'zod'
import { jsonMembers, pageQuery } from '#src/platform/http/index.ts'
import { networkIds } from '../config.ts'
import { addressSchema } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'

const listMax = 200
const listDefault = 50
const metadataBytesMax = 4_096

export { addressSchema }

export const networkSchema = z.enum(networkIds)
export const networkQuery = z.strictObject({ network: networkSchema.optional() })

export const metadataSchema = jsonMembers(64).refine(
  (value) => Buffer.byteLength(JSON.stringify(value)) <= metadataBytesMax,
  `must be at most ${metadataBytesMax} bytes of JSON`,
)

export const transactionHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes in hexadecimal')
  .transform((hash) => hash.toLowerCase() as Hex)

/** Responses abbreviate the addresses of transfers, unless they are asked not to. */
export const fullAddresses = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')
  .meta({ description: 'Addresses in full instead of `0x1234…abcd`' })

/**
 * Where "Try it out" takes wallets from, for the members of a body under `at`: the document knows none, the last
 * transfer names two.
 */
export const walletsFrom = (at: string, from: string, to: string) => ({
  [`${at}/${from}`]: 'listTransfers?status=confirmed&full_addresses=true#/transfers/0/from_wallet',
  [`${at}/${to}`]: 'listTransfers?status=confirmed&full_addresses=true#/transfers/0/to_wallet',
})

export const anyWallet = { id: 'listWallets#/wallets/0/wallet_id' }
export const anyContract = { address: 'listContracts#/contracts/0/address' }

export const pageSchema = pageQuery(/^[a-z]{3}_[0-9a-f]{32}$/, listMax, listDefault)
export const pageOnly = z.strictObject(pageSchema)
