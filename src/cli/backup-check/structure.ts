import { type Client, type Migration, pendingMigrations } from '#src/platform/database/index.ts'
import { type Check, checkOf } from '#src/platform/lifecycle/index.ts'
import { hasCode } from '#src/platform/runtime/index.ts'
import { isClient } from '../doctor/database.ts'
import { reasonOf } from '../doctor/reason.ts'

/** The schema is the one of this version: a copy that was cut off lacks its last migrations, or all. */
export const checkSchema = async (
  dsn: string,
  migrations: readonly Migration[],
  setting: string,
): Promise<Check> => {
  const check = checkOf('Schema')
  try {
    const pending = await pendingMigrations(dsn, migrations)
    if (pending.length === 0) return check.ok('every migration is there')
    const isEmpty = pending.length === migrations.length
    return check.failed(
      isEmpty ? 'it is empty' : `missing migrations: ${pending.length}`,
      'restore again, or check with the version that made the copy',
    )
  } catch (error) {
    const fix = `check ${setting}, and check with the version that made the copy`
    return check.failed(reasonOf(error), fix)
  }
}

/** A process that works on the copy already sends what it takes for open. */
export const checkAlone = async (sql: Client): Promise<Check> => {
  const check = checkOf('Nobody works on it')
  const rows = await sql<{ application: string }[]>`
    select distinct coalesce(nullif(application_name, ''), usename, '?') as application
    from pg_stat_activity
    where datname = current_database() and ${isClient(sql)}
      and application_name <> current_setting('application_name')
    order by 1`
  if (rows.length === 0) return check.ok('there is no other session')
  return check.failed(
    `sessions of ${rows.map(({ application }) => application).join(', ')}`,
    'stop every gateway until the books are reconciled',
  )
}

/** Indexes and constraints by their names. If a table's are there and valid, so are those of its partitions. */
export const structureOf = async (sql: Client): Promise<readonly string[]> => {
  const rows = await sql<{ what: string }[]>`
    with tables as (
      select oid, relname from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and not relispartition)
    select 'index ' || named.relname || ' on ' || tables.relname as what
    from tables join pg_index on indrelid = tables.oid join pg_class named on named.oid = indexrelid
    where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    union all
    select 'constraint ' || conname || ' on ' || tables.relname
    from tables join pg_constraint on conrelid = tables.oid and contype in ('c', 'f', 'p', 'u', 'x')`
  return rows.map(({ what }) => what).sort()
}

/** A restore that ended early leaves indexes and constraints out, or not valid. */
export const checkConstraints = async (
  sql: Client,
  structure: readonly string[],
): Promise<Check> => {
  const check = checkOf('Indexes and constraints')
  const rows = await sql<{ what: string }[]>`
    select 'index ' || indexrelid::regclass as what from pg_index
    where not indisvalid and indrelid::regclass::text !~ '^pg_' and indexrelid in (
      select oid from pg_class where relnamespace = current_schema()::regnamespace)
    union all
    select 'constraint ' || conname from pg_constraint
    where not convalidated and connamespace = current_schema()::regnamespace
    order by 1`
  const there = new Set(await structureOf(sql))
  const faults = [
    ...structure.filter((what) => !there.has(what)).map((what) => `no ${what}`),
    ...rows.map(({ what }) => `${what} is not valid`),
  ]
  if (faults.length === 0) return check.ok('all are there, and valid')
  return check.failed(
    faults.join(', '),
    'restore again; the output of psql or pg_restore names what failed',
  )
}

/** A sequence that is behind its table gives numbers out again. */
export const checkSequences = async (sql: Client): Promise<Check> => {
  const check = checkOf('Sequences')
  const owned = await sql<{ sequence: string; table: string; column: string }[]>`
    select seq.oid::regclass::text as sequence, dep.refobjid::regclass::text as table,
      att.attname as column
    from pg_class seq
      join pg_depend dep on dep.objid = seq.oid and dep.deptype in ('a', 'i')
        and dep.classid = 'pg_class'::regclass
      join pg_attribute att on att.attrelid = dep.refobjid and att.attnum = dep.refobjsubid
    where seq.relkind = 'S' and seq.relnamespace = current_schema()::regnamespace`
  const behind: string[] = []
  for (const { sequence, table, column } of owned) {
    const [row] = await sql.unsafe<{ isBehind: boolean }[]>(
      `select coalesce(max("${column}") >= (select last_value + is_called::int from ${sequence}), false) as "isBehind" from ${table}`,
    )
    if (row?.isBehind) behind.push(sequence)
  }
  if (behind.length === 0) return check.ok('none is behind its table')
  return check.failed(
    `behind their tables: ${behind.join(', ')}`,
    'restore again with the sequences, or setval each to the largest number of its table',
  )
}

/** A large table is read in parts, so that a statement ends and progress shows. */
const pagesAtOnce = 16_384

/** The role may not read the pages, which says nothing about them. */
const insufficientPrivilege = '42501'

const readPages = async (
  sql: Client,
  table: string,
  pages: number,
  advance: (pages: number) => void,
): Promise<void> => {
  for (let from = 0; from < pages; from += pagesAtOnce) {
    const to = Math.min(pages, from + pagesAtOnce)
    await sql.unsafe(
      `select count(*) from ${table} where ctid >= '(${from},0)' and ctid < '(${to},0)'`,
    )
    advance(to - from)
  }
}

/** Every page of every table is read: where the cluster has checksums, damage is found. */
export const checkPages = async (
  sql: Client,
  onProgress: (pages: number, total: number) => void,
): Promise<Check> => {
  const check = checkOf('Pages')
  const tables = await sql<{ table: string; pages: number }[]>`
    select oid::regclass::text as table,
      (pg_relation_size(oid) / current_setting('block_size')::int)::int as pages
    from pg_class
    where relkind in ('r', 't') and pg_relation_size(oid) > 0 and (
      relnamespace = current_schema()::regnamespace
      or oid in (select reltoastrelid from pg_class where relnamespace = current_schema()::regnamespace))
    order by 1`
  const total = tables.reduce((sum, { pages }) => sum + pages, 0)
  let done = 0
  const advance = (pages: number): void => {
    done += pages
    onProgress(done, total)
  }
  const closed: string[] = []
  for (const { table, pages } of tables) {
    try {
      await readPages(sql, table, pages, advance)
    } catch (error) {
      if (hasCode(error, insufficientPrivilege)) {
        closed.push(table)
        continue
      }
      const fix = 'restore from another copy, and have the disk looked at'
      return check.failed(`${table}: ${reasonOf(error)}`, fix)
    }
  }
  const [row] = await sql<{ on: string }[]>`select current_setting('data_checksums') as on`
  if (closed.length > 0) {
    return check.warning(
      `${done} of ${total} can be read; ${closed.length} of ${tables.length} tables are closed to the role, such as ${closed[0]}`,
      'grant pg_read_all_data to the role of DATABASE_DSN (the owner of a table may not read its long values in pg_toast), and check again',
    )
  }
  const detail = `all ${total} of ${tables.length} tables can be read`
  if (row?.on === 'on') return check.ok(`${detail}, with checksums`)
  return check.warning(
    `${detail}; the cluster has no checksums`,
    'initdb --data-checksums, or pg_checksums --enable while the server is stopped',
  )
}
