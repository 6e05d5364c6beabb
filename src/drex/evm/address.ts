/** Account addresses: 20 bytes, kept in lower case, shown with the EIP-55 checksum. */

import { z } from 'zod'
import type { Hex } from './hex.ts'
import { keccak256 } from './keccak.ts'

export const zeroAddress: Hex = `0x${'00'.repeat(20)}`

const address = /^0x[0-9a-fA-F]{40}$/
const encoder = new TextEncoder()

export type AddressProblem = 'form' | 'checksum'

/**
 * Reads an address. Mixed case is a checksum and has to be right; a single case has no checksum.
 * @returns the address in lower case, or what is wrong with it
 */
export const parseAddress = (text: string): { readonly address: Hex } | AddressProblem => {
  if (!address.test(text)) return 'form'
  const digits = text.slice(2)
  const lower = digits.toLowerCase()
  const mixed = digits !== lower && digits !== digits.toUpperCase()
  if (mixed && checksumAddress(`0x${lower}`) !== text) return 'checksum'
  return { address: `0x${lower}` }
}

/** EIP-55. @param address in lower case */
export const checksumAddress = (address: Hex): string => {
  const digits = address.slice(2)
  const hash = keccak256(encoder.encode(digits))
  let out = '0x'
  for (let i = 0; i < 40; i++) {
    const byte = hash[i >> 1]!
    const nibble = i % 2 === 0 ? byte >> 4 : byte & 15
    out += nibble >= 8 ? digits[i]!.toUpperCase() : digits[i]
  }
  return out
}

export type AddressForm = (address: Hex) => string

/** As responses show a wallet: `0x1234…abcd`. */
export const abbreviateAddress = (address: string): string =>
  `${address.slice(0, 6)}…${address.slice(-4)}`

/** An address in a request, turned into lower case. */
export const addressSchema = z
  .string()
  .regex(address, { error: 'must be 0x and 40 hexadecimal digits', abort: true })
  .transform((value, context): Hex => {
    const parsed = parseAddress(value)
    if (typeof parsed !== 'string') return parsed.address
    const message = 'has a wrong checksum'
    context.addIssue({ code: 'custom', message, params: { rule: 'checksum' } })
    return z.NEVER
  })
  .meta({ description: 'Digits of both cases are a checksum (EIP-55), which must be right.' })
