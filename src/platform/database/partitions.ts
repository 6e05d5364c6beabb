import type { Client } from './database.ts'

export type PartitionUnit = 'day' | 'month'

/** A table that is range-partitioned by time. */
export type PartitionedTable = {
  readonly name: string
  readonly unit: PartitionUnit
  /** Writes a time as a bound of the partition key: `'2026-01-01Z'`, or a UUID of that time. */
  readonly bound: (from: Date) => string
}

/** A partition by its name: `<table>_p20260131` or `<table>_p202601`. */
export type PartitionRange = { readonly name: string; readonly from: Date; readonly to: Date }

/** The least UUIDv7 of a moment: time-ordered ids partition by themselves. None is of a moment before 1970. */
export const uuidBound = (from: Date): string => {
  const time = Math.max(0, from.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** The range, in UTC, that lies `offset` units from the one around `at`. */
export const partitionRange = (
  { name, unit }: PartitionedTable,
  at: Date,
  offset: number,
): PartitionRange => {
  const start = (units: number): Date =>
    unit === 'month'
      ? new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + units, 1))
      : new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + units))
  const from = start(offset)
  const digits = from.toISOString().slice(0, unit === 'month' ? 7 : 10)
  return { name: `${name}_p${digits.replaceAll('-', '')}`, from, to: start(offset + 1) }
}

/** When a partition's range ends, in UTC, by its name: the unit may have been another when it was made. */
export const partitionEnd = (name: string): Date => {
  const [, year, month, day] = /_p(\d{4})(\d{2})(\d{2})?$/.exec(name) ?? []
  return day === undefined
    ? new Date(Date.UTC(Number(year), Number(month), 1))
    : new Date(Date.UTC(Number(year), Number(month) - 1, Number(day) + 1))
}

/**
 * Creates the missing partitions around now and ahead. Rows of a range without a partition are in the
 * default partition; if it holds some already, we do not create that partition. After a change of unit, days begin
 * behind the months that are there, and a month that has some of its days gets the others as days, too.
 *
 * @returns the names of those made
 */
export const ensurePartitions = async (
  sql: Client,
  table: PartitionedTable,
  unitsAhead: number,
  at: Date,
): Promise<readonly string[]> => {
  const made: string[] = []
  const existing = new Set(await partitionNames(sql, table))
  for (let offset = -1; offset <= unitsAhead; offset++) {
    const range = partitionRange(table, at, offset)
    if (existing.has(range.name)) continue
    const outcome = await create(sql, table, range)
    if (outcome === 'made') made.push(range.name)
    else if (outcome === 'overlaps' && table.unit === 'month') {
      made.push(...(await createDays(sql, table, range, existing)))
    }
  }
  return made
}

const createDays = async (
  sql: Client,
  table: PartitionedTable,
  month: PartitionRange,
  existing: ReadonlySet<string>,
): Promise<readonly string[]> => {
  const made: string[] = []
  const days = { ...table, unit: 'day' } as const
  for (let offset = 0; ; offset++) {
    const day = partitionRange(days, month.from, offset)
    if (day.from >= month.to) return made
    if (existing.has(day.name)) continue
    if ((await create(sql, table, day)) === 'made') made.push(day.name)
  }
}

const alreadyThere = '42P07'
const overlaps = '42P17'
const defaultHasRows = '23514'

const create = async (
  sql: Client,
  table: PartitionedTable,
  { name, from, to }: PartitionRange,
): Promise<'made' | 'overlaps' | 'refused'> => {
  try {
    await alterTable(
      sql,
      `create table ${name} partition of ${table.name}
       for values from ('${table.bound(from)}') to ('${table.bound(to)}')`,
    )
    return 'made'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === overlaps) return 'overlaps'
    if (code === alreadyThere || code === defaultHasRows) return 'refused'
    throw error
  }
}

/** All writers queue up behind a statement that waits for its lock, and a backup may hold that for hours. */
const lockTimeoutMs = 1_000

/**
 * Creates or drops a partition, which needs the whole table for a moment; gives up if it cannot get the lock soon.
 *
 * @throws PostgresError 55P03 when the table is in use: try again later
 */
export const alterTable = async (sql: Client, statement: string): Promise<void> => {
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}`)
    await tx.unsafe(statement)
  })
}

/** The names of the table's partitions other than the default, oldest first. */
export const partitionNames = async (
  sql: Client,
  { name }: PartitionedTable,
): Promise<readonly string[]> => {
  const rows = await sql<{ name: string }[]>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = to_regclass(${name}) and child.relname like ${`${name}\\_p%`}
    order by child.relname`
  return rows.map((row) => row.name)
}
