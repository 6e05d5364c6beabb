import { dayMs } from '#src/platform/runtime/index.ts'
import type { Logger } from '../observe/index.ts'
import { archiveTable } from './archive.ts'
import { deletedMax, deleteInBatches, type Lasting } from './batches.ts'
import type { Client, Queryable } from './database.ts'
import { textArray } from './fragments.ts'
import { alterTable, type PartitionedTable, partitionEnd, partitionNames } from './partitions.ts'

/** Tables that are partitioned alike, by the same ids: a partition of each goes together. */
type Retained = {
  /** The first tells what is open. */
  readonly tables: readonly [PartitionedTable, ...PartitionedTable[]]
  /** The column of each table's key. */
  readonly keys: Readonly<Record<string, string>>
  /** For a `where` on the first table: selects rows that must not go, however old. */
  readonly isOpen: (sql: Queryable) => ReturnType<Client>
  /** Called with keys of the first table before their rows go. */
  readonly beforeGone?: (sql: Queryable, keys: readonly string[]) => Promise<void>
}

type DropDeps = {
  readonly sql: Client
  /** Where partitions are written before they go; undefined: nowhere. */
  readonly archiveDirectory: string | undefined
  readonly logger: Logger
}

export type RetentionDeps = DropDeps & { readonly days: number }

/** By the clock of the database: a process whose own clock is wrong would delete rows for good. */
export const daysAgo = async (sql: Queryable, days: number): Promise<Date> => {
  const [{ now } = { now: new Date(0) }] = await sql<{ now: Date }[]>`
    select clock_timestamp() as now`
  return new Date(now.getTime() - days * dayMs)
}

/**
 * Drops the partitions that lie wholly before then, oldest first. Deletes the rows of that time from the default ones,
 * and then those rows of the later tables whose row of the first table is gone.
 */
export const dropExpired = async (
  deps: DropDeps,
  retained: Retained,
  before: Date,
  round?: Lasting,
): Promise<readonly string[]> => {
  const { sql } = deps
  const [first] = retained.tables
  const dropped: string[] = []
  for (const name of await partitionNames(sql, first)) {
    if (partitionEnd(name) > before || round?.signal.aborted) break
    if (await mayGo(deps, retained, name)) {
      dropped.push(...(await dropTogether(deps, retained, name, round)))
    }
  }
  await emptyDefaults(deps, retained, before, round)
  dropped.push(...(await emptyOthers(deps, retained, before, round)))
  return dropped
}

const mayGo = async (
  { sql, logger }: Pick<DropDeps, 'sql' | 'logger'>,
  { isOpen }: Pick<Retained, 'isOpen'>,
  name: string,
): Promise<boolean> => {
  const open = await sql`select from ${sql(name)} where ${isOpen(sql)} limit 1`
  if (open.count === 0) return true
  logger.warn({ partition: name }, 'is past its retention, but holds what is open')
  return false
}

/**
 * The first table's partition goes last: after a failure, it leads us to what is left. The archive may take hours, in
 * which somebody may have a message sent again: we ask anew after each step.
 */
const dropTogether = async (
  deps: DropDeps,
  retained: Retained,
  name: string,
  round: Lasting | undefined,
): Promise<readonly string[]> => {
  const { sql, archiveDirectory, logger } = deps
  const { tables, beforeGone } = retained
  const suffix = name.slice(tables[0].name.length)
  const parts: string[] = []
  for (const table of tables) {
    const part = `${table.name}${suffix}`
    if ((await partitionNames(sql, table)).includes(part)) parts.push(part)
  }
  if (archiveDirectory !== undefined) {
    for (const part of parts) {
      await archiveTable({ sql, logger }, { name: part, directory: archiveDirectory }, round)
    }
    if (!(await mayGo(deps, retained, name))) return []
  }
  if (beforeGone !== undefined) {
    await closedInKeyOrder(retained, sql, name, async (some) => {
      await beforeGone(sql, some)
      round?.advance()
    })
    if (!(await mayGo(deps, retained, name))) return []
  }
  for (const part of parts.reverse()) {
    await alterTable(sql, `drop table ${part}`)
    logger.info({ partition: part, archived: archiveDirectory !== undefined }, 'past its retention')
  }
  return parts
}

/**
 * Unlike a cursor, it holds no connection between the parts. A row that became open keeps its month, and is left out.
 */
const closedInKeyOrder = async (
  { tables, keys, isOpen }: Retained,
  sql: Client,
  name: string,
  each: (keys: readonly string[]) => Promise<void>,
): Promise<void> => {
  const key = sql(keys[tables[0].name] ?? '')
  let rows: readonly { readonly key: string }[]
  let after: string | undefined
  do {
    rows = await sql<{ key: string }[]>`
      select ${key}::text as key from ${sql(name)}
      where not (${isOpen(sql)}) ${after === undefined ? sql`` : sql`and ${key} > ${after}`}
      order by ${sql(name)}.${key} limit ${deletedMax}`
    after = rows.at(-1)?.key
    await each(rows.map((row) => row.key))
  } while (rows.length === deletedMax)
}

/** Rows are there whose partition was missing when they came. */
const emptyDefaults = async (
  { sql, archiveDirectory, logger }: DropDeps,
  { tables, keys, isOpen, beforeGone }: Retained,
  before: Date,
  round: Lasting | undefined,
): Promise<void> => {
  const [first, ...others] = tables
  const key = sql(keys[first.name] ?? '')
  const bound = first.bound(before)
  const [old] = await sql`
    select from ${sql(`${first.name}_default`)}
    where ${key} < ${bound} and not (${isOpen(sql)}) limit 1`
  if (old === undefined) return
  if (archiveDirectory !== undefined) {
    for (const { name } of tables) {
      await archiveAgain({ sql, logger }, `${name}_default`, archiveDirectory, round)
    }
  }
  const gone = await deleteInBatches(
    () =>
      sql.begin(async (tx) => {
        const rows = await tx<{ key: string }[]>`
          select ${key}::text as key from ${tx(`${first.name}_default`)}
          where ${key} < ${bound} and not (${isOpen(tx)}) order by ${key} limit ${deletedMax}`
        const list = rows.map((row) => row.key)
        if (list.length > 0) await beforeGone?.(tx, list)
        for (const { name } of [...others, first]) {
          await tx`
            delete from ${tx(`${name}_default`)}
            where ${tx(keys[name] ?? '')} = any(${list}::uuid[])`
        }
        return rows.length
      }),
    round,
  )
  logger.info({ table: first.name, rows: gone }, 'past their retention')
}

/** The next file holds again what stays in the table. */
const archiveAgain = (
  deps: Pick<DropDeps, 'sql' | 'logger'>,
  name: string,
  directory: string,
  round: Lasting | undefined,
): Promise<void> => {
  const at = new Date().toISOString().replace(/\D/g, '')
  return archiveTable(deps, { name, directory, file: `${name}_${at}` }, round)
}

/**
 * Partitions are made table by table: where that failed for some, rows of one range lie in a partition of one table and
 * in the default one of another, and do not go together. That may be so in the default partitions, and in those that
 * the first table has no like of.
 */
const emptyOthers = async (
  deps: DropDeps,
  retained: Retained,
  before: Date,
  round: Lasting | undefined,
): Promise<readonly string[]> => {
  const { sql, archiveDirectory, logger } = deps
  const [first, ...others] = retained.tables
  const suffixOf = ({ name }: PartitionedTable, part: string) => part.slice(name.length)
  const shared = (await partitionNames(sql, first)).map((part) => suffixOf(first, part))
  const dropped: string[] = []
  for (const table of others) {
    await deleteOrphans(deps, retained, { table, part: `${table.name}_default`, before }, round)
    for (const part of await partitionNames(sql, table)) {
      if (shared.includes(suffixOf(table, part))) continue
      await deleteOrphans(deps, retained, { table, part, before }, round)
      const isOver = partitionEnd(part) <= before
      if (!isOver || (await sql`select from ${sql(part)} limit 1`).count > 0) continue
      await alterTable(sql, `drop table ${part}`)
      logger.info(
        { partition: part, archived: archiveDirectory !== undefined },
        'past its retention',
      )
      dropped.push(part)
    }
  }
  return dropped
}

type Searched = {
  readonly table: PartitionedTable
  readonly part: string
  readonly before: Date
}

/** Deletes the old rows of a part whose row of the first table is gone; rows of an open one stay with it. */
const deleteOrphans = async (
  { sql, archiveDirectory, logger }: DropDeps,
  { tables, keys }: Retained,
  { table, part, before }: Searched,
  round: Lasting | undefined,
): Promise<void> => {
  const firstKey = sql(keys[tables[0].name] ?? '')
  const key = sql(keys[table.name] ?? '')
  let [deleted, after] = [0, '']
  const some = async (): Promise<number> => {
    const rows = await sql<{ key: string }[]>`
      select distinct ${key} as key from ${sql(part)}
      where ${key} < ${table.bound(before)} ${after === '' ? sql`` : sql`and ${key} > ${after}`}
      order by ${key} limit ${deletedMax}`
    after = rows.at(-1)?.key ?? after
    const given = textArray(rows.map((row) => row.key))
    const there = await sql<{ key: string }[]>`
      select found.key from unnest(${given}::text::uuid[]) as given(key)
      cross join lateral (
        select ${firstKey} as key from ${sql(tables[0].name)} where ${firstKey} = given.key limit 1
      ) found`
    const kept = new Set(there.map((row) => row.key))
    const gone = rows.map((row) => row.key).filter((one) => !kept.has(one))
    if (gone.length === 0) return rows.length
    if (archiveDirectory !== undefined && deleted === 0) {
      await archiveAgain({ sql, logger }, part, archiveDirectory, round)
    }
    const { count } = await sql`
      delete from ${sql(part)} where ${key} = any(${gone}::uuid[])`
    deleted += count
    return rows.length
  }
  await deleteInBatches(some, round)
  if (deleted > 0) logger.info({ table: part, rows: deleted }, 'past their retention')
}
