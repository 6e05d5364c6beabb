/**
 * ECDSA over secp256k1: libsecp256k1 through its prebuilt Node-API module if there is one, `@noble/curves` otherwise.
 * Both take their nonces from RFC 6979, so their output is identical.
 */

import { randomFillSync } from 'node:crypto'
import { bytesToHex, type Hex } from './hex.ts'
import { keccak256 } from './keccak.ts'
import type { Signature } from './transaction.ts'

type Curve = typeof import('@noble/curves/secp256k1.js').secp256k1
let curve: Curve | undefined

/** Loaded on first use, because a start with the native module does not need it. */
const noble = (): Curve => {
  curve ??= (require('@noble/curves/secp256k1.js') as { readonly secp256k1: Curve }).secp256k1
  return curve
}

export type EcdsaBackend = {
  readonly name: 'native' | 'noble'
  /** @param digest 32 bytes @param key 32 bytes */
  readonly sign: (digest: Uint8Array, key: Uint8Array) => Signature
  /** @returns the public key, uncompressed */
  readonly publicKeyOf: (key: Uint8Array) => Uint8Array
}

export const nobleBackend: EcdsaBackend = {
  name: 'noble',
  sign(digest, key) {
    const signature = noble().sign(digest, key, { prehash: false, format: 'recovered' })
    return { yParity: parity(signature[0]!), compact: signature.subarray(1) }
  },
  publicKeyOf: (key) => noble().getPublicKey(key, false),
}

type NativeModule = {
  readonly Secp256k1: new () => {
    /** @returns 0 when signed */
    ecdsaSign(
      out: { signature: Uint8Array; recid: number | null },
      digest: Uint8Array,
      key: Uint8Array,
      data: undefined,
      nonce: undefined,
    ): number
    /** @returns 0 when made; as long as `out` says: 33 or 65 bytes */
    publicKeyCreate(out: Uint8Array, key: Uint8Array): number
  }
}

/** @returns undefined if no prebuilt module loads */
export const loadNativeBackend = (): EcdsaBackend | undefined => {
  const native = loadNativeModule()
  if (native === undefined) return undefined
  const context = new native.Secp256k1()
  return {
    name: 'native',
    sign(digest, key) {
      if (digest.length !== 32 || key.length !== 32) throw new RangeError('32 bytes each')
      const out = { signature: new Uint8Array(64), recid: null as number | null }
      if (context.ecdsaSign(out, digest, key, undefined, undefined) !== 0 || out.recid === null) {
        throw new Error('signing failed')
      }
      return { compact: out.signature, yParity: parity(out.recid) }
    },
    publicKeyOf(key) {
      if (key.length !== keyBytes) throw new RangeError('a key has 32 bytes')
      const out = new Uint8Array(65)
      if (context.publicKeyCreate(out, key) !== 0) throw new Error('not a private key')
      return out
    },
  }
}

/** The paths are literals so that the compiled executable carries the module. */
const loadNativeModule = (): NativeModule | undefined => {
  try {
    switch (`${process.platform}-${process.arch}`) {
      case 'linux-x64':
        return require('secp256k1/prebuilds/linux-x64/secp256k1.glibc.node') as NativeModule
      case 'darwin-arm64':
        return require('secp256k1/prebuilds/darwin-arm64/secp256k1.node') as NativeModule
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}

let chosen: EcdsaBackend | undefined

/** The fastest available backend, loaded on first use. */
export const ecdsaBackend = (): EcdsaBackend => {
  chosen ??= loadNativeBackend() ?? nobleBackend
  return chosen
}

export const sign = (digest: Uint8Array, key: Uint8Array): Signature =>
  ecdsaBackend().sign(digest, key)

/**
 * A fresh private key, uniform over the group's order. It has memory of its own, so that whoever wipes it wipes all of
 * it: what native code is handed of the runtime's shared memory is copied first, and the copy stays.
 */
export const randomPrivateKey = (): Uint8Array => {
  const key = new Uint8Array(new ArrayBuffer(keyBytes))
  // `crypto.getRandomValues` keeps what it gave in a pool of its own.
  do randomFillSync(key)
  while (!isPrivateKey(key))
  return key
}

/** Above zero and below the group's order: told without a number, which could not be wiped, in one time for all keys. */
const isPrivateKey = (key: Uint8Array): boolean => {
  let bits = 0
  let borrow = 0
  for (let at = keyBytes - 1; at >= 0; at--) {
    const byte = key[at] ?? 0
    bits |= byte
    borrow = (byte - (orderBytes[at] ?? 0) - borrow) >>> 31
  }
  return bits !== 0 && borrow === 1
}

export const addressOfPrivateKey = (key: Uint8Array): Hex =>
  addressOf(ecdsaBackend().publicKeyOf(key))

/** @param publicKey uncompressed */
const addressOf = (publicKey: Uint8Array): Hex =>
  bytesToHex(keccak256(publicKey.subarray(1)).subarray(12))

/** @param publicKey compressed or not */
export const addressOfPublicKey = (publicKey: Uint8Array): Hex => {
  const point = noble().Point.fromBytes(publicKey)
  return addressOf(point.toBytes(false))
}

/** The address that made the signature. */
export const recoverAddress = (digest: Uint8Array, signature: Signature): Hex => {
  const recovered = new Uint8Array(65)
  recovered[0] = signature.yParity
  recovered.set(signature.compact, 1)
  return addressOfPublicKey(noble().recoverPublicKey(recovered, digest, { prehash: false }))
}

/** The group's order (SEC 2, section 2.4.1). */
export const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const orderBytes = Buffer.from(curveOrder.toString(16), 'hex')
const keyBytes = 32

const parity = (recovery: number): 0 | 1 => {
  // 2 and 3 need an r beyond the order, which never occurs in practice.
  if (recovery !== 0 && recovery !== 1) throw new Error('recovery bit out of range')
  return recovery
}
