/** Typed data (EIP-712) and messages (EIP-191): what is signed, and whether it lets somebody move money. */

import type { TypedDataField } from 'ethers'
import { ApiError, refusedValue } from '#src/platform/http/index.ts'
import { parseAddress } from '../evm/address.ts'
import { type Hex, hexToBytes } from '../evm/hex.ts'
import { keccak256 } from '../evm/keccak.ts'

export type TypedData = {
  readonly types: Readonly<Record<string, readonly TypedDataField[]>>
  readonly primaryType: string
  readonly domain: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
}

const domainType = 'EIP712Domain'
const depthMax = 32
const encoder = new TextEncoder()

const refuse = (place: string, message: string) =>
  refusedValue([{ pointer: `/typed_data/${place}`, rule: 'typed_data', message }])

/** The 32 bytes that a signature of a message covers. */
export const messageDigest = (message: Uint8Array): Uint8Array => {
  const head = encoder.encode(`\u0019Ethereum Signed Message:\n${message.length}`)
  return keccak256(Buffer.concat([head, message]))
}

type Encoded = {
  /** The 32 bytes that a signature covers. */
  readonly digest: Uint8Array
  /** The same for a signer that hashes by itself: JSON in which the type of the domain is declared. */
  readonly json: string
}

/** @throws ApiError `value_refused` if the parts do not fit together */
export const encodeTypedData = async (data: TypedData): Promise<Encoded> => {
  const { types, primaryType, domain, message } = data
  requireExact(message, 'message', 0)
  requireExact(domain, 'domain', 0)
  const { [domainType]: declared, ...own } = types
  const { TypedDataEncoder } = await import('ethers')
  const fields = Object.fromEntries(Object.entries(own).map(([name, list]) => [name, [...list]]))
  try {
    const derived = TypedDataEncoder.from(fields).primaryType
    if (derived !== primaryType) throw refuse('primaryType', `must be ${derived}`)
    // A verifier hashes only the declared fields of the domain, so no undeclared one may be there for show.
    const payload = TypedDataEncoder.getPayload(domain, fields, message)
    const told = payload.types
    const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
    if (declared !== undefined && !isSame(declared.map(namedType), told[domainType].map(namedType)))
      throw refuse(`types/${domainType}`, 'must be the fields of the domain, in the usual order')
    const digest = hexToBytes(TypedDataEncoder.hash(domain, fields, message))
    return { digest, json: JSON.stringify(payload) }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw refuse('message', 'does not fit the types')
  }
}

const namedType = ({ name, type }: TypedDataField) => [name, type]

/** A number beyond 2^53 has lost digits when it was read: it is text, or is not what the caller means. */
const requireExact = (value: unknown, place: string, depth: number): void => {
  if (depth > depthMax) throw refuse(place, 'is nested too deep')
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw refuse(place, 'must write large numbers as text')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, each] of Object.entries(value))
    requireExact(each, `${place}/${name}`, depth + 1)
}

/** @returns the chain that the domain binds the signature to; undefined if it binds to none */
export const domainChainId = ({ domain }: TypedData): bigint | undefined => {
  const { chainId } = domain
  const isNumber = typeof chainId === 'number' || typeof chainId === 'string'
  if (!isNumber || !/^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(String(chainId))) return undefined
  return BigInt(chainId)
}

/** @returns undefined if the domain names no contract */
export const verifyingContract = ({ domain }: TypedData): Hex | undefined => {
  const parsed = parseAddress(String(domain['verifyingContract']))
  return typeof parsed === 'string' ? undefined : parsed.address
}

/** Lets somebody take or move tokens, at whatever contract: EIP-2612, EIP-3009, Permit2, orders, calls for the signer. */
const movingTypes =
  /^(Permit.*|.*WithAuthorization|.*Order|OrderComponents|.*Transfer.*|.*Approv.*|.*Withdraw.*|SafeTx|.*Meta.?Transaction|ForwardRequest.*|.*Swap.*|Delegation|.*UserOperation|Execute.*|Batch.*)$/i

export const movesByName = ({ primaryType }: TypedData): boolean => movingTypes.test(primaryType)
