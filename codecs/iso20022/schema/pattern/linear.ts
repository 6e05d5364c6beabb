import { type CharSet, contains } from './char-set.ts'
import type { PatternNode } from './parse.ts'

/** Longer patterns are left to the automaton. */
const positionsMax = 64
/** Alternatives are tried one after the other; with more of them, the automaton is faster. */
const alternativesMax = 4
/** Sets of one pattern, one bit each. More than a byte holds would cost every message more memory traffic. */
const setsMax = 8

/**
 * A pattern in which each position reads one set of characters, independent of the text before it, as in identifiers:
 * `M[0-9A-Z]{8}[a-zA-Z0-9]{23}`. Only its last part may vary in length. ASCII only.
 */
export class LinearPattern {
  readonly lengthMin: number
  readonly lengthMax: number
  /** By byte: a bit for each set it is in. */
  readonly setsOf: Uint8Array
  /** By position: the bit of its set. */
  readonly wanted: Uint8Array

  constructor(positions: readonly CharSet[], lengthMin: number) {
    const sets = new Map<string, number>()
    this.lengthMin = lengthMin
    this.lengthMax = positions.length
    this.setsOf = new Uint8Array(256)
    this.wanted = Uint8Array.from(positions, (set) => {
      const key = set.join()
      const known = sets.get(key)
      if (known !== undefined) return known
      const bit = 1 << sets.size
      sets.set(key, bit)
      for (let code = 0; code < 128; code++) {
        if (contains(set, code)) this.setsOf[code] = (this.setsOf[code] as number) | bit
      }
      return bit
    })
  }

  /** Whether it matches every text of this form, in which each 0 stands for any digit. */
  takesAll(form: string): boolean {
    if (form.length < this.lengthMin || form.length > this.lengthMax) return false
    const takes = (code: number, at: number) =>
      ((this.setsOf[code] as number) & (this.wanted[at] as number)) !== 0
    return [...form].every((character, at) =>
      character === '0'
        ? [...'0123456789'].every((digit) => takes(digit.charCodeAt(0), at))
        : takes(character.charCodeAt(0), at),
    )
  }

  /** Whether it matches only digits, one or more. */
  isDigits(): boolean {
    const isDigit = (code: number) => code >= 0x30 && code <= 0x39
    return this.lengthMin > 0 && this.setsOf.every((sets, code) => sets === 0 || isDigit(code))
  }

  /** False if a byte is not ASCII. */
  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start
    if (length < this.lengthMin || length > this.lengthMax) return false
    const { setsOf, wanted } = this
    let faults = 0
    // Negative if a byte is not in its wanted set. A branch per byte would cost more than reading to the end.
    for (let i = 0; i < length; i++) {
      faults |= ((setsOf[bytes[start + i] as number] as number) & (wanted[i] as number)) - 1
    }
    return faults >= 0
  }
}

/** The alternatives of a pattern; undefined if one of them is not linear, or if there are many. */
export const linearPatterns = (node: PatternNode): readonly LinearPattern[] | undefined => {
  const alternatives = alternativesOf(node)
  if (alternatives.length > alternativesMax) return undefined
  const patterns = alternatives.map(linearPattern)
  return patterns.includes(undefined) ? undefined : (patterns as LinearPattern[])
}

const alternativesOf = (node: PatternNode): readonly PatternNode[] =>
  node.kind === 'choice' ? node.items.flatMap(alternativesOf) : [node]

const linearPattern = (node: PatternNode): LinearPattern | undefined => {
  const positions: CharSet[] = []
  let lengthMin = 0
  /** False behind a part of varying length, which must be the last. */
  let isFixed = true
  const read = (at: PatternNode): boolean => {
    if (at.kind === 'sequence') return at.items.every(read)
    if (at.kind === 'choice') return false
    const { item, min, max } =
      at.kind === 'set' ? { item: at, min: 1, max: 1 } : { item: at.item, min: at.min, max: at.max }
    if (!isFixed || item.kind !== 'set' || positions.length + max > positionsMax) return false
    for (let i = 0; i < max; i++) positions.push(item.set)
    lengthMin += min
    isFixed = min === max
    return true
  }
  if (!read(node)) return undefined
  const sets = new Set(positions.map((set) => set.join()))
  return sets.size > setsMax ? undefined : new LinearPattern(positions, lengthMin)
}
