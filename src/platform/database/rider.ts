import postgres, { type PendingQuery, type Row } from 'postgres'
import type { Queryable } from './database.ts'

/**
 * Changes other rows within a statement that is on its way anyhow, so that a transaction takes one statement less.
 * PostgreSQL lets neither part see what the other changes: a caller asks nothing of a rider that depends on the rest,
 * and ends the transaction if the whole is not as expected.
 */
export type Rider = {
  /** Names its last CTE, which has the one column `told`, a text. */
  readonly name: string
  /** The CTEs of the rider, with commas between. */
  readonly ctes: (sql: Queryable) => PendingQuery<Row[]>
  /** Takes its locks before the statement takes its own. */
  readonly isFirst?: boolean
  /**
   * Takes what was told, row by row.
   *
   * @throws to end the transaction
   */
  readonly done: (told: readonly string[]) => void
}

type Told = { readonly rider: string; readonly told: string }

/** The driver takes an empty list for a value. */
const joined = (sql: Queryable, parts: readonly PendingQuery<Row[]>[]) =>
  parts.length === 0 ? sql`` : sql`${[...parts]}`

const isFirst = (rider: Rider): boolean => rider.isFirst === true

/** The CTEs of riders, after those of the statement that carries them. */
export const ridersWith = (sql: Queryable, riders: readonly Rider[]) =>
  joined(
    sql,
    riders.filter((one) => !isFirst(one)).map(({ ctes }) => sql`, ${ctes(sql)}`),
  )

/** The CTEs of riders that come first, before the statement's own. */
export const firstRidersWith = (sql: Queryable, riders: readonly Rider[]) =>
  joined(
    sql,
    riders.filter(isFirst).map(({ ctes }) => sql`${ctes(sql)}, `),
  )

/** A condition that is always true, and read only when the riders that are first have done all that they do. */
export const afterFirst = (sql: Queryable, riders: readonly Rider[]) =>
  joined(
    sql,
    riders.filter(isFirst).map(({ name }) => sql`and (select count(*) from ${sql(name)}) >= 0`),
  )

/** The answers of riders, as further rows of the statement: `columns` is `null` for each of its columns before. */
export const toldBy = (sql: Queryable, riders: readonly Rider[], columns: PendingQuery<Row[]>) =>
  joined(
    sql,
    riders.map(({ name }) => sql`union all select ${columns}, ${name}, told from ${sql(name)}`),
  )

/** Gives the riders what they told, and returns the rows of the statement itself. */
export const withoutTold = <T>(
  rows: readonly (T & { readonly rider: string | null })[],
  riders: readonly Rider[],
): readonly T[] => {
  for (const { name, done } of riders) {
    done(rows.flatMap((row) => (row.rider === name ? (row as T & Told).told : [])))
  }
  return rows.filter(({ rider }) => rider === null)
}

/** The same in a statement of its own. */
export const goAlone = async (sql: Queryable, { name, ctes, done }: Rider): Promise<void> => {
  const rows = await sql<Told[]>`with ${ctes(sql)} select told from ${sql(name)}`
  done(rows.map(({ told }) => told))
}

const notWhole = 'fewer rows than expected: '

/**
 * Fails its statement, which then changes nothing, if a CTE has more or fewer rows than this. A statement that is sent
 * alone is a transaction, so nothing else has to undo it.
 */
export const wholeOf = (sql: Queryable, cte: string, count: number) => sql`
  (select case when count(*) = ${count}::int then '' else (${notWhole} || count(*))::int::text end
  from ${sql(cte)})`

/** Whether it was ended by {@link wholeOf}. */
export const isNotWhole = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.message.includes(notWhole)
