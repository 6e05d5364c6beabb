import {
  type CharSet,
  category,
  complement,
  difference,
  multiCharacterEscape,
  normalised,
} from './char-set.ts'

/** A regular expression of XML Schema part 2, appendix F, as a tree. */
export type PatternNode =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly items: readonly PatternNode[] }
  | {
      readonly kind: 'repeat'
      readonly item: PatternNode
      readonly min: number
      readonly max: number
    }

/** Nesting of groups and of character classes. */
const patternDepthMax = 32

export class PatternError extends Error {
  override readonly name = 'PatternError'
  readonly at: number

  constructor(message: string, at: number) {
    super(`${message} at character ${at + 1} of the pattern`)
    this.at = at
  }
}

/** @throws PatternError for an invalid pattern, and for blocks (`\p{IsGreek}`), which are not supported */
export const parsePattern = (source: string): PatternNode => {
  const parser = new PatternParser(source)
  return parser.whole()
}

const singleEscapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const escapable = '\\|.?*+(){}-[]^'
const generalCategories = /^(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/

class PatternParser {
  readonly #characters: readonly string[]
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#characters = [...source]
  }

  whole(): PatternNode {
    const node = this.#choice()
    if (this.#at < this.#characters.length) throw this.#error(`unexpected '${this.#peek()}'`)
    return node
  }

  #choice(): PatternNode {
    if (++this.#depth > patternDepthMax) throw this.#error('too deep nesting')
    const items = [this.#branch()]
    while (this.#take('|')) items.push(this.#branch())
    this.#depth--
    return items.length === 1 ? (items[0] as PatternNode) : { kind: 'choice', items }
  }

  #branch(): PatternNode {
    const items: PatternNode[] = []
    for (;;) {
      const next = this.#peek()
      if (next === undefined || next === '|' || next === ')') break
      items.push(this.#quantified(this.#atom()))
    }
    return items.length === 1 ? (items[0] as PatternNode) : { kind: 'sequence', items }
  }

  #quantified(item: PatternNode): PatternNode {
    if (this.#take('?')) return { kind: 'repeat', item, min: 0, max: 1 }
    if (this.#take('*')) return { kind: 'repeat', item, min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { kind: 'repeat', item, min: 1, max: Number.POSITIVE_INFINITY }
    if (!this.#take('{')) return item
    const min = this.#number()
    let max = min
    if (this.#take(',')) max = this.#peek() === '}' ? Number.POSITIVE_INFINITY : this.#number()
    if (!this.#take('}')) throw this.#error("expected '}'")
    if (max < min) throw this.#error('the upper bound is below the lower')
    return { kind: 'repeat', item, min, max }
  }

  #number(): number {
    let digits = ''
    while (/[0-9]/.test(this.#peek() ?? '')) digits += this.#next()
    if (digits === '' || digits.length > 6) throw this.#error('expected a number')
    return Number(digits)
  }

  #atom(): PatternNode {
    const character = this.#next()
    if (character === '(') {
      const inner = this.#choice()
      if (!this.#take(')')) throw this.#error("expected ')'")
      return inner
    }
    if (character === '[') return { kind: 'set', set: this.#characterClass() }
    if (character === '.') return { kind: 'set', set: complement([0x0a, 0x0a, 0x0d, 0x0d]) }
    if (character === '\\') return { kind: 'set', set: this.#escape() }
    if ('?*+{}]'.includes(character)) throw this.#error(`misplaced '${character}'`)
    return { kind: 'set', set: single(character) }
  }

  /** Behind '[': up to and including its ']'. */
  #characterClass(): CharSet {
    if (++this.#depth > patternDepthMax) throw this.#error('too deep nesting')
    const negated = this.#take('^')
    const ranges: number[] = []
    let first = true
    let set: CharSet
    for (;;) {
      const character = this.#next()
      if (character === ']' && !first) {
        set = normalised(ranges)
        break
      }
      if (character === '-' && this.#peek() === '[' && !first) {
        this.#next()
        set = normalised(ranges)
        set = difference(negated ? complement(set) : set, this.#characterClass())
        if (!this.#take(']')) throw this.#error("expected ']' behind a subtraction")
        this.#depth--
        return set
      }
      if (character === '[' || character === ']') throw this.#error(`misplaced '${character}'`)
      const low = character === '\\' ? this.#escape() : single(character)
      ranges.push(...this.#range(low))
      first = false
    }
    this.#depth--
    return negated ? complement(set) : set
  }

  /** The range that starts with `low`, or `low` itself. */
  #range(low: CharSet): CharSet {
    const isSingle = low.length === 2 && low[0] === low[1]
    const after = this.#characters[this.#at + 1]
    if (!isSingle || this.#peek() !== '-' || after === ']' || after === '[') return low
    this.#next()
    const character = this.#next()
    const high = character === '\\' ? this.#escape() : single(character)
    if (high.length !== 2 || high[0] !== high[1]) throw this.#error('a range ends with a character')
    if ((high[0] as number) < (low[0] as number)) throw this.#error('a range runs backwards')
    return [low[0] as number, high[0] as number]
  }

  #escape(): CharSet {
    const letter = this.#next()
    if (letter === 'p' || letter === 'P') return this.#categoryEscape(letter === 'P')
    const multi = multiCharacterEscape(letter)
    if (multi !== undefined) return multi
    const replaced = singleEscapes[letter]
    if (replaced !== undefined) return single(replaced)
    if (escapable.includes(letter)) return single(letter)
    throw this.#error(`unknown escape '\\${letter}'`)
  }

  #categoryEscape(negated: boolean): CharSet {
    let name = ''
    if (!this.#take('{')) throw this.#error("expected '{'")
    while (this.#peek() !== '}') name += this.#next()
    this.#next()
    if (!generalCategories.test(name)) throw this.#error(`\\p{${name}} is not supported`)
    return negated ? complement(category(name)) : category(name)
  }

  #peek(): string | undefined {
    return this.#characters[this.#at]
  }

  #next(): string {
    const character = this.#characters[this.#at]
    if (character === undefined) throw this.#error('unexpected end')
    this.#at++
    return character
  }

  #take(character: string): boolean {
    if (this.#characters[this.#at] !== character) return false
    this.#at++
    return true
  }

  #error(message: string): PatternError {
    return new PatternError(message, this.#at)
  }
}

const single = (character: string): CharSet => {
  const code = character.codePointAt(0) as number
  return [code, code]
}
