import { type Particle, type Place, SchemaError } from './model.ts'

/** States of one content model. */
export const statesMax = 20_000

/** A particle whose references are resolved. */
export type ResolvedParticle =
  | {
      readonly kind: 'sequence' | 'choice'
      readonly min: number
      readonly max: number
      readonly items: readonly ResolvedParticle[]
    }
  | { readonly kind: 'leaf'; readonly min: number; readonly max: number; readonly leaf: Leaf }

/** The element or wildcard that a state reads. */
export type Leaf = {
  /** Equal for two leaves that read the same element. */
  readonly key: string
  readonly edge: readonly [name: number, namespace: number, element: number]
  readonly particle: Particle
}

export type Automaton = {
  /** By state: the states that may follow. State 0 is the start; every other has read a leaf. */
  readonly follow: readonly (readonly number[])[]
  readonly leaves: readonly (Leaf | undefined)[]
  readonly accepts: readonly boolean[]
}

type Part = {
  readonly nullable: boolean
  readonly first: readonly number[]
  readonly last: readonly number[]
}

/**
 * The position automaton (Glushkov) of a content model: one state per leaf, with counted repetitions written out. XML
 * Schema demands that it is deterministic (part 1, 3.8.6), so each step has one choice.
 *
 * @throws SchemaError if two particles compete for one element, or for too many states
 */
export const buildAutomaton = (particle: ResolvedParticle, place: Place): Automaton => {
  const builder = new Builder(place)
  const whole = builder.repeat(particle)
  const follow = [whole.first, ...builder.follow]
  const leaves = [undefined, ...builder.leaves]
  const accepts = leaves.map((_, state) =>
    state === 0 ? whole.nullable : whole.last.includes(state),
  )
  for (const [state, next] of follow.entries()) {
    const seen = new Set<string>()
    for (const to of next) {
      const { key } = leaves[to] as Leaf
      if (seen.has(key)) {
        const reads = state === 0 ? 'at the start' : `behind ${leaves[state]?.key}`
        throw new SchemaError(place.file, place.line, `${key} is ambiguous ${reads}`)
      }
      seen.add(key)
    }
  }
  return { follow, leaves, accepts }
}

class Builder {
  readonly follow: number[][] = []
  readonly leaves: Leaf[] = []
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  repeat(particle: ResolvedParticle): Part {
    const { min, max } = particle
    if (max === 0) return { nullable: true, first: [], last: [] }
    let result: Part = { nullable: true, first: [], last: [] }
    for (let i = 1; i < min; i++) result = this.#join(result, this.#once(particle))
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#once(particle)
      this.#connect(loop.last, loop.first)
      return this.#join(result, min === 0 ? { ...loop, nullable: true } : loop)
    }
    if (min > 0) result = this.#join(result, this.#once(particle))
    return this.#join(result, this.#optional(particle, max - min))
  }

  /** Written as `(a(a(a)?)?)?`, so that each occurrence leads only to the next one. */
  #optional(particle: ResolvedParticle, count: number): Part {
    let rest: Part = { nullable: true, first: [], last: [] }
    for (let i = 0; i < count; i++) {
      rest = { ...this.#join(this.#once(particle), rest), nullable: true }
    }
    return rest
  }

  #once(particle: ResolvedParticle): Part {
    if (particle.kind === 'leaf') {
      if (this.leaves.length === statesMax) {
        throw new SchemaError(this.#place.file, this.#place.line, `more than ${statesMax} states`)
      }
      this.leaves.push(particle.leaf)
      this.follow.push([])
      const state = this.leaves.length
      return { nullable: false, first: [state], last: [state] }
    }
    const parts = particle.items.map((item) => this.repeat(item))
    if (particle.kind === 'choice') {
      return {
        nullable: parts.length === 0 || parts.some(({ nullable }) => nullable),
        first: parts.flatMap(({ first }) => first),
        last: parts.flatMap(({ last }) => last),
      }
    }
    return parts.reduce((whole, part) => this.#join(whole, part), {
      nullable: true,
      first: [],
      last: [],
    } as Part)
  }

  #join(a: Part, b: Part): Part {
    this.#connect(a.last, b.first)
    return {
      nullable: a.nullable && b.nullable,
      first: a.nullable ? [...a.first, ...b.first] : a.first,
      last: b.nullable ? [...a.last, ...b.last] : b.last,
    }
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    for (const state of from) {
      const next = this.follow[state - 1] as number[]
      for (const target of to) if (!next.includes(target)) next.push(target)
    }
  }
}
