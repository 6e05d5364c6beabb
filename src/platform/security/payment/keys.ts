import { secretsMatch } from '../constant-time.ts'
import { aesBlockBytes, desBlockBytes, desCbc, desEcb } from './ciphers.ts'
import { aesCmac } from './mac.ts'

/** A key that came from elsewhere and is not what it should be. Says nothing of its value. */
export class KeyRefusedError extends Error {
  override readonly name = 'KeyRefusedError'
}

const desCheckBytes = 3
const aesCheckBytes = 5

/**
 * Tells keys apart without showing them: the first bytes of zeros under the key. Of DES three (ANSI X9.24), of AES five
 * of its CMAC.
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
 * @throws KeyRefusedError when its length or parity shows that it is no key, or was under another one
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

const headerBytes = 16
const derivedBytes = 16

/** The key-derivation of ANSI X9.143 for key blocks of version B, two-key triple DES. */
const derived = (protection: Uint8Array, usage: 0 | 1): Uint8Array => {
  const out = new Uint8Array(derivedBytes)
  for (const counter of [1, 2]) {
    const input = Uint8Array.of(counter, 0, usage, 0, 0, 0, 0, derivedBytes * 8)
    out.set(desCmac(protection, input), (counter - 1) * desBlockBytes)
  }
  return out
}

/** CMAC over triple DES, of whole blocks. */
const desCmac = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const zero = desEcb(key, new Uint8Array(desBlockBytes), 'encrypt')
  const once = new Uint8Array(desBlockBytes)
  for (let at = 0; at < desBlockBytes; at++)
    once[at] = (zero[at]! << 1) | ((zero[at + 1] ?? 0) >> 7)
  if (zero[0]! > 0x7f) once[desBlockBytes - 1]! ^= 0x1b
  const blocks = data.slice()
  for (let at = 1; at <= desBlockBytes; at++)
    blocks[blocks.length - at]! ^= once[desBlockBytes - at]!
  return desCbc(key, blocks).slice(-desBlockBytes)
}

/**
 * Opens a TR-31 key block of version B without optional blocks.
 *
 * @param usage the two letters of what the key may be used for: `P0` PIN blocks, `M3` retail MACs
 * @throws KeyRefusedError
 */
export const unwrapKeyBlock = (
  protection: Uint8Array,
  block: string,
  usages: readonly string[],
): Uint8Array => {
  const form = /^B(\d{4})([A-Z]\d)T[A-Z]\d{2}[A-Z]00\d\d((?:[0-9A-F]{16}){3,6})$/.exec(block)
  const [, length, usage = '', hex = ''] = form ?? []
  if (Number(length) !== block.length) throw new KeyRefusedError('no key block of version B')
  if (!usages.includes(usage)) throw new KeyRefusedError(`its usage is ${usage}`)
  const bytes = Buffer.from(hex, 'hex')
  const mac = bytes.subarray(-desBlockBytes)
  const sealed = bytes.subarray(0, -desBlockBytes)
  const clear = desCbc(derived(protection, 0), sealed, 'decrypt', mac)
  try {
    const header = Buffer.from(block.slice(0, headerBytes), 'latin1')
    const wanted = desCmac(derived(protection, 1), Buffer.concat([header, clear]))
    if (!secretsMatch(wanted, mac)) throw new KeyRefusedError('its MAC is wrong')
    const size = ((clear[0]! << 8) | clear[1]!) / 8
    if (![8, 16, 24].includes(size)) throw new KeyRefusedError('8, 16 or 24 bytes')
    return clear.slice(2, 2 + size)
  } finally {
    clear.fill(0)
  }
}
