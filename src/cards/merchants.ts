import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { jsonOnce } from '#src/platform/http/index.ts'
import type { MerchantProfile } from './content/index.ts'

/** What networks want to know of merchants, by `merchant_id`. */
export type Merchants = ReadonlyMap<string, MerchantProfile>

const merchantsMax = 100_000

/** Networks take no accents in names. */
const plain = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x20-\x7e]+$/, 'printable ASCII, without accents')

const merchantForm = z.strictObject({
  merchant_id: plain(15),
  category: z.string().regex(/^\d{4}$/, 'four digits'),
  name: plain(25),
  city: plain(13),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'two letters')
    .default('BR'),
  postal_code: z
    .string()
    .regex(/^\d{1,10}$/, 'digits')
    .optional(),
})

const fileForm = z.array(merchantForm).max(merchantsMax)

/** A merchants file that cannot be used. */
export class MerchantsFileError extends Error {
  override readonly name = 'MerchantsFileError'
}

/**
 * The merchants that a file describes; none without a file.
 *
 * @throws MerchantsFileError that names the file and what is wrong in it
 */
export const readMerchants = (path: string | undefined): Merchants => {
  if (path === undefined) return new Map()
  try {
    const merchants = new Map<string, MerchantProfile>()
    for (const given of fileForm.parse(jsonOnce(readFileSync(path, 'utf8')))) {
      const { merchant_id: merchantId, postal_code: postalCode, ...rest } = given
      if (merchants.has(merchantId)) throw new Error(`merchant ${merchantId} is there twice`)
      merchants.set(merchantId, { merchantId, postalCode, ...rest })
    }
    return merchants
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new MerchantsFileError(`merchants file ${path}: ${reason}`)
  }
}
