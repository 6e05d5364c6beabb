import { scratchBytes } from './scratch.ts'

const encoder = new TextEncoder()

/**
 * A head and two ranges of the bytes behind it, in scratch memory where there is one.
 *
 * @param head - ASCII
 * @param ranges - both ends of the first range, then of the second, which lies behind it or is empty
 */
export const joined = (
  bytes: Uint8Array,
  head: string,
  [from, cutFrom, cutTo, to]: readonly [number, number, number, number],
): Uint8Array => {
  const out = scratchBytes(head.length + (cutFrom - from) + (to - cutTo))
  encoder.encodeInto(head, out)
  out.set(bytes.subarray(from, cutFrom), head.length)
  if (cutTo < to) out.set(bytes.subarray(cutTo, to), out.length - (to - cutTo))
  return out
}
