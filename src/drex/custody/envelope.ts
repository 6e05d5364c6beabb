/**
 * How a wallet's private key is kept: sealed with a data key of its own, which is itself sealed
 * with the master key. Both seals are AES-256-GCM with a random 96-bit nonce and are bound to the
 * wallet, so that no sealed key can be put in another's place. Rotation reseals data keys only.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export type MasterKey = {
  /** First 16 hexadecimal digits of the key's SHA-256; names the key without telling it. */
  readonly id: string
  readonly bytes: Uint8Array
}

export type SealedKey = {
  readonly masterKeyId: string
  /** nonce ‖ ciphertext ‖ tag of the data key under the master key. */
  readonly dataKey: Uint8Array
  /** nonce ‖ ciphertext ‖ tag of the private key under the data key. */
  readonly privateKey: Uint8Array
}

/** @param text 32 bytes in base64, base64url or hexadecimal @throws Error that never quotes it */
export function readMasterKey(text: string): MasterKey {
  const trimmed = text.trim()
  const bytes = /^[0-9a-fA-F]{64}$/.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : Buffer.from(trimmed, 'base64')
  if (bytes.length !== KEY_BYTES) throw new Error('is not 32 bytes in base64 or hexadecimal')
  if (bytes.every((byte) => byte === bytes[0])) throw new Error('is one byte repeated')
  const id = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return { id, bytes: new Uint8Array(bytes) }
}

/** @param owner what the seal is bound to: wallet id and address */
export function sealKey(privateKey: Uint8Array, owner: string, master: MasterKey): SealedKey {
  const dataKey = randomBytes(KEY_BYTES)
  try {
    return {
      masterKeyId: master.id,
      dataKey: seal(dataKey, master.bytes, dataKeyContext(owner, master)),
      privateKey: seal(privateKey, dataKey, keyContext(owner)),
    }
  } finally {
    dataKey.fill(0)
  }
}

/**
 * Opens a sealed key for as long as `use` runs, then wipes it.
 * @throws Error when the master key is another, or anything was altered
 */
export function withOpenedKey<T>(
  sealed: SealedKey,
  owner: string,
  masters: readonly MasterKey[],
  use: (privateKey: Uint8Array) => T,
): T {
  const dataKey = openDataKey(sealed, owner, masters)
  try {
    const privateKey = open(sealed.privateKey, dataKey, keyContext(owner))
    try {
      return use(privateKey)
    } finally {
      privateKey.fill(0)
    }
  } finally {
    dataKey.fill(0)
  }
}

/** Seals the data key with another master key; the sealed private key stays as it is. */
export function reseal(
  sealed: SealedKey,
  owner: string,
  masters: readonly MasterKey[],
  next: MasterKey,
): SealedKey {
  const dataKey = openDataKey(sealed, owner, masters)
  try {
    return {
      masterKeyId: next.id,
      dataKey: seal(dataKey, next.bytes, dataKeyContext(owner, next)),
      privateKey: sealed.privateKey,
    }
  } finally {
    dataKey.fill(0)
  }
}

function openDataKey(sealed: SealedKey, owner: string, masters: readonly MasterKey[]): Uint8Array {
  const master = masters.find((each) => each.id === sealed.masterKeyId)
  if (master === undefined) {
    throw new Error(`the wallet is sealed with master key ${sealed.masterKeyId}, which is not set`)
  }
  return open(sealed.dataKey, master.bytes, dataKeyContext(owner, master))
}

function dataKeyContext(owner: string, master: MasterKey): string {
  return `trilho/data-key/1|${owner}|${master.id}`
}

function keyContext(owner: string): string {
  return `trilho/wallet-key/1|${owner}`
}

function seal(plain: Uint8Array, key: Uint8Array, context: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(sealed: Uint8Array, key: Uint8Array, context: string): Uint8Array {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tag = sealed.subarray(sealed.length - TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag)
  const head = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES))
  decipher.final()
  return head
}
