import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, openDatabase } from '#src/platform/database/index.ts'
import { quietLogger, startCluster } from './kept-cluster.ts'

/** A PostgreSQL of this machine. `bin` is undefined for the one that comes with the program. */
export type Engine = { readonly name: string; readonly bin: string | undefined }

const debian = '/usr/lib/postgresql'

const systemBins = existsSync(debian)
  ? readdirSync(debian).map((version) => join(debian, version, 'bin'))
  : []
const givenBins = (process.env['TEST_POSTGRES_BINS'] ?? '').split(':')

const versionOf = (bin: string): string =>
  spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.trim()

/**
 * The engines that page budgets are held on: the program's own, the system's, and those whose `bin` directories
 * TEST_POSTGRES_BINS lists, separated by colons.
 */
export const engines: readonly Engine[] = [
  { name: 'the PostgreSQL of the program', bin: undefined },
  ...[...systemBins, ...givenBins]
    .filter((bin) => bin !== '' && existsSync(join(bin, 'postgres')))
    .map((bin) => ({ name: versionOf(bin), bin })),
]

export type RunningEngine = AsyncDisposable & {
  readonly dsn: string
  readonly pid: number
  readonly open: (connectionsMax?: number) => { readonly sql: Client; close(): Promise<void> }
}

/** Starts a server that counts what each statement reads and analyzes nothing by itself; its database has the schema. */
export const startEngine = async (
  { bin }: Engine,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningEngine> => {
  const server = await startCluster({
    bin,
    settings: {
      autovacuum: 'off',
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track': 'all',
      ...settings,
    },
  })
  const open: RunningEngine['open'] = (connectionsMax = 1) =>
    openDatabase({
      dsn: server.url,
      connectionsMax,
      statementTimeoutMs: 60_000,
      logger: quietLogger,
    })
  const { sql, close } = open()
  await sql`create extension pg_stat_statements`
  await close()
  return {
    dsn: server.url,
    pid: server.pid,
    open,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      for (const path of server.directories) rmSync(path, { recursive: true, force: true })
    },
  }
}

/** What a statement has read, hits in the server's memory included. */
export type StatementCost = {
  readonly text: string
  readonly calls: number
  readonly pagesPerCall: number
  readonly msPerCall: number
}

/** Runs work and returns how often each statement of clients ran meanwhile, BEGIN and COMMIT among them. */
export const statementsOf = async (
  sql: Client,
  work: () => Promise<unknown>,
): Promise<readonly Pick<StatementCost, 'text' | 'calls'>[]> => {
  await sql`select pg_stat_statements_reset()`
  await work()
  return sql<Pick<StatementCost, 'text' | 'calls'>[]>`
    select query as text, calls::int from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and toplevel and query !~ 'pg_stat_statements'
    order by calls desc`
}

/** Runs work and returns what its statements have read, the dearest first. */
export const costsOf = async (
  sql: Client,
  work: () => Promise<unknown>,
): Promise<readonly StatementCost[]> => {
  await sql`select pg_stat_statements_reset()`
  await work()
  return sql<StatementCost[]>`
    select query as text, calls::int,
      (shared_blks_hit + shared_blks_read + local_blks_hit + local_blks_read)::float8 / calls
        as "pagesPerCall",
      total_exec_time / calls as "msPerCall"
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and calls > 0 and query !~ 'pg_stat_statements'
    order by "pagesPerCall" desc`
}
