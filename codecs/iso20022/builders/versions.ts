import { knownVersions, type MessageType } from '../catalogue/index.ts'

/** Makes something for each version of a type that is known, once; the result finds it. */
export const perVersion = <Made>(
  type: MessageType,
  make: (version: string) => Made,
): ((version: string) => Made) => {
  const made = new Map(knownVersions(type).map((version) => [version, make(version)]))
  /** Nearly always the same one is wanted: it is told faster from the last than found anew. */
  let last: { readonly version: string; readonly made: Made } | undefined
  return (version) => {
    if (last?.version === version) return last.made
    const found = made.get(version)
    if (found === undefined) throw new RangeError(`${type} has no version ${version}`)
    last = { version, made: found }
    return found
  }
}
