import type { ResolvedParticle } from './automaton.ts'
import { anyName, type Member } from './compiled.ts'
import { localOf } from './model.ts'

type Members = ReadonlyMap<string, Member>

/**
 * The children in an order that the schema admits. An element that may stand in two places at once is one repeated
 * member; an element that two options of a choice hold is not repeated.
 */
export const membersOf = (particle: ResolvedParticle): readonly Member[] => [
  ...within(particle).values(),
]

const within = (particle: ResolvedParticle): Members => {
  const { min, max } = particle
  const members = contentOf(particle)
  if (min > 0 && max <= 1) return members
  const outer = ({ required, repeated, ...rest }: Member): Member => ({
    ...rest,
    required: required && min > 0,
    repeated: repeated || max > 1,
  })
  return new Map([...members].map(([key, member]) => [key, outer(member)]))
}

const contentOf = (particle: ResolvedParticle): Members => {
  if (particle.kind === 'leaf') {
    const { key, edge } = particle.leaf
    if (edge[0] === anyName) return new Map()
    return new Map([
      [key, { name: localOf(key), element: edge[2], required: true, repeated: false }],
    ])
  }
  const parts = particle.items.map(within)
  if (particle.kind === 'sequence') return parts.reduce(oneAfterTheOther, new Map())
  return parts.length === 0 ? new Map() : parts.reduce(oneOrTheOther)
}

const oneAfterTheOther = (before: Members, behind: Members): Members => {
  const all = new Map(before)
  for (const [key, member] of behind) {
    const known = all.get(key)
    const required = member.required || known?.required === true
    all.set(key, { ...member, required, repeated: member.repeated || known !== undefined })
  }
  return all
}

/** A member that only the other has stands before the member that follows it there. */
const oneOrTheOther = (one: Members, other: Members): Members => {
  const all = new Map<string, Member>()
  const add = (key: string, member: Member, twin: Member | undefined): void => {
    const required = member.required && twin?.required === true
    all.set(key, { ...member, required, repeated: member.repeated || twin?.repeated === true })
  }
  let waiting = [...other]
  for (const [key, member] of one) {
    const at = waiting.findIndex(([theirs]) => theirs === key)
    for (const [theirs, added] of waiting.slice(0, Math.max(0, at))) add(theirs, added, undefined)
    if (at !== -1) waiting = waiting.slice(at + 1)
    add(key, member, other.get(key))
  }
  for (const [key, member] of waiting) if (!all.has(key)) add(key, member, one.get(key))
  return all
}
