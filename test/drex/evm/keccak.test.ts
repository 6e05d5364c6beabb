import { describe, expect, test } from 'bun:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { keccak256 as ethersKeccak } from 'ethers'
import { keccak256 } from '../../../src/drex/evm/keccak.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('Keccak-256', () => {
  test('the hash of nothing, as the Yellow Paper has it', () => {
    expect(hex(keccak256(new Uint8Array(0)))).toBe(
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
  })

  test('is that of noble and ethers for every length around the block of 136 bytes', () => {
    for (let length = 0; length <= 3 * 136 + 1; length++) {
      const input = Uint8Array.from({ length }, (_, i) => (i * 167 + length * 31) & 0xff)
      const ours = hex(keccak256(input))
      expect(ours).toBe(hex(keccak_256(input)))
      expect(`0x${ours}`).toBe(ethersKeccak(input))
    }
  })

  test('a hash does not change when the next is made, nor does what was hashed', () => {
    const input = Uint8Array.of(1, 2, 3)
    const first = keccak256(input)
    const kept = hex(first)
    keccak256(Uint8Array.of(9))
    expect(hex(first)).toBe(kept)
    expect([...input]).toEqual([1, 2, 3])
    expect(hex(keccak256(Buffer.from([0, 1, 2, 3]).subarray(1)))).toBe(kept)
  })
})
