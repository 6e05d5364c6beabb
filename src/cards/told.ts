import { createGatherer } from '#src/platform/database/index.ts'

/** What is done at once of all that networks tell of their own accord: payments need the database, too. */
const atOnceMax = 4
/** What may wait for that: more is not taken. */
const waitingMax = 10_000

/** @throws OverloadedError if too much waits */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** One for all networks of a process. */
export const createTurns = (): InTurn => {
  const take = createGatherer<() => Promise<unknown>, unknown>({
    rowsMax: 1,
    writersMax: atOnceMax,
    waitingMax,
    isRowFault: () => false,
    write: (works) => Promise.all(works.map((work) => work())),
  })
  return <T>(work: () => Promise<T>) => take(work) as Promise<T>
}

/** Who asks for the same while it is under way shares what comes of it: networks tell one thing over each connection. */
export const createShared = <T>(): ((key: string, work: () => Promise<T>) => Promise<T>) => {
  const underWay = new Map<string, Promise<T>>()
  return (key, work) => {
    const shared = underWay.get(key) ?? work().finally(() => underWay.delete(key))
    underWay.set(key, shared)
    return shared
  }
}
