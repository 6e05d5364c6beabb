/** Enough for the canonical forms of nearly every message; longer ones get memory of their own. */
const scratchBytes = 131_072

/** Gives so many bytes, not cleared. */
export type Memory = { readonly bytes: (length: number) => Uint8Array }

/** New bytes each time, for what is kept. */
export const newMemory: Memory = { bytes: (length) => new Uint8Array(length) }

/**
 * Memory that verifications use one after the other. Digests and RSA take views of lasting memory faster than new
 * arrays, which they first have to move out of the garbage collector's reach.
 */
export class Scratch implements Memory {
  private readonly memory = new Uint8Array(scratchBytes)
  private used = 0
  private depth = 0

  /** Gives bytes that live until {@link run} ends. */
  bytes(length: number): Uint8Array {
    if (this.depth !== 1 || this.used + length > scratchBytes) return new Uint8Array(length)
    this.used += length
    return this.memory.subarray(this.used - length, this.used)
  }

  /**
   * Runs synchronous work that keeps no scratch bytes. A nested run gets separate memory, so that neither overwrites
   * bytes that the other still reads.
   */
  run<T>(work: () => T): T {
    this.depth++
    if (this.depth === 1) this.used = 0
    try {
      return work()
    } finally {
      this.depth--
    }
  }
}

const encoder = new TextEncoder()

/**
 * Joins a head and two ranges of the bytes.
 *
 * @param head - ASCII
 * @param ranges - both ends of the first range, then of the second, which lies behind it or is empty
 */
export const joined = (
  bytes: Uint8Array,
  head: string,
  [from, cutFrom, cutTo, to]: readonly [number, number, number, number],
  memory: Memory,
): Uint8Array => {
  const out = memory.bytes(head.length + (cutFrom - from) + (to - cutTo))
  encoder.encodeInto(head, out)
  out.set(bytes.subarray(from, cutFrom), head.length)
  if (cutTo < to) out.set(bytes.subarray(cutTo, to), out.length - (to - cutTo))
  return out
}
