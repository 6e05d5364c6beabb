import type { Sql } from 'postgres'
import type { Logger } from '../observe/index.ts'

/** An index as a migration states it; `definition` is all that follows the table. */
export type TableIndex = {
  readonly name: string
  readonly table: string
  readonly isUnique: boolean
  readonly definition: string
}

const statementForm = /^CREATE (UNIQUE )?INDEX "(\w+)" ON "(\w+)" (USING [^;]+)$/

/** The indexes of a migration that only indexes tables that are there; undefined for any other. */
export const indexesOf = (migration: string): readonly TableIndex[] | undefined => {
  const statements = migration
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const indexes = statements.flatMap((statement): TableIndex[] => {
    const [, unique, name, table, definition] = statementForm.exec(statement) ?? []
    return name === undefined || table === undefined || definition === undefined
      ? []
      : [{ name, table, definition, isUnique: unique !== undefined }]
  })
  return indexes.length === statements.length && indexes.length > 0 ? indexes : undefined
}

/** Runs statements that take locks which writers wait for, in a transaction; it gives up when it has to wait long. */
type Locking = (statements: string) => Promise<unknown>

/**
 * Builds an index while others write to its table. PostgreSQL can do so outside a transaction only, and not for a
 * partitioned table: there each partition is indexed by itself, and the whole is valid when the last one is. It keeps
 * the indexes that an earlier attempt has finished, and builds the half-built ones anew.
 */
export const buildIndex = async (
  sql: Sql,
  index: TableIndex,
  logger: Logger,
  locking: Locking,
): Promise<void> => {
  const { name, table, isUnique, definition } = index
  if (!(await isPartitioned(sql, table))) return buildOnTable(sql, index, logger)
  const state = await stateOf(sql, name)
  if (state === 'valid') return
  if (state === undefined) {
    await locking(
      `create ${isUnique ? 'unique ' : ''}index "${name}" on only "${table}" ${definition}`,
    )
  }
  for (const partition of await partitionsWithout(sql, index)) {
    const part = { ...index, table: partition, name: partName(index, partition) }
    await buildOnTable(sql, part, logger)
    // Locks the table first, as the maker of a partition does: it then waits for us, or we for it.
    await locking(
      `lock table only "${table}" in access share mode;
       alter index "${name}" attach partition "${part.name}"`,
    )
  }
}

const buildOnTable = async (
  sql: Sql,
  { name, table, isUnique, definition }: TableIndex,
  logger: Logger,
): Promise<void> => {
  const state = await stateOf(sql, name)
  if (state === 'valid') return
  if (state === 'invalid') await sql.unsafe(`drop index concurrently "${name}"`)
  logger.info({ index: name, table }, 'an index is built; writes go on')
  // At its end it waits for every older transaction, even a backup's: giving up would throw away all its work.
  await sql`set lock_timeout = 0`
  await sql.unsafe(
    `create ${isUnique ? 'unique ' : ''}index concurrently "${name}" on "${table}" ${definition}`,
  )
}

const isPartitioned = async (sql: Sql, table: string): Promise<boolean> => {
  const [row] = await sql`select relkind from pg_class where oid = to_regclass(${table})`
  return row?.['relkind'] === 'p'
}

const stateOf = async (sql: Sql, name: string): Promise<'valid' | 'invalid' | undefined> => {
  const [row] = await sql`select indisvalid from pg_index where indexrelid = to_regclass(${name})`
  if (row === undefined) return undefined
  return row['indisvalid'] === true ? 'valid' : 'invalid'
}

/** The partitions whose part of the index is missing or not attached; one made meanwhile comes with its own. */
const partitionsWithout = async (
  sql: Sql,
  { name, table }: TableIndex,
): Promise<readonly string[]> => {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_inherits partition
    join pg_class on pg_class.oid = partition.inhrelid
    where partition.inhparent = to_regclass(${table}) and not exists (
      select from pg_inherits part join pg_index on pg_index.indexrelid = part.inhrelid
      where part.inhparent = to_regclass(${name}) and pg_index.indrelid = partition.inhrelid
    ) order by relname`
  return rows.map((row) => row.name)
}

/** `spi_messages_status` of `spi_messages_p202601` is `spi_messages_p202601_status`. */
const partName = ({ name, table }: TableIndex, partition: string): string =>
  name.startsWith(`${table}_`) ? `${partition}${name.slice(table.length)}` : `${partition}_${name}`
