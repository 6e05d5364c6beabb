/** The filter in a block's header: whether a log of an address or topic may be in the block. */

import { type Hex, hexToBytes } from './hex.ts'
import { keccak256 } from './keccak.ts'

const bits = 2048

/** The three bits that a value sets, by the Yellow Paper, 4.3.1. @param value an address or a topic */
export const bloomBits = (value: Hex): readonly number[] => {
  const hash = keccak256(hexToBytes(value))
  return [0, 2, 4].map((at) => ((hash[at]! << 8) | hash[at + 1]!) % bits)
}

/** @returns false only if no log of the block is of any of the values */
export const mayHold = (bloom: Hex, values: readonly (readonly number[])[]): boolean => {
  const has = (bit: number): boolean => {
    const byte = bits / 8 - 1 - (bit >> 3)
    const at = 2 + byte * 2
    return (Number.parseInt(bloom.slice(at, at + 2), 16) & (1 << (bit & 7))) !== 0
  }
  return values.some((each) => each.every(has))
}
