import { createGatherer } from '#src/platform/database/index.ts'

/** How many messages of networks' own accord we handle at once: payments need the database, too. */
const atOnceMax = 4
/** How many may wait for that; we do not take more. */
const waitingMax = 10_000

/** @throws OverloadedError if too much waits */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** All networks of a process share it. */
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

/** Callers with the same key share one run and its result: networks tell one thing over each connection. */
export const createShared = <T>(): ((key: string, work: () => Promise<T>) => Promise<T>) => {
  const underWay = new Map<string, Promise<T>>()
  return (key, work) => {
    const shared = underWay.get(key) ?? work().finally(() => underWay.delete(key))
    underWay.set(key, shared)
    return shared
  }
}
