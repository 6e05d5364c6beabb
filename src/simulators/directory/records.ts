/** Records that two institutions share, listed in the order of their last change. */
import { putBounded } from '../bounded.ts'
import { Refusal } from './refusal.ts'

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

/** @typeParam Role - the members that name the two institutions */
export const createRecords = <
  Role extends string,
  T extends Recorded & { readonly status: string } & Readonly<Record<Role, string>>,
>(
  now: () => number,
  roles: readonly Role[],
) => {
  const records = new Map<string, T>()
  let lastMs = 0

  /** A moment that no other change has. */
  const moment = (): number => {
    lastMs = Math.max(now(), lastMs + 1)
    return lastMs
  }
  const put = (record: T): T => {
    putBounded(records, record.id, record, recordsMax)
    return record
  }

  return {
    /** @throws Refusal unless the participant is one of the two, and the one of the role */
    demand: (id: string, participant: string, role?: Role): T => {
      const found = records.get(id)
      const isParty = roles.some((one) => found?.[one] === participant)
      if (found === undefined || !isParty) throw new Refusal('NotFound')
      if (role !== undefined && found[role] !== participant) throw new Refusal('Forbidden')
      return found
    },
    all: (): readonly T[] => [...records.values()],
    moment,
    put,
    change: (record: T, to: Partial<T>): T => put({ ...record, ...to, modifiedMs: moment() }),
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
