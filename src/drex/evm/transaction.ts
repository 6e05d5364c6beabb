/**
 * Transactions as they are signed and sent: legacy with replay protection (EIP-155) and fee market
 * (EIP-1559). This is the hot path of a transfer, so it uses only RLP and Keccak.
 */

import { bytesToHex, type Hex, hexToBytes } from './hex.ts'
import { keccak256 } from './keccak.ts'
import { type RlpItem, rlpEncode, rlpInteger } from './rlp.ts'

export type Fees =
  | { readonly kind: 'legacy'; readonly gasPrice: bigint }
  | {
      readonly kind: 'eip1559'
      readonly maxFeePerGas: bigint
      readonly maxPriorityFeePerGas: bigint
    }

export type UnsignedTransaction = {
  readonly chainId: number
  readonly nonce: number
  readonly gasLimit: bigint
  readonly fees: Fees
  /** Undefined creates a contract. */
  readonly to: Hex | undefined
  /** Native coin in wei. */
  readonly value: bigint
  readonly data: Hex
}

/** An ECDSA signature over secp256k1 with its recovery bit; `s` is in the lower half. */
export type Signature = {
  /** 32 bytes r, 32 bytes s. */
  readonly compact: Uint8Array
  readonly yParity: 0 | 1
}

export type SignedTransaction = { readonly raw: Hex; readonly hash: Hex }

const feeMarketType = 2
const empty = new Uint8Array(0)

/** The 32 bytes a signature covers. */
export const signingDigest = (transaction: UnsignedTransaction): Uint8Array => {
  const fields = baseFields(transaction)
  if (transaction.fees.kind === 'eip1559') return keccak256(typed(fields))
  return keccak256(rlpEncode([...fields, rlpInteger(transaction.chainId), empty, empty]))
}

/** Puts a signature to a transaction. @returns the bytes for the node, and their hash */
export const assemble = (
  transaction: UnsignedTransaction,
  signature: Signature,
): SignedTransaction => {
  const r = withoutLeadingZeros(signature.compact.subarray(0, 32))
  const s = withoutLeadingZeros(signature.compact.subarray(32))
  const fields = baseFields(transaction)
  const raw =
    transaction.fees.kind === 'eip1559'
      ? typed([...fields, rlpInteger(signature.yParity), r, s])
      : rlpEncode([...fields, rlpInteger(transaction.chainId * 2 + 35 + signature.yParity), r, s])
  return { raw: bytesToHex(raw), hash: bytesToHex(keccak256(raw)) }
}

/** The address of the contract that `sender` creates with `nonce`. */
export const createdAddress = (sender: Hex, nonce: number): Hex => {
  const hash = keccak256(rlpEncode([hexToBytes(sender), rlpInteger(nonce)]))
  return bytesToHex(hash.subarray(12))
}

const baseFields = (transaction: UnsignedTransaction): RlpItem[] => {
  const to = transaction.to === undefined ? empty : hexToBytes(transaction.to)
  const tail = [rlpInteger(transaction.value), hexToBytes(transaction.data)]
  const { fees } = transaction
  if (fees.kind === 'legacy') {
    return [
      rlpInteger(transaction.nonce),
      rlpInteger(fees.gasPrice),
      rlpInteger(transaction.gasLimit),
      to,
      ...tail,
    ]
  }
  return [
    rlpInteger(transaction.chainId),
    rlpInteger(transaction.nonce),
    rlpInteger(fees.maxPriorityFeePerGas),
    rlpInteger(fees.maxFeePerGas),
    rlpInteger(transaction.gasLimit),
    to,
    ...tail,
    [],
  ]
}

const typed = (fields: readonly RlpItem[]): Uint8Array => {
  const body = rlpEncode(fields)
  const out = new Uint8Array(body.length + 1)
  out[0] = feeMarketType
  out.set(body, 1)
  return out
}

const withoutLeadingZeros = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < bytes.length && bytes[start] === 0) start++
  return bytes.subarray(start)
}
