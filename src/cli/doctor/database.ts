import {
  type Client,
  isSameDatabase,
  type Migration,
  openDatabase,
  pendingMigrations,
  writeOnce,
} from '#src/platform/database/index.ts'
import { type Check, checkOf } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { LoadedProgram } from '../program.ts'
import { checkPooler } from './pooler.ts'
import { reasonOf } from './reason.ts'

const versionMin = 140_000
/** More skew than one round trip can explain. */
const skewWarnedMs = 1_000
const check = checkOf('Database')

export type DatabaseToCheck = {
  readonly dsn: string
  readonly setting: DatabaseSetting
  readonly migrations: readonly Migration[]
  /** Connections that a process opens at most. */
  readonly connectionsMax: number
  readonly logger: Logger
}

type DatabaseSetting = 'DATABASE_DSN' | 'CARDGW_DATABASE_URL'

/** The setting that names this database. */
export const settingOf = (
  dsn: string,
  { database }: Pick<LoadedProgram, 'database'>,
): DatabaseSetting => (dsn === database ? 'DATABASE_DSN' : 'CARDGW_DATABASE_URL')

/** The checks of the cards' database name it. */
export const ofDatabase = (setting: DatabaseSetting, checks: readonly Check[]): readonly Check[] =>
  setting === 'DATABASE_DSN'
    ? checks
    : checks.map((one) => ({ ...one, name: `${one.name} (${setting})` }))

/** Everything about one database: reachable, right version and schema, rights, room, clock, and what is in between. */
export const checkDatabase = async (options: DatabaseToCheck): Promise<readonly Check[]> =>
  ofDatabase(options.setting, await checksOf(options))

const checksOf = async (options: DatabaseToCheck): Promise<readonly Check[]> => {
  const { dsn, setting, migrations, logger } = options
  const database = openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs: 5_000, logger })
  const { sql } = database
  try {
    const [row] = await sql<{ number: number; version: string }[]>`
      select current_setting('server_version_num')::int as number,
        current_setting('server_version') as version`
    if ((row?.number ?? 0) < versionMin) {
      const detail = `PostgreSQL ${row?.version} is too old`
      return [check.failed(detail, 'use PostgreSQL 14 or newer')]
    }
    const pooler = await checkPooler(dsn, logger)
    const pending = await pendingMigrations(dsn, migrations)
    const schema: Check =
      pending.length === 0
        ? check.ok(`PostgreSQL ${row?.version} answers, the schema is up to date`)
        : check.warning(
            `PostgreSQL ${row?.version} answers; missing migrations: ${pending.length}`,
            'trilho migrate, or let serve do it at its start',
          )
    const rights = pending.length > 0 ? [] : [await checkRights(sql, options)]
    return [
      schema,
      ...pooler,
      ...rights,
      ...(pending.length > 0 ? [] : [await checkWrites(sql, setting)]),
      await checkRoom(sql, options.connectionsMax),
      await checkClock(sql),
    ]
  } catch (error) {
    return [unreachable(error, setting)]
  } finally {
    await database.close()
  }
}

/** Fails if the database of cards is the shared one by another name; no check otherwise. */
export const checkApart = async (
  [shared, cards]: readonly string[],
  logger: Logger,
): Promise<readonly Check[]> => {
  if (shared === undefined || cards === undefined) return []
  if (!(await isSameDatabase(shared, cards, logger))) return []
  const detail = 'leads to the database of DATABASE_DSN'
  return [checkOf('CARDGW_DATABASE_URL').failed(detail, 'take it out')]
}

const unreachable = (error: unknown, setting: DatabaseSetting): Check => {
  const detail = reasonOf(error)
  const fix = detail.includes('unsupported startup parameter')
    ? 'PgBouncer is between: add statement_timeout to its ignore_startup_parameters, or connect directly'
    : `check ${setting}, the server, and the network between`
  return check.failed(detail, fix)
}

/** The tables that nobody may change or remove rows from. */
const appendOnly: ReadonlySet<string> = new Set(['audit_log'])

/** Whether this role may do with our tables what the program does with them. */
const checkRights = async (
  sql: Client,
  { setting, migrations }: DatabaseToCheck,
): Promise<Check> => {
  const check = checkOf('Database rights')
  const text = migrations.map((migration) => migration.sql).join('\n')
  const isOurs = (table: string): boolean =>
    text.includes(`"${table}"`) || text.includes(` ${table} `)
  const rows = await sql<{ table: string; whole: string; missing: string[]; owned: boolean }[]>`
    select relname as table, coalesce(pg_partition_root(oid), oid)::regclass::text as whole, array(
        select right_name from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as right_name
        where not has_table_privilege(oid, right_name)
      ) as missing, pg_has_role(relowner, 'USAGE') as owned
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`
  const lacking = rows
    .filter(({ table }) => isOurs(table))
    .flatMap(({ table, missing }) => {
      const needed = missing.filter((right) => !appendOnly.has(table) || right.endsWith('T'))
      return needed.length === 0 ? [] : [`${needed.join(', ')} on ${table}`]
    })
  // A partition is dropped by its owner alone, and made by that of its table.
  const [foreign, ...others] = rows.filter(({ owned, whole }) => !owned && isOurs(whole))
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const owning =
    foreign === undefined
      ? []
      : [`to own ${foreign.table}${more} (partitions, retention, migrations)`]
  const [schema] = await sql<{ create: boolean }[]>`
    select has_schema_privilege(current_schema(), 'CREATE') as create`
  const making = schema?.create === true ? [] : ['CREATE on the schema (partitions, migrations)']
  const all = [...lacking, ...owning, ...making]
  if (all.length === 0) return check.ok('all that is needed')
  return check.failed(
    `missing: ${all.join('; ')}`,
    `let the role of ${setting} own the tables, or be a member of the role that does`,
  )
}

/** Writes, and takes it back. */
const checkWrites = async (sql: Client, setting: DatabaseSetting): Promise<Check> => {
  const check = checkOf('Database writes')
  try {
    await writeOnce(sql)
    return check.ok('a row can be written')
  } catch (error) {
    return check.failed(
      `no row can be written: ${reasonOf(error)}`,
      `connect to the primary (several hosts in ${setting} find it), make room on its disk, or grant the right`,
    )
  }
}

/** A row of pg_stat_activity is of a client. The server does not tell every role the kind of another's session. */
export const isClient = (sql: Client) =>
  sql`(backend_type = 'client backend' or backend_type is null and usesysid is not null)`

const checkRoom = async (sql: Client, connectionsMax: number): Promise<Check> => {
  const check = checkOf('Database connections')
  const [row] = await sql<{ room: number; used: number }[]>`
    select least(
        current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int,
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
      ) as room, (
        select count(*)::int from pg_stat_activity
        where ${isClient(sql)} and pid <> pg_backend_pid()
      ) as used`
  const { room = 0, used = 0 } = row ?? {}
  const detail = `one process opens up to ${connectionsMax}, of the ${room} that the server grants ${used} are in use`
  if (connectionsMax <= room - used) return check.ok(detail)
  return check[connectionsMax > room ? 'failed' : 'warning'](
    detail,
    'lower TRILHO_DATABASE_CONNECTIONS, or raise max_connections (or the limit of the role or database)',
  )
}

const checkClock = async (sql: Client): Promise<Check> => {
  const check = checkOf('Clock')
  const beforeMs = Date.now()
  const [row] = await sql<{ ms: number }[]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
  const skewMs = Math.round((row?.ms ?? 0) - (beforeMs + Date.now()) / 2)
  const detail = `the database's is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`
  if (Math.abs(skewMs) <= skewWarnedMs) return check.ok(detail)
  return check.warning(detail, 'synchronise both by NTP (chrony, systemd-timesyncd)')
}
