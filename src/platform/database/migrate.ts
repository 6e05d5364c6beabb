import { createHash } from 'node:crypto'
import postgres from 'postgres'
import { createOutageLog, type Logger } from '../observe/index.ts'
import { namedConnection } from './session-name.ts'

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

/** The database holds a migration that this program does not know, or a known one with another text. */
export class SchemaMismatchError extends Error {
  override readonly name = 'SchemaMismatchError'
}

/**
 * Brings the schema up to date. Instances that start together wait for one another (advisory lock); each
 * migration is one transaction, recorded with its digest. A newer schema is refused: an old program must not
 * write into it.
 *
 * @returns the names applied now
 */
export const migrate = async (
  dsn: string,
  migrations: readonly Migration[],
  logger: Logger,
): Promise<readonly string[]> => {
  const sql = openForMigrations(dsn)
  try {
    await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, false)`
    await sql`select pg_advisory_lock(${lockKey})`
    await sql`create table if not exists schema_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`
    const done = await sql<{ name: string; sha256: string }[]>`
      select name, sha256 from schema_migrations`
    const applied = new Map(done.map(({ name, sha256 }) => [name, sha256]))
    refuseMismatch(applied, migrations)
    const pending = migrations.filter(({ name }) => !applied.has(name))
    for (const migration of pending) {
      await applyInTurns(sql, migration, logger)
      logger.info({ migration: migration.name }, 'migration applied')
    }
    return pending.map(({ name }) => name)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const openForMigrations = (given: string): postgres.Sql => {
  const { dsn, hosts } = namedConnection(given)
  return postgres(dsn, { ...hosts, max: 1, prepare: false, onnotice: () => {} })
}

/** @throws what the migration throws, and the server's refusal when its tables have been in use for too long */
const applyInTurns = async (
  sql: postgres.Sql,
  { name, sql: text }: Migration,
  logger: Logger,
): Promise<void> => {
  const endMs = performance.now() + lockTimeoutMs
  const outage = createOutageLog(logger, {
    level: 'warn',
    away: 'a migration needs tables that are in use: trying again',
    back: 'the tables of the migration are free',
    about: { migration: name },
  })
  for (;;) {
    try {
      await sql.begin(async (transaction) => {
        await transaction.unsafe(`set local lock_timeout = ${tableLockTimeoutMs}`)
        await transaction.unsafe(text)
        await transaction`insert into schema_migrations (name, sha256) values (${name}, ${digest(text)})`
      })
      outage.worked()
      return
    } catch (error) {
      const isInUse = error instanceof Error && 'code' in error && error.code === tableInUse
      if (!isInUse || performance.now() > endMs) throw error
      outage.failed(error)
      await Bun.sleep(giveWayMs)
    }
  }
}

/** The names of the migrations the database lacks. Changes nothing; refuses a newer schema. */
export const pendingMigrations = async (
  dsn: string,
  migrations: readonly Migration[],
): Promise<readonly string[]> => {
  const sql = openForMigrations(dsn)
  try {
    const [table] = await sql`select to_regclass('schema_migrations') as name`
    const done =
      table?.['name'] === null
        ? []
        : await sql<{ name: string; sha256: string }[]>`select name, sha256 from schema_migrations`
    const applied = new Map(done.map(({ name, sha256 }) => [name, sha256]))
    refuseMismatch(applied, migrations)
    return migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const refuseMismatch = (
  applied: ReadonlyMap<string, string>,
  migrations: readonly Migration[],
): void => {
  const known = new Map(migrations.map(({ name, sql }) => [name, digest(sql)]))
  for (const [name, sha256] of applied) {
    if (!known.has(name)) {
      throw new SchemaMismatchError(
        `the database has the migration ${name}, which this version does not know: run a newer version`,
      )
    }
    if (known.get(name) !== sha256) {
      throw new SchemaMismatchError(`the migration ${name} was applied with another text`)
    }
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
