import { createCipheriv, createDecipheriv } from 'node:crypto'

export const desBlockBytes = 8
export const aesBlockBytes = 16

type Direction = 'encrypt' | 'decrypt'

const run = (
  cipher: string,
  key: Uint8Array,
  iv: Uint8Array | null,
  data: Uint8Array,
  direction: Direction,
): Uint8Array => {
  const one =
    direction === 'encrypt' ? createCipheriv(cipher, key, iv) : createDecipheriv(cipher, key, iv)
  one.setAutoPadding(false)
  const { buffer, byteOffset, length } = Buffer.concat([one.update(data), one.final()])
  // No Buffer: a slice of that would share its bytes with what is wiped.
  return new Uint8Array(buffer, byteOffset, length)
}

const zeroBlock = new Uint8Array(aesBlockBytes)

/** The three keys of triple DES; of single DES three times the same. @throws Error */
const tripleOf = (key: Uint8Array): Uint8Array => {
  if (key.length === 8) return Buffer.concat([key, key, key])
  if (key.length === 16) return Buffer.concat([key, key.subarray(0, 8)])
  if (key.length === 24) return key
  throw new Error('a DES key has 8, 16 or 24 bytes')
}

/** Encrypts or decrypts each block by itself. @throws Error for a key or data of another length */
export const desEcb = (key: Uint8Array, data: Uint8Array, direction: Direction): Uint8Array =>
  run('des-ede3', tripleOf(key), null, data, direction)

/** Cipher block chaining from a first vector of zeros. @throws Error for a key or data of another length */
export const desCbc = (key: Uint8Array, data: Uint8Array): Uint8Array =>
  run('des-ede3-cbc', tripleOf(key), zeroBlock.subarray(0, desBlockBytes), data, 'encrypt')

const aesName = (key: Uint8Array, mode: 'cbc' | 'ecb'): string => {
  if (key.length !== 16 && key.length !== 24 && key.length !== 32) {
    throw new Error('an AES key has 16, 24 or 32 bytes')
  }
  return `aes-${key.length * 8}-${mode}`
}

/** Cipher block chaining from a first vector of zeros. @throws Error for a key or data of another length */
export const aesCbc = (key: Uint8Array, data: Uint8Array): Uint8Array =>
  run(aesName(key, 'cbc'), key, zeroBlock, data, 'encrypt')

/** Encrypts or decrypts each block by itself. @throws Error for a key or data of another length */
export const aesEcb = (key: Uint8Array, data: Uint8Array, direction: Direction): Uint8Array =>
  run(aesName(key, 'ecb'), key, null, data, direction)

/** Bit by bit, of two of the same length. */
export const xor = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  left.map((byte, at) => byte ^ right[at]!)
