/**
 * What callers call arguments. Solidity writes `_to` or `name_` to avoid a clash, and callers need not; but where two
 * names differ by nothing else, each is told, and given, by the name that the contract has for it.
 */
import { trimmed } from '#codecs/bytes'

type Named = { readonly name: string }

const bareName = ({ name }: Named): string => trimmed(name, '_')

/** @returns where each name is, -1 if in more than one place; digits are places, not names */
const placesOf = (names: readonly string[]): ReadonlyMap<string, number> => {
  const places = new Map<string, number>()
  for (const [i, name] of names.entries()) {
    if (!/^\d*$/.test(name)) places.set(name, places.has(name) ? -1 : i)
  }
  return places
}

/** @returns a name of its own for each: the bare one, else the contract's, else its place */
export const namesOf = (inputs: readonly Named[]): readonly string[] => {
  const bare = inputs.map(bareName)
  const byBare = placesOf(bare)
  const byExact = placesOf(inputs.map(({ name }) => name))
  return inputs.map(({ name }, i) => {
    if (byBare.get(bare[i]!) === i) return bare[i]!
    return byExact.get(name) === i ? name : String(i)
  })
}

export const byName = (
  inputs: readonly Named[],
  values: readonly unknown[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(namesOf(inputs).map((name, i) => [name, values[i]]))

/** The sum of a transfer is `amount` to some contracts, `value` to others, and callers need not know to which. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['amount', 'value'],
  ['value', 'amount'],
])

/** @returns finds the place of what a caller calls by a name; -1 if nothing is called so, or more than one thing */
export const createPlaces = (inputs: readonly Named[]): ((name: string) => number) => {
  const own = new Map(namesOf(inputs).map((name, i) => [name, i]))
  const byBare = placesOf(inputs.map(bareName))
  return (name) => {
    const bare = bareName({ name })
    return own.get(name) ?? byBare.get(bare) ?? byBare.get(synonyms.get(bare) ?? '') ?? -1
  }
}
