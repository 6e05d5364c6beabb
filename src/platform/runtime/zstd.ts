/** Faster than gzip's lowest level, and smaller. */
const level = 1

/** The compressed form of arrays that were packed or unpacked before: a message is kept in more places than one. */
const known = new WeakMap<Uint8Array, Uint8Array>()

/**
 * Compresses bytes that nobody changes any more, one array once.
 *
 * @example zstdDecompressed(zstdCompressed(bytes)) // equal to `bytes`
 */
export const zstdCompressed = (bytes: Uint8Array): Uint8Array => {
  const before = known.get(bytes)
  if (before !== undefined) return before
  const compressed = Bun.zstdCompressSync(bytes, { level })
  known.set(bytes, compressed)
  return compressed
}

/**
 * The bytes that {@link zstdCompressed} was given; compressing the result again costs nothing.
 *
 * @throws Error if that is not what they are
 */
export const zstdDecompressed = (compressed: Uint8Array): Uint8Array => {
  const bytes = Bun.zstdDecompressSync(compressed)
  known.set(bytes, compressed)
  return bytes
}
