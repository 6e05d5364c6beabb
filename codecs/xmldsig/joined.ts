const encoder = new TextEncoder()

/** That of Buffer gives a view instead. */
const { slice } = Uint8Array.prototype

/**
 * A head and two ranges of the bytes behind it, in new memory.
 *
 * @param head - ASCII
 * @param ranges - both ends of the first range, then of the second, which lies behind it or is empty
 */
export function joined(
  bytes: Uint8Array,
  head: string,
  [from, cutFrom, cutTo, to]: readonly [number, number, number, number],
): Uint8Array {
  const length = head.length + (cutFrom - from) + (to - cutTo)
  const start = from - head.length
  // One copy of what comes behind the head, with room for it in front.
  const out = start < 0 ? new Uint8Array(length) : slice.call(bytes, start, start + length)
  encoder.encodeInto(head, out)
  if (start < 0) out.set(bytes.subarray(from, cutFrom), head.length)
  if (cutTo < to) out.set(bytes.subarray(cutTo, to), length - (to - cutTo))
  return out
}
