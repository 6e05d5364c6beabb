import { createKeccak } from 'hash-wasm'

const hasher = await createKeccak(256)

/**
 * Keccak-256 as Ethereum has it (padding of the submission, not of FIPS 202). Every address, signature and proof of a
 * block takes several, and lanes of 64 bits are slow in JavaScript: this is WebAssembly, four times as fast.
 */
export const keccak256 = (input: Uint8Array): Uint8Array =>
  hasher.init().update(input).digest('binary')
