import { type BoundedBody, readBounded } from './bounded-body.ts'

/** Told by the first bytes: a header that says "compressed" may be wrong. */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/**
 * The content of gzip, no further than `bytesMax`; anything else as it is.
 *
 * @throws Error where it is cut, or has bytes behind it
 */
export const unzipped = async (bytes: Uint8Array, bytesMax: number): Promise<BoundedBody> => {
  if (!isGzip(bytes)) return { bytes, isWhole: bytes.length <= bytesMax }
  const zipped = new Blob([new Uint8Array(bytes)]).stream()
  return readBounded(zipped.pipeThrough(new DecompressionStream('gzip')), bytesMax)
}

/**
 * Reads the answer to a request with `decompress: false` that accepts gzip: the limit holds for the bytes that came and
 * for those that come out of them. The runtime inflates an answer as a whole, and a few bytes may stand for gigabytes.
 *
 * @throws Error where it is no whole gzip
 * @example
 * const response = await fetch(url, { decompress: false, headers: { 'Accept-Encoding': 'gzip' } })
 * const { bytes, isWhole } = await readUnzipped(response.body, answerBytesMax)
 */
export const readUnzipped = async (
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
): Promise<BoundedBody> => {
  const read = await readBounded(body, bytesMax)
  return read.isWhole ? unzipped(read.bytes, bytesMax) : read
}
