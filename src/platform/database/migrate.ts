import { createHash } from 'node:crypto'
import postgres from 'postgres'
import type { Logger } from '../telemetry/index.ts'

/** One file of `drizzle/`: its number and name, and its statements. */
export type Migration = { readonly name: string; readonly sql: string }

/** The key of the advisory lock: any constant that nothing else on the server uses. */
const lockKey = 0x7472696c
const lockTimeoutMs = 120_000

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
  const sql = postgres(dsn, { max: 1, prepare: false, onnotice: () => {} })
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
    for (const { name, sql: text } of pending) {
      await sql.begin(async (transaction) => {
        await transaction.unsafe(text)
        await transaction`insert into schema_migrations (name, sha256) values (${name}, ${digest(text)})`
      })
      logger.info({ migration: name }, 'migration applied')
    }
    return pending.map(({ name }) => name)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The names of the migrations the database lacks. Changes nothing; refuses a newer schema. */
export const pendingMigrations = async (
  dsn: string,
  migrations: readonly Migration[],
): Promise<readonly string[]> => {
  const sql = postgres(dsn, { max: 1, prepare: false, onnotice: () => {} })
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
