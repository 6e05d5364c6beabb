/** Enough for the canonical forms of nearly every message; longer ones get memory of their own. */
const scratchBytesLeast = 131_072

// Digests and RSA take views of one memory faster than arrays that were made a moment before: those
// they first have to move out of the collector's reach.
const memory = new Uint8Array(scratchBytesLeast)
let used = 0
let depth = 0

/**
 * So many bytes, not cleared: of the scratch memory within {@link withScratch}, where they live until
 * it ends, else new ones.
 */
export const scratchBytes = (length: number): Uint8Array => {
  if (depth !== 1 || used + length > scratchBytesLeast) return new Uint8Array(length)
  used += length
  return memory.subarray(used - length, used)
}

/**
 * Runs something synchronous that keeps nothing of its scratch bytes. A run inside another gets
 * memory of its own, so that neither writes over what the other still reads.
 */
export const withScratch = <T>(run: () => T): T => {
  depth++
  if (depth === 1) used = 0
  try {
    return run()
  } finally {
    depth--
  }
}
