import { PatternAutomaton } from './automaton.ts'
import { type LinearPattern, linearPatterns } from './linear.ts'
import type { PatternNode } from './parse.ts'

/** Matches whole texts in one step per character, whatever the pattern. */
export class PatternMatcher {
  /** {@link matchesAscii} uses these instead of the automaton if the pattern is simple enough. */
  readonly linear: readonly LinearPattern[] | undefined
  private automaton: PatternAutomaton | undefined
  private readonly pattern: PatternNode

  /** @throws PatternError for a pattern of too many places */
  constructor(pattern: PatternNode) {
    this.pattern = pattern
    this.linear = linearPatterns(pattern)
    // A linear pattern is small, and few documents need its automaton.
    if (this.linear === undefined) this.automaton = new PatternAutomaton(pattern)
  }

  matches(text: string): boolean {
    this.automaton ??= new PatternAutomaton(this.pattern)
    return this.automaton.matches(text)
  }

  /** The same over bytes; false as soon as one is not ASCII. */
  matchesAscii(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.linear !== undefined) return matchesLinear(this.linear, bytes, start, end)
    return (this.automaton as PatternAutomaton).matchesAscii(bytes, start, end)
  }
}

const matchesLinear = (
  patterns: readonly LinearPattern[],
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean => {
  for (const pattern of patterns) if (pattern.matches(bytes, start, end)) return true
  return false
}
