import { createHash } from 'node:crypto'
import postgres from 'postgres'
import { createOutageLog, type Logger } from '../observe/index.ts'
import { buildIndex, indexesOf } from './indexes.ts'
import { namedConnection } from './session-name.ts'
import { sessionSettings } from './session-settings.ts'
import { silenceMaxMs } from './transactions.ts'

/** One file of `drizzle/`: its number and name, and its statements. */
export type Migration = { readonly name: string; readonly sql: string }

/** The key of the advisory lock: any constant that nothing else on the server uses. */
const lockKey = 0x7472696c
const lockTimeoutMs = 120_000
/**
 * All writers of a table queue up behind a migration that waits for it, and a backup may hold it for hours: a migration
 * waits a little, gives way, and tries again.
 */
const tableLockTimeoutMs = 1_000
const giveWayMs = 1_000
const tableInUse = '55P03'
/** Building an index waits for transactions, and one of an older version for the lock that we hold meanwhile. */
const deadlock = '40P01'
const inUse: readonly unknown[] = [tableInUse, deadlock]
const lockPollMs = 100

/** The first line of a migration after which programs that do not know it may go on, or start again. */
const expandMark = '-- expand'

/** `contract`: a program that does not know the migration must not run on it. */
type MigrationKind = 'expand' | 'contract'

const kindOf = (text: string): MigrationKind =>
  text.startsWith(`${expandMark}\n`) ? 'expand' : 'contract'

/** The database holds a migration that this program does not know and cannot run on, or a known one with another text. */
export class SchemaMismatchError extends Error {
  override readonly name = 'SchemaMismatchError'
}

/**
 * Brings the schema up to date. Instances that lack a migration wait for one another (advisory lock); an instance that
 * lacks none waits for nobody. Each migration is one transaction, recorded with its digest and its kind, except those
 * that only index tables: such an index is built while others write, and an interrupted one goes on with what is
 * missing. A newer schema is left as it is if all that is newer only adds to it, and refused otherwise: an old program
 * must not write into it.
 *
 * @param onProgress - told after each, of all that are missing
 * @returns the names applied now
 */
export const migrate = async (
  dsn: string,
  migrations: readonly Migration[],
  logger: Logger,
  onProgress?: (done: number, total: number) => void,
): Promise<readonly string[]> => {
  const sql = openForMigrations(dsn)
  try {
    await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, false)`
    let compared = await compare(sql, migrations)
    if (compared.pending.length > 0) {
      await waitForOthers(sql)
      await sql`create table if not exists schema_migrations (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now(),
        kind text
      )`
      await addKind(sql)
      compared = await compare(sql, migrations)
    }
    const { pending, newer } = compared
    if (newer.length > 0) {
      logger.info({ migrations: newer }, 'the schema is newer, and this version can run on it')
    }
    for (const [at, migration] of pending.entries()) {
      await applyInTurns(sql, migration, logger)
      logger.info({ migration: migration.name }, 'migration applied')
      onProgress?.(at + 1, pending.length)
    }
    return pending.map(({ name }) => name)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/**
 * Asks again and again: a session that waits inside a statement holds a snapshot, for which the builder of an index
 * waits in turn.
 *
 * @throws Error when another has been migrating for too long
 */
const waitForOthers = async (sql: postgres.Sql): Promise<void> => {
  const endMs = performance.now() + lockTimeoutMs
  for (;;) {
    const [row] = await sql`select pg_try_advisory_lock(${lockKey}) as "isOurs"`
    if (row?.['isOurs'] === true) return
    if (performance.now() > endMs) throw new Error('another program is migrating the database')
    await Bun.sleep(lockPollMs)
  }
}

/**
 * The lock belongs to the session, and the driver opens another one without a word when it has lost one.
 *
 * @throws Error when the session does not hold the lock
 */
const demandLock = async (sql: postgres.Sql | postgres.TransactionSql): Promise<void> => {
  const held = await sql`
    select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and granted
      and (classid, objid, objsubid) = (0, ${lockKey}, 1)`
  if (held.length > 0) return
  throw new Error(
    'the session that had the lock of migrations was lost, and another program may be migrating: migrate again',
  )
}

/** The driver would replace a connection of its own accord after half an hour, which a migration may last. */
const openForMigrations = (given: string): postgres.Sql => {
  const { dsn, hosts } = namedConnection(given)
  return postgres(dsn, {
    ...hosts,
    max: 1,
    max_lifetime: null,
    prepare: false,
    connection: sessionSettings,
    onnotice: () => {},
  })
}

/** @throws what the migration throws, and the server's refusal when its tables have been in use for too long */
const applyInTurns = async (
  sql: postgres.Sql,
  migration: Migration,
  logger: Logger,
): Promise<void> => {
  const endMs = performance.now() + lockTimeoutMs
  const outage = createOutageLog(logger, {
    level: 'warn',
    away: 'a migration needs tables that are in use: trying again',
    back: 'the tables of the migration are free',
    about: { migration: migration.name },
  })
  for (;;) {
    try {
      await apply(sql, migration, logger)
      outage.worked()
      return
    } catch (error) {
      const isInUse = error instanceof Error && 'code' in error && inUse.includes(error.code)
      if (!isInUse || performance.now() > endMs) throw error
      outage.failed(error)
      await Bun.sleep(giveWayMs)
    }
  }
}

const apply = async (
  sql: postgres.Sql,
  { name, sql: text }: Migration,
  logger: Logger,
): Promise<void> => {
  const soon = <T>(work: (transaction: postgres.TransactionSql) => Promise<T>) =>
    sql.begin(async (transaction) => {
      await transaction.unsafe(
        `set local lock_timeout = ${tableLockTimeoutMs};
         set local idle_in_transaction_session_timeout = ${silenceMaxMs}`,
      )
      await demandLock(transaction)
      return work(transaction)
    })
  const indexes = indexesOf(text)
  for (const index of indexes ?? []) {
    await demandLock(sql)
    await buildIndex(sql, index, logger, (statement) =>
      soon((transaction) => transaction.unsafe(statement)),
    )
  }
  await soon(async (transaction) => {
    if (indexes === undefined) await transaction.unsafe(text)
    await transaction`insert into schema_migrations (name, sha256, kind)
      values (${name}, ${digest(text)}, ${kindOf(text)})`
  })
}

/** Adds the column that older versions of the program did not have. If it is there, it takes no lock. */
const addKind = async (sql: postgres.Sql): Promise<void> => {
  const found = await sql`
    select from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'kind'`
  if (found.length === 0) await sql`alter table schema_migrations add column kind text`
}

type Applied = ReadonlyMap<string, { readonly sha256: string; readonly kind: string | null }>

/** Older versions of the program did not record kinds: their table lacks the column. */
const appliedTo = async (sql: postgres.Sql): Promise<Applied> => {
  const rows = await sql<{ name: string; sha256: string; kind: string | null }[]>`
    select name, sha256, to_jsonb(schema_migrations) ->> 'kind' as kind
    from schema_migrations order by name`
  return new Map(rows.map(({ name, ...about }) => [name, about]))
}

/** The names of the migrations the database lacks. Changes nothing; refuses a newer schema that we cannot run on. */
export const pendingMigrations = async (
  dsn: string,
  migrations: readonly Migration[],
): Promise<readonly string[]> => {
  const sql = openForMigrations(dsn)
  try {
    return (await compare(sql, migrations)).pending.map(({ name }) => name)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

type Compared = {
  readonly pending: readonly Migration[]
  /** The names that this version does not know and can run on. */
  readonly newer: readonly string[]
}

/** Changes nothing, and needs no lock. @throws SchemaMismatchError */
const compare = async (sql: postgres.Sql, migrations: readonly Migration[]): Promise<Compared> => {
  const [table] = await sql`select to_regclass('schema_migrations') as name`
  const applied: Applied = table?.['name'] === null ? new Map() : await appliedTo(sql)
  const newer = refuseMismatch(applied, migrations)
  return { pending: migrations.filter(({ name }) => !applied.has(name)), newer }
}

/** @returns the names that this version does not know and can run on */
const refuseMismatch = (applied: Applied, migrations: readonly Migration[]): readonly string[] => {
  const known = new Map(migrations.map(({ name, sql }) => [name, digest(sql)]))
  const newer: string[] = []
  for (const [name, { sha256, kind }] of applied) {
    if (known.has(name)) {
      if (known.get(name) === sha256) continue
      throw new SchemaMismatchError(`the migration ${name} was applied with another text`)
    }
    if (kind !== 'expand') {
      throw new SchemaMismatchError(
        `the database has the migration ${name}, which this version does not know and cannot run on: run a newer version`,
      )
    }
    newer.push(name)
  }
  return newer
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
