/** Places on a chain; pure. */
import type { Hex } from '../evm/hex.ts'

/** A block; `hash` is undefined before the first that is read. */
export type Place = { readonly number: number; readonly hash: Hex | undefined }

export type Anchor = {
  readonly number: number
  readonly hash: Hex
  /** Reading began after it. Earlier releases had none such: their first anchor is the end of the first page. */
  readonly isBefore?: true
}

/** We keep this many of the newest, whatever their distance. */
export const closeAnchors = 8
/** One is left out while the next older one is at most so many times as far away as the next newer one. */
const spread = 2

/**
 * The blocks to compare with the chain once it has changed: close together near the newest, and ever further apart
 * behind it, so that a few dozen reach back to the first block.
 *
 * @param anchors in order, oldest first
 */
export const withAnchor = (anchors: readonly Anchor[], newest: Anchor): readonly Anchor[] => {
  const older = anchors.filter(({ number }) => number < newest.number)
  const distance = ({ number }: Anchor): number => newest.number - number
  const kept: Anchor[] = [newest]
  for (let i = older.length - 1; i >= 0; i--) {
    const before = older[i - 1]
    const isNeeded =
      before === undefined ||
      kept.length < closeAnchors ||
      distance(before) > spread * distance(kept.at(-1)!)
    if (isNeeded) kept.push(older[i]!)
  }
  return kept.reverse()
}

/**
 * The anchors once a page was read. Where nothing was read before it, the block that it begins after is the first: if all
 * others are gone, it is gone back to.
 */
export const withPage = (
  anchors: readonly Anchor[],
  { before, last: { number, hash } }: { readonly before: Anchor; readonly last: Anchor },
): readonly Anchor[] =>
  withAnchor(anchors.length === 0 ? [{ ...before, isBefore: true }] : anchors, { number, hash })
