import { type CharSet, contains } from './char-set.ts'
import { PatternError, type PatternNode } from './parse.ts'

/** Places of a pattern after its counted repetitions are written out. */
export const patternPlacesMax = 4096
/** States remembered at a time. Past this, the memory is cleared and matching goes on. */
const statesMax = 1024

const unknown = 0
const dead = 1
const firstState = 2

/**
 * Matches whole texts in one step per character, whatever the pattern: a non-deterministic automaton whose
 * deterministic states are made when first met. Fields without `#`: JavaScriptCore is slow with those.
 */
export class PatternAutomaton {
  /** By place: the set that it reads, or -1 for an empty step; and the places where it leads. */
  private readonly sets: number[] = []
  private readonly next: number[] = []
  private readonly other: number[] = []
  private readonly accept: number
  private readonly classOfAscii = new Uint8Array(128)
  /** Bounds of the classes of characters; each set holds a class whole or not at all. */
  private readonly bounds: readonly number[]
  private readonly classes: number
  private readonly distinctSets: readonly CharSet[]
  private readonly start: readonly number[]
  private table = new Int32Array(0)
  private states: (readonly number[])[] = []
  private ids = new Map<string, number>()
  private accepting = new Uint8Array(0)

  constructor(pattern: PatternNode) {
    const sets = new Map<string, number>()
    const distinct: CharSet[] = []
    const setId = (set: CharSet): number => {
      const key = set.join()
      const known = sets.get(key)
      if (known !== undefined) return known
      sets.set(key, distinct.length)
      distinct.push(set)
      return distinct.length - 1
    }
    this.accept = this.#place(-1, -1, -1)
    const first = this.#build(pattern, this.accept, setId)
    this.distinctSets = distinct
    const cuts = new Set([0])
    for (const set of distinct) {
      for (let i = 0; i < set.length; i += 2) {
        cuts.add(set[i] as number)
        cuts.add((set[i + 1] as number) + 1)
      }
    }
    this.bounds = [...cuts].sort((a, b) => a - b)
    this.classes = this.bounds.length
    for (let code = 0; code < 128; code++) this.classOfAscii[code] = this.#classOf(code)
    this.start = this.#closure([first])
    this.#forget()
  }

  matches(text: string): boolean {
    let state = firstState
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i)
      if (code >= 0xd800 && code < 0xdc00) {
        code = text.codePointAt(i) as number
        if (code > 0xffff) i++
      }
      state = this.#step(
        state,
        code < 128 ? (this.classOfAscii[code] as number) : this.#classOf(code),
      )
      if (state === dead) return false
    }
    return this.accepting[state] === 1
  }

  /** The same over bytes; false as soon as one is not ASCII. */
  matchesAscii(bytes: Uint8Array, start: number, end: number): boolean {
    const { classes, classOfAscii } = this
    let state = firstState
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number
      if (byte >= 128) return false
      const kind = classOfAscii[byte] as number
      const next = this.table[state * classes + kind] as number
      state = next === unknown ? this.#step(state, kind) : next
      if (state === dead) return false
    }
    return this.accepting[state] === 1
  }

  #classOf(code: number): number {
    const bounds = this.bounds
    let low = 0
    let high = bounds.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((bounds[middle] as number) <= code) low = middle
      else high = middle - 1
    }
    return low
  }

  #step(state: number, kind: number): number {
    const known = this.table[state * this.classes + kind] as number
    if (known !== unknown) return known
    const code = this.bounds[kind] as number
    const reached: number[] = []
    for (const place of this.states[state] as readonly number[]) {
      const set = this.sets[place] as number
      if (set >= 0 && contains(this.distinctSets[set] as CharSet, code)) {
        reached.push(this.next[place] as number)
      }
    }
    if (reached.length === 0) {
      this.table[state * this.classes + kind] = dead
      return dead
    }
    const places = this.#closure(reached)
    if (this.states.length >= statesMax && !this.ids.has(places.join())) {
      this.#forget()
      return this.#stateOf(places)
    }
    const next = this.#stateOf(places)
    this.table[state * this.classes + kind] = next
    return next
  }

  #stateOf(places: readonly number[]): number {
    const key = places.join()
    const known = this.ids.get(key)
    if (known !== undefined) return known
    const state = this.states.length
    this.states.push(places)
    this.ids.set(key, state)
    const needed = (state + 1) * this.classes
    if (needed > this.table.length) {
      const table = new Int32Array(needed * 2)
      table.set(this.table)
      this.table = table
      const accepting = new Uint8Array((state + 1) * 2)
      accepting.set(this.accepting)
      this.accepting = accepting
    }
    this.accepting[state] = places.includes(this.accept) ? 1 : 0
    return state
  }

  #forget(): void {
    this.states = [[], []]
    this.ids = new Map()
    this.table = new Int32Array(8 * this.classes)
    this.accepting = new Uint8Array(8)
    this.#stateOf(this.start)
  }

  /** The places reached by empty steps, sorted; places that read, and the accepting one. */
  #closure(from: readonly number[]): readonly number[] {
    const seen = new Set<number>()
    const waiting = [...from]
    const reading: number[] = []
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (seen.has(place)) continue
      seen.add(place)
      if (place === this.accept || (this.sets[place] as number) >= 0) {
        reading.push(place)
        continue
      }
      waiting.push(this.next[place] as number)
      if (this.other[place] !== -1) waiting.push(this.other[place] as number)
    }
    return reading.sort((a, b) => a - b)
  }

  #place(set: number, next: number, other: number): number {
    if (this.sets.length === patternPlacesMax) {
      throw new PatternError(`the pattern has more than ${patternPlacesMax} places`, 0)
    }
    this.sets.push(set)
    this.next.push(next)
    this.other.push(other)
    return this.sets.length - 1
  }

  /** Builds from the end, so that each part knows where it leads; returns the first place. */
  #build(node: PatternNode, then: number, setId: (set: CharSet) => number): number {
    switch (node.kind) {
      case 'set':
        return this.#place(setId(node.set), then, -1)
      case 'sequence':
        return node.items.reduceRight((after, item) => this.#build(item, after, setId), then)
      case 'choice':
        return node.items
          .map((item) => this.#build(item, then, setId))
          .reduceRight((rest, first) => this.#place(-1, first, rest))
      case 'repeat': {
        let at = then
        if (node.max === Number.POSITIVE_INFINITY) {
          const loop = this.#place(-1, -1, then)
          this.next[loop] = this.#build(node.item, loop, setId)
          at = loop
        } else {
          for (let i = node.min; i < node.max; i++) {
            at = this.#place(-1, this.#build(node.item, at, setId), then)
          }
        }
        for (let i = 0; i < node.min; i++) {
          const before = this.sets.length
          at = this.#build(node.item, at, setId)
          // An item without places is the empty text, however often it is repeated.
          if (this.sets.length === before) break
        }
        return at
      }
    }
  }
}
