import { aesBlockBytes, desBlockBytes, desEcb } from './ciphers.ts'
import { aesCmac } from './mac.ts'

/** A key from elsewhere is not what it should be. The error says nothing of its value. */
export class KeyRefusedError extends Error {
  override readonly name = 'KeyRefusedError'
}

const desCheckBytes = 3
const aesCheckBytes = 5

/**
 * Tells keys apart without showing them: the first bytes of zeros under the key. DES gives three (ANSI X9.24), and AES
 * five of its CMAC.
 */
export const checkValueOf = (cipher: 'des' | 'aes', key: Uint8Array): Uint8Array =>
  cipher === 'des'
    ? desEcb(key, new Uint8Array(desBlockBytes), 'encrypt').slice(0, desCheckBytes)
    : aesCmac(key, new Uint8Array(aesBlockBytes)).slice(0, aesCheckBytes)

const isOdd = (byte: number): boolean => {
  let bits = byte
  bits ^= bits >> 4
  bits ^= bits >> 2
  bits ^= bits >> 1
  return (bits & 1) === 1
}

/**
 * Opens a key of DES that lies under another one, each block by itself (ANSI X9.17).
 *
 * @throws KeyRefusedError when its length or parity shows that it is no key, or was wrapped under another one
 */
export const unwrapDesKey = (under: Uint8Array, wrapped: Uint8Array): Uint8Array => {
  if (![8, 16, 24].includes(wrapped.length)) throw new KeyRefusedError('8, 16 or 24 bytes')
  const key = desEcb(under, wrapped, 'decrypt')
  if (key.every(isOdd)) return key
  key.fill(0)
  throw new KeyRefusedError('its parity is wrong')
}

/** A DES key from random bytes: each with its parity bit. */
export const withParity = (random: Uint8Array): Uint8Array =>
  random.map((byte) => (isOdd(byte) ? byte : byte ^ 1))

/** Puts a key of DES under another one, each block by itself. */
export const wrapDesKey = (under: Uint8Array, key: Uint8Array): Uint8Array =>
  desEcb(under, key, 'encrypt')
