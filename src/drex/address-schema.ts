import { z } from 'zod'
import { parseAddress } from './evm/address.ts'
import type { Hex } from './evm/hex.ts'

/** An address in a request; it is handed on in lower case. */
export const addressSchema = z.string().transform((value, context): Hex => {
  const parsed = parseAddress(value)
  if (typeof parsed !== 'string') return parsed.address
  const message =
    parsed === 'form' ? 'must be 0x and 40 hexadecimal digits' : 'has a wrong checksum'
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})
