/** Records that two institutions share, listed in the order of their last change. */

type Recorded = { readonly id: string; readonly modifiedMs: number }

export type ListFilter = {
  readonly statuses: readonly string[]
  readonly fromMs: number
  readonly untilMs: number
  readonly limit: number
  /** The cursor of the last record of the page before. */
  readonly cursor: string | undefined
}

/** A list does not know yet what happened within this time. */
const listLagMs = 5_000
const recordsMax = 100_000

export const createRecords = <T extends Recorded & { readonly status: string }>(
  now: () => number,
) => {
  const records = new Map<string, T>()
  let lastMs = 0

  return {
    find: (id: string): T | undefined => records.get(id),
    all: (): readonly T[] => [...records.values()],
    /** No two changes are of the same moment. */
    moment: (): number => {
      lastMs = Math.max(now(), lastMs + 1)
      return lastMs
    },
    put: (record: T): T => {
      const [first] = records.keys()
      if (first !== undefined && records.size >= recordsMax) records.delete(first)
      records.set(record.id, record)
      return record
    },
    list: (concerns: (record: T) => boolean, filter: ListFilter) => {
      const until = Math.min(filter.untilMs, now() - listLagMs)
      const found = [...records.values()]
        .filter(
          (record) =>
            concerns(record) &&
            record.modifiedMs >= filter.fromMs &&
            record.modifiedMs <= until &&
            (filter.statuses.length === 0 || filter.statuses.includes(record.status)),
        )
        .sort((one, other) => one.modifiedMs - other.modifiedMs)
      const after = found.findIndex(({ id }) => id === filter.cursor) + 1
      const items = found.slice(after, after + filter.limit)
      return { items, hasMore: found.length > after + filter.limit }
    },
  }
}
