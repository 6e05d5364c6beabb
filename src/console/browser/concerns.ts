import { getJson, Refusal, type Session, type Wake } from './api.ts'
import { allWaiting } from './attention.tsx'
import type { Counted } from './attention-section.tsx'
import { count } from './format.ts'
import { whenChanged } from './live.ts'

/** A kind of thing that waits for a person, and how many there are. */
export type Concern = Counted & { readonly name: string }

/** `50+`: there are more than we count. */
export const manyText = (concerns: readonly Counted[]): string => {
  const sum = concerns.reduce((so, { many }) => so + many, 0)
  return `${count(sum)}${concerns.some(({ isMore }) => isMore) ? '+' : ''}`
}

/** We ask for everything at once, so one ask serves all changes within this time. */
const gatherMs = 500

/** Wakes once for all changes among the things that wait for a person, as far as the key may see them. */
export const concernsChanged = ({ scopes }: Session, everyMs: number): Wake =>
  whenChanged(
    allWaiting.filter(({ scope }) => scopes.includes(scope)).map(({ path }) => path),
    everyMs,
    gatherMs,
  )

/** What waits for a person, as far as the key may see it. A part that does not exist counts as empty. */
export const concernsOf = async (
  { scopes }: Session,
  purpose: 'user' | 'background',
): Promise<readonly Concern[]> => {
  const asked = allWaiting.filter(({ scope }) => scopes.includes(scope))
  const found = await Promise.all(
    asked.map(async ({ concern: name, path, asked: askedOf = String, countOf }) => {
      try {
        return { name, ...countOf((await getJson<never>(askedOf(path), purpose)) as never) }
      } catch (error) {
        if (error instanceof Refusal && !error.mayPass) return { name, many: 0, isMore: false }
        throw error
      }
    }),
  )
  return found
    .filter(({ many }) => many > 0)
    .map(({ name, many, isMore }) => ({ name: nameOf(name, many), many, isMore }))
}

/** A name has its singular before the bar and its plural behind it. */
const nameOf = (name: string, many: number): string => {
  const [one = name, more = one] = name.split('|')
  return many === 1 ? one : more
}
