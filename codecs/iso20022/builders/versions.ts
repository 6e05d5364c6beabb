import { knownVersions, type MessageType } from '../catalogue/index.ts'

/** Makes something for each version of a type that is known, when it is first asked for. */
export const perVersion = <Made>(
  type: MessageType,
  make: (version: string) => Made,
): ((version: string) => Made) => {
  const made = new Map<string, Made>()
  /** Nearly always the same one is wanted: it is told faster from the last than found anew. */
  let last: { readonly version: string; readonly made: Made } | undefined
  return (version) => {
    if (last?.version === version) return last.made
    if (!knownVersions(type).includes(version)) {
      throw new RangeError(`${type} has no version ${version}`)
    }
    const found = made.get(version) ?? make(version)
    made.set(version, found)
    last = { version, made: found }
    return found
  }
}
