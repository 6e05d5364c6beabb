/** Hexadecimal as JSON-RPC writes it: `0x`, lower case. */
export type Hex = `0x${string}`

export const bytesToHex = (bytes: Uint8Array): Hex =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`

/** @param hex with or without `0x`; an even number of hexadecimal digits */
export const hexToBytes = (hex: string): Uint8Array => {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw new RangeError('not hexadecimal')
  }
  return new Uint8Array(Buffer.from(digits, 'hex'))
}

/** A word of 32 bytes, which is what a contract answers for a number, has as many characters. */
export const wordLength = 66

/** A JSON-RPC quantity: no leading zeros. */
export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
