/** The bytes that were read of a body: all, or the first ones if it is longer than it may be. */
export type BoundedBody = { readonly bytes: Uint8Array; readonly isWhole: boolean }

/** After so much of a long body, others have their turn: bytes that are there already come without a pause. */
const bytesPerTurn = 1024 * 1024

/**
 * Reads a body no further than `bytesMax`, whatever length its headers claim, and cancels the rest of a longer one.
 *
 * @example
 * const { bytes, isWhole } = await readBounded(response.body, answerBytesMax)
 */
export const readBounded = async (
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
): Promise<BoundedBody> => {
  const chunks: Uint8Array[] = []
  let size = 0
  let turns = 1
  for await (const chunk of body ?? []) {
    size += chunk.length
    chunks.push(chunk)
    if (size > turns * bytesPerTurn) {
      turns = size / bytesPerTurn + 1
      await Bun.sleep(0)
    }
    // Leaving the loop cancels the stream.
    if (size > bytesMax) break
  }
  const [only] = chunks
  const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)
  return size > bytesMax
    ? { bytes: bytes.subarray(0, bytesMax), isWhole: false }
    : { bytes, isWhole: true }
}
