import { aesBlockBytes, aesCbc, desBlockBytes, desCbc, desEcb, xor } from './ciphers.ts'

/**
 * Codes over messages of card networks: ANSI X9.9 (single DES), ANSI X9.19 (retail MAC) padded with zeros or with 80,
 * ISO 16609 (triple DES throughout), and AES-CMAC (NIST SP 800-38B).
 */
export const macAlgorithms = ['x9.9', 'x9.19', 'x9.19-80', '3des-cbc', 'aes-cmac'] as const
export type MacAlgorithm = (typeof macAlgorithms)[number]

/** The bytes of DE 64 and 128; of AES-CMAC, they hold the first ones. */
export const macBytes = 8

const keyLengths: Readonly<Record<MacAlgorithm, readonly number[]>> = {
  'x9.9': [8],
  'x9.19': [16],
  'x9.19-80': [16],
  '3des-cbc': [16, 24],
  'aes-cmac': [16, 24, 32],
}

/** Whether a key of so many bytes fits the algorithm. */
const isMacKeyLength = (algorithm: MacAlgorithm, bytes: number): boolean =>
  keyLengths[algorithm].includes(bytes)

/** ISO 9797-1 methods 1 (zeros, as few as are needed) and 2 (80, then zeros). */
const padded = (data: Uint8Array, marker: boolean, block: number): Uint8Array => {
  const bytes = Math.max(1, Math.ceil((data.length + (marker ? 1 : 0)) / block)) * block
  const out = new Uint8Array(bytes)
  out.set(data)
  if (marker) out[data.length] = 0x80
  return out
}

/** ISO 9797-1 algorithm 3: single DES, and triple DES for the last block. */
const retail = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const last = desCbc(key.subarray(0, 8), data).subarray(-desBlockBytes)
  const middle = desEcb(key.subarray(8), last, 'decrypt')
  return desEcb(key.subarray(0, 8), middle, 'encrypt')
}

/** Doubles the block in the field of the standard. */
const twice = (block: Uint8Array): Uint8Array => {
  const out = new Uint8Array(aesBlockBytes)
  for (let at = 0; at < aesBlockBytes; at++)
    out[at] = (block[at]! << 1) | ((block[at + 1] ?? 0) >> 7)
  if (block[0]! > 0x7f) out[aesBlockBytes - 1]! ^= 0x87
  return out
}

/** All 16 bytes. */
export const aesCmac = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const isWhole = data.length > 0 && data.length % aesBlockBytes === 0
  const once = twice(aesCbc(key, new Uint8Array(aesBlockBytes)))
  const blocks = padded(data, !isWhole, aesBlockBytes)
  const last = blocks.length - aesBlockBytes
  blocks.set(xor(blocks.subarray(last), isWhole ? once : twice(once)), last)
  return aesCbc(key, blocks).slice(-aesBlockBytes)
}

/**
 * The eight bytes of DE 64 or 128.
 *
 * @throws Error for a key that is none of the algorithm
 */
export const macOf = (algorithm: MacAlgorithm, key: Uint8Array, data: Uint8Array): Uint8Array => {
  if (!isMacKeyLength(algorithm, key.length)) {
    throw new Error(`a key of ${algorithm} has ${keyLengths[algorithm].join(' or ')} bytes`)
  }
  switch (algorithm) {
    case 'x9.9':
    case '3des-cbc':
      return desCbc(key, padded(data, false, desBlockBytes)).slice(-macBytes)
    case 'x9.19':
      return retail(key, padded(data, false, desBlockBytes))
    case 'x9.19-80':
      return retail(key, padded(data, true, desBlockBytes))
    case 'aes-cmac':
      return aesCmac(key, data).slice(0, macBytes)
  }
}
