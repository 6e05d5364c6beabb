/**
 * ECDSA over secp256k1: libsecp256k1 through its prebuilt Node-API module where there is one,
 * `@noble/curves` elsewhere. Both take their nonces from RFC 6979, so their output is identical.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, type Hex } from './hex.ts'
import type { Signature } from './transaction.ts'

export type EcdsaBackend = {
  readonly name: 'native' | 'noble'
  /** @param digest 32 bytes @param key 32 bytes */
  readonly sign: (digest: Uint8Array, key: Uint8Array) => Signature
}

export const nobleBackend: EcdsaBackend = {
  name: 'noble',
  sign(digest, key) {
    const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
    return { yParity: parity(signature[0]!), compact: signature.subarray(1) }
  },
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
  }
}

/** @returns undefined where no prebuilt module loads */
export function loadNativeBackend(): EcdsaBackend | undefined {
  const native = loadNativeModule()
  if (native === undefined) return undefined
  const curve = new native.Secp256k1()
  return {
    name: 'native',
    sign(digest, key) {
      if (digest.length !== 32 || key.length !== 32) throw new RangeError('32 bytes each')
      const out = { signature: new Uint8Array(64), recid: null as number | null }
      if (curve.ecdsaSign(out, digest, key, undefined, undefined) !== 0 || out.recid === null) {
        throw new Error('signing failed')
      }
      return { compact: out.signature, yParity: parity(out.recid) }
    },
  }
}

/** The paths are literals so that the compiled executable carries the module. */
function loadNativeModule(): NativeModule | undefined {
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

/** The fastest backend there is, loaded on first use. */
export function ecdsaBackend(): EcdsaBackend {
  chosen ??= loadNativeBackend() ?? nobleBackend
  return chosen
}

export function sign(digest: Uint8Array, key: Uint8Array): Signature {
  return ecdsaBackend().sign(digest, key)
}

/** A fresh private key, uniform over the group's order. */
export function randomPrivateKey(): Uint8Array {
  return secp256k1.utils.randomSecretKey()
}

export function addressOfPrivateKey(key: Uint8Array): Hex {
  return addressOfPublicKey(secp256k1.getPublicKey(key, false))
}

/** @param publicKey compressed or not */
export function addressOfPublicKey(publicKey: Uint8Array): Hex {
  const point = secp256k1.Point.fromBytes(publicKey)
  return bytesToHex(keccak_256(point.toBytes(false).subarray(1)).subarray(12))
}

/** Whose signature this is. */
export function recoverAddress(digest: Uint8Array, signature: Signature): Hex {
  const recovered = new Uint8Array(65)
  recovered[0] = signature.yParity
  recovered.set(signature.compact, 1)
  return addressOfPublicKey(secp256k1.recoverPublicKey(recovered, digest, { prehash: false }))
}

/** The group's order. */
export const CURVE_ORDER = secp256k1.Point.Fn.ORDER

function parity(recovery: number): 0 | 1 {
  // 2 and 3 need an r beyond the order: nobody will ever see one.
  if (recovery !== 0 && recovery !== 1) throw new Error('recovery bit out of range')
  return recovery
}
