/** Signers of wallets. Every signature is checked against the wallet's address. */
import type { Sealer } from '#src/platform/security/index.ts'
import { type Hex, hexToBytes } from '../evm/hex.ts'
import { curveOrder, recoverAddress, sign } from '../evm/secp256k1.ts'
import {
  assemble,
  type Signature,
  type SignedTransaction,
  signingDigest,
  type UnsignedTransaction,
} from '../evm/transaction.ts'
import type { KeyServiceName } from './key-service.ts'

export type Signer = {
  /** Signers of one kind share the number of requests that may run at once. */
  readonly kind: 'managed' | 'web3signer' | KeyServiceName
  /** May answer at once: the managed signer does. */
  readonly signTransaction: (
    transaction: UnsignedTransaction,
  ) => SignedTransaction | Promise<SignedTransaction>
  /** Signs what is no transaction. */
  readonly sign: (signable: Signable) => Signature | Promise<Signature>
}

export type Signable = {
  /** 32 bytes: of a message or of typed data. */
  readonly digest: Uint8Array
  /** The question for a signer that hashes by itself: the method, and what follows the address. */
  readonly remote: { readonly method: string; readonly argument: unknown }
}

/** Binds a sealed key to its wallet, so that it cannot be moved to another. */
export const sealContext = (walletId: string, address: Hex): string =>
  `drex_wallets/${walletId}/${address}`

/** A wallet's own key, opened for each signature and wiped after it. */
export const managedSigner = (sealer: Sealer, sealed: Uint8Array, context: string): Signer => {
  const signed = (digest: Uint8Array): Signature => {
    const key = sealer.open(sealed, context)
    try {
      return sign(digest, key)
    } finally {
      key.fill(0)
    }
  }
  return {
    kind: 'managed',
    signTransaction: (transaction) => assemble(transaction, signed(signingDigest(transaction))),
    sign: ({ digest }) => signed(digest),
  }
}

/**
 * Signs 32 bytes and answers ASN.1 DER, as key management services do. The recovery bit is found by trial against the
 * known address; a high `s` is turned to its low twin.
 */
export type DigestSigner = (digest: Uint8Array) => Promise<Uint8Array>

export const digestSigner = (
  kind: KeyServiceName,
  address: Hex,
  signDigest: DigestSigner,
): Signer => ({
  kind,
  async signTransaction(transaction) {
    const digest = signingDigest(transaction)
    const der = await signDigest(digest)
    return assemble(transaction, signatureFor(address, digest, der))
  },
  sign: async ({ digest }) => signatureFor(address, digest, await signDigest(digest)),
})

/** @throws Error if the DER is not one signature, or the signature is not by the address */
export const signatureFor = (address: Hex, digest: Uint8Array, der: Uint8Array): Signature => {
  const compact = compactLowS(der)
  for (const yParity of [0, 1] as const) {
    const candidate = { compact, yParity }
    if (recovers(address, digest, candidate)) return candidate
  }
  throw new Error('the signer signed with another key than the wallet’s')
}

/** @throws Error if the signature is not by the address */
export const requireSigned = (
  address: Hex,
  digest: Uint8Array,
  signature: Signature,
): Signature => {
  if (recovers(address, digest, signature)) return signature
  throw new Error('the signer signed with another key than the wallet’s, or something else')
}

const recovers = (address: Hex, digest: Uint8Array, signature: Signature): boolean => {
  try {
    return recoverAddress(digest, signature) === address
  } catch {
    // No point on the curve has this r with this parity.
    return false
  }
}

/** Reads `SEQUENCE { INTEGER r, INTEGER s }` strictly (X.690) and lowers `s` (EIP-2). */
export const compactLowS = (der: Uint8Array): Uint8Array => {
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || der.length > 72) {
    throw new Error('not a DER signature')
  }
  const r = readInteger(der, 2)
  const s = readInteger(der, r.next)
  if (s.next !== der.length) throw new Error('bytes after the DER signature')
  const low = s.value > curveOrder / 2n ? curveOrder - s.value : s.value
  const compact = new Uint8Array(64)
  compact.set(word(r.value), 0)
  compact.set(word(low), 32)
  return compact
}

const readInteger = (der: Uint8Array, at: number): { value: bigint; next: number } => {
  const length = der[at + 1] ?? 0
  const bytes = der.subarray(at + 2, at + 2 + length)
  const padded = bytes[0] === 0 && (bytes[1] ?? 0) < 0x80
  if (der[at] !== 0x02 || length === 0 || bytes.length !== length || bytes[0]! >= 0x80) {
    throw new Error('not a positive DER integer')
  }
  if (padded) throw new Error('a DER integer has a needless leading zero')
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  if (value >= curveOrder) throw new Error('a signature value is beyond the curve’s order')
  return { value, next: at + 2 + length }
}

const word = (value: bigint): Uint8Array => hexToBytes(value.toString(16).padStart(64, '0'))
