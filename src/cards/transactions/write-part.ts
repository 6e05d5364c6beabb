import type { PendingQuery, Row } from 'postgres'

/** A part of a statement. */
export type Fragment = PendingQuery<Row[]>

/** What stands in the `with` of a statement, and tells how much of its own kind was written. */
export type WritePart = {
  readonly ctes: Fragment
  /** The places of those that were written, as a value of SQL. */
  readonly written: Fragment
  /** Tells by that value of each whether it was written. */
  readonly read: (written: string | null) => readonly boolean[]
}

/**
 * Tells of each of all whether it is one of those, of the first of their kind, that were written. They are one value, as
 * a row of an answer costs both sides as much as a small statement.
 */
export const areAmong = <Row>(
  all: readonly Row[],
  first: readonly Row[],
  written: string | null,
): readonly boolean[] => {
  const places = written === null ? [] : written.split(' ')
  if (places.length === all.length) return all.map(() => true)
  const among = new Set(places.map((place) => first[Number(place)]))
  return all.map((row) => among.has(row))
}
