import { knownVersions, type MessageType } from '../catalogue/index.ts'

/** Makes something for each version of a type that is known, once; the result finds it. */
export const perVersion = <Made>(
  type: MessageType,
  make: (version: string) => Made,
): ((version: string) => Made) => {
  const made = new Map(knownVersions(type).map((version) => [version, make(version)]))
  return (version) => {
    const found = made.get(version)
    if (found === undefined) throw new RangeError(`${type} has no version ${version}`)
    return found
  }
}
