import { Stretch, startsWith } from './stretch.ts'

/** The byte that ends a text behind a literal; `"` or `'` ends the value of an attribute. */
export const textEnds = 0x3c
/** Nothing stands behind the literal. */
export const noValue = 0
/** The literal ends a part of a document, and anything may follow it. No document holds this byte. */
export const partEnd = 1
const space = 0x20

/** Literals that may follow one; each is tried. */
export const branchesMax = 64

/**
 * A stretch of a document before a value, or at the end of the document or of a part; and the literals that followed
 * that value.
 */
export class Literal {
  readonly stretch: Stretch
  /** The byte that ends the value behind it: {@link textEnds} or a quote; or {@link noValue}, {@link partEnd}. */
  readonly terminator: number
  branches: readonly Literal[] = []

  constructor(bytes: Uint8Array, terminator: number) {
    this.stretch = new Stretch(bytes)
    this.terminator = terminator
  }

  /** The branch that stands at `at`, followed by a value if the literal wants one. Tries the one found last first. */
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
    const { terminator, stretch } = this
    const end = at + stretch.length
    if (end > length) return false
    const after = b[end] as number
    if (terminator === noValue ? end < length : after === terminator) return false
    // A text that begins with white space may be white space only, and then it is not a value.
    if (terminator === textEnds && after <= space) return false
    return stretch.isAt(b, view, at)
  }

  /**
   * Adds a branch, unless there are too many. Drops each branch that starts with the new one and goes on with what is a
   * value now: documents that matched it match the new one.
   *
   * @returns the dropped branches; undefined if nothing was added
   */
  add(literal: Literal): readonly Literal[] | undefined {
    const { bytes } = literal.stretch
    const isGivenUp = (other: Literal) =>
      literal.terminator !== noValue &&
      other.stretch.bytes[bytes.length] !== literal.terminator &&
      startsWith(other.stretch.bytes, 0, bytes)
    const kept = this.branches.filter((other) => !isGivenUp(other))
    if (kept.length === branchesMax) return undefined
    const givenUp = this.branches.filter(isGivenUp)
    this.branches = [literal, ...kept]
    return givenUp
  }

  /** The branch that shares the most bytes with the document from `at` on; undefined if none shares any. */
  nearest(b: Uint8Array, at: number): Literal | undefined {
    let nearest: Literal | undefined
    let most = 0
    for (const branch of this.branches) {
      const { bytes } = branch.stretch
      let count = 0
      while (count < bytes.length && bytes[count] === b[at + count]) count++
      if (count > most) nearest = branch
      most = Math.max(most, count)
    }
    return nearest
  }
}
