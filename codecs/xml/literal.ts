import { Stretch, startsWith } from './stretch.ts'

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
 * A stretch that stood in a document before a value, or at the end of it or of a part; and the literals that
 * followed that value.
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
    const { terminator, stretch } = this
    const end = at + stretch.length
    if (end > length) return false
    const after = b[end] as number
    if (terminator === noValue ? end < length : after === terminator) return false
    // Text that begins with white space may be nothing else, and then it is no value.
    if (terminator === textEnds && after <= space) return false
    return stretch.isAt(b, view, at)
  }

  /**
   * Adds a branch, unless there are too many. Gives up the branches that the new one begins and that go on with what
   * is a value now: documents that had those have the new one.
   *
   * @returns what was given up; undefined where nothing was added
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

  /** The branch that has most bytes from `at` on in common with a document; undefined where none has any. */
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
