/** What ends the value behind a literal where that is text; `"` or `'` end an attribute's. */
export const textEnds = 0x3c
/** Nothing stands behind the literal. */
export const noValue = 0
/** Anything may stand behind the literal, which ends a part of a document: a byte that none holds. */
export const partEnd = 1
const space = 0x20

/** Literals that may follow one; each is tried. */
export const branchesMax = 64

/**
 * A stretch of ASCII that stood in a document before a value, or at the end of it or of a part; and the literals
 * that followed that value. Fields without `#`: JavaScriptCore is slow with those.
 */
export class Literal {
  readonly bytes: Uint8Array
  /** The byte that ends the value behind it: {@link textEnds} or a quote; or {@link noValue}, {@link partEnd}. */
  readonly terminator: number
  private readonly length: number
  /** The bytes as numbers of eight, the last one overlapping the one before it. */
  private readonly words: Float64Array
  branches: readonly Literal[] = []

  constructor(bytes: Uint8Array, terminator: number) {
    const { length } = bytes
    const view = new DataView(bytes.buffer, bytes.byteOffset, length)
    this.bytes = bytes
    this.length = length
    this.terminator = terminator
    this.words = Float64Array.from({ length: length < 8 ? 0 : Math.ceil(length / 8) }, (_, i) =>
      view.getFloat64(Math.min(i * 8, length - 8), true),
    )
  }

  /** The branch that stands at `at`, a value behind it where one belongs. The one found last is tried first. */
  branch(b: Uint8Array, view: DataView, at: number, length: number): Literal | undefined {
    const { branches } = this
    for (let i = 0; i < branches.length; i++) {
      const literal = branches[i] as Literal
      if (!literal.stands(b, view, at, length)) continue
      if (i > 0) this.branches = [literal, ...branches.slice(0, i), ...branches.slice(i + 1)]
      return literal
    }
    return undefined
  }

  private stands(b: Uint8Array, view: DataView, at: number, length: number): boolean {
    const { terminator, words } = this
    const end = at + this.length
    if (end > length) return false
    const after = b[end] as number
    if (terminator === noValue ? end < length : after === terminator) return false
    // Text that begins with white space may be nothing else, and then it is no value.
    if (terminator === textEnds && after <= space) return false
    if (words.length === 0) return isAt(this.bytes, b, at)
    const last = end - 8
    let from = at
    let i = 0
    // Bytes beyond ASCII may make no number (NaN), which differs from every other. Four at a time: most are long.
    for (; from < last - 24; from += 32, i += 4) {
      if (
        view.getFloat64(from, true) !== words[i] ||
        view.getFloat64(from + 8, true) !== words[i + 1] ||
        view.getFloat64(from + 16, true) !== words[i + 2] ||
        view.getFloat64(from + 24, true) !== words[i + 3]
      ) {
        return false
      }
    }
    for (; from < last; from += 8, i++) {
      if (view.getFloat64(from, true) !== words[i]) return false
    }
    return view.getFloat64(last, true) === words[i]
  }

  /**
   * Adds a branch, unless there are too many. Gives up those that it begins and that go on with what is a value now:
   * documents that had them have this one.
   *
   * @returns what was given up; undefined where nothing was added
   */
  add(literal: Literal): readonly Literal[] | undefined {
    const { bytes, terminator } = literal
    const isKept = (other: Literal) =>
      terminator === noValue ||
      other.bytes[bytes.length] === terminator ||
      !isAt(bytes, other.bytes, 0)
    const kept = this.branches.filter(isKept)
    if (kept.length === branchesMax) return undefined
    const givenUp = this.branches.filter((other) => !isKept(other))
    this.branches = [literal, ...kept]
    return givenUp
  }

  /** The branch that has most bytes from `at` on in common with a document; undefined where none has any. */
  nearest(b: Uint8Array, at: number): Literal | undefined {
    let nearest: Literal | undefined
    let most = 0
    for (const branch of this.branches) {
      const { bytes } = branch
      let count = 0
      while (count < bytes.length && bytes[count] === b[at + count]) count++
      if (count > most) nearest = branch
      most = Math.max(most, count)
    }
    return nearest
  }
}

const isAt = (bytes: Uint8Array, b: Uint8Array, at: number): boolean => {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== b[at + i]) return false
  return true
}
