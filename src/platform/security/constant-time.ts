import { timingSafeEqual } from 'node:crypto'

/**
 * Compares a secret, its hash or its code with what somebody sent. The time it takes tells at most whether the lengths
 * are alike, which are public everywhere. Texts are compared as UTF-8.
 */
export const secretsMatch = (one: Uint8Array | string, other: Uint8Array | string): boolean => {
  const [left, right] = [bytesOf(one), bytesOf(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const bytesOf = (value: Uint8Array | string): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value) : value
